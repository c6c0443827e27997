"""Engine and simulator agree on what a change replaces."""

from collections.abc import Mapping
from typing import Any

import pytest

from simulator import outputs, recorder
from simulator.recording import Recording, Registration
from simulator.replacements import changed_paths, replacing_paths
from tests.engine.cli import Engine, kind_of, needs_cli
from tests.support import dev_configuration, merged, record_stack

pytestmark = [pytest.mark.engine, needs_cli]


def recorded(configuration: dict[str, Any], replaced: set[str], monkeypatch: pytest.MonkeyPatch) -> Recording:
    """The stack, with other ids and outputs for what is replaced."""
    plain = recorder.RecordingMonitor._context

    def context(self: recorder.RecordingMonitor, registration: Registration) -> outputs.Context:
        found = plain(self, registration)
        return outputs.Context(
            found.seed, f"{found.urn}#1" if found.urn in replaced else found.urn, found.region, found.partition, found.dns_suffix
        )

    with monkeypatch.context() as patch:
        patch.setattr(recorder.RecordingMonitor, "_context", context)
        return record_stack(configuration, stack="dev")


def verdict(before: Recording, configuration: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """URNs that the change replaces by the simulator's table: those whose inputs force it, and what follows from them."""
    replaced: set[str] = set()
    while True:
        after = recorded(configuration, replaced, monkeypatch)
        found = {item.urn for item in after.resources() if item.urn in before.registrations and _is_replaced(before, item, replaced)}
        if found <= replaced:
            return replaced
        replaced |= found


def _is_replaced(before: Recording, item: Registration, replaced: set[str]) -> bool:
    ignored = item.options.get("ignoreChanges", ())
    old: Mapping[str, Any] = before.registrations[item.urn].inputs
    changed = [path for path in changed_paths(old, item.inputs) if not any(path.startswith(key) for key in ignored)]
    return bool(replacing_paths(item.type, changed)) or not replaced.isdisjoint(item.options.get("replace_with", ()))


@pytest.mark.parametrize(
    ("path", "value", "least"),
    [
        ("nodeGroups.trn1-32xl.instanceType", "trn1.2xlarge", {"NodeGroup"}),
        ("storage.lustre.zoneId", "usw2-az1", {"LustreFileSystem", "PersistentVolume", "PersistentVolumeClaim"}),
        ("network.podCidr", "100.65.0.0/16", {"VpcIpv4CidrBlockAssociation", "Subnet", "NodeGroup"}),
    ],
)
def test_the_same_things_are_replaced(engine: Engine, path: str, value: str, least: set[str], monkeypatch: pytest.MonkeyPatch):
    """A rehearsed change that names too few would be believed."""
    engine.configure(path, value)
    planned = set(engine.planned().get("replace", []))
    assert {kind_of(urn) for urn in planned} >= least
    change: Any = value
    for key in reversed(path.split(".")):
        change = {key: change}
    before = record_stack(dev_configuration(), stack="dev")
    assert planned == verdict(before, merged(dev_configuration(), **change), monkeypatch)
