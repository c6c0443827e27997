"""The real Pulumi engine runs the program against the simulated cloud, and agrees with the rehearsal."""

from pathlib import Path

import pytest

from simulator import engine_order
from tests.engine.cli import Engine, needs_cli
from tests.support import dev_configuration, record_stack

pytestmark = [pytest.mark.engine, needs_cli]


def name_of(urn: str) -> str:
    """Logical name of a URN."""
    return urn.rsplit("::", 1)[-1]


def test_the_shipped_address_is_refused_before_any_resource(tmp_path: Path):
    """One clean error with its mend, no traceback, and the cloud asked for nothing."""
    engine = Engine(tmp_path / "engine", rehearsal=False)
    text = engine.run("preview", fails=True)
    assert "1 mistake in the configuration of stack `dev`; nothing was created" in text
    assert "pulumi config set --path 'trn:controlPlane.publicAccessCidrs[0]'" in text
    assert "Traceback" not in text
    assert engine.cloud.calls == []


def test_engine_and_rehearsal_agree_on_everything_that_is_made(tmp_path: Path):
    """Same resources, parents and ids; what a rehearsal shows is what an up would make."""
    engine = Engine(tmp_path / "engine")
    engine.run("preview")
    engine.run("up", "--yes")
    recording = record_stack(dev_configuration(), stack="dev")
    real = engine.resources()
    ours = {item.urn: item for item in recording}
    # Beside the program's own the engine keeps a default provider for remote components and for references.
    extra = {urn for urn in real if real[urn]["type"] in ("pulumi:providers:eks", "pulumi:providers:pulumi")}
    assert set(real) - extra == set(ours)
    assert {urn: real[urn].get("parent") for urn in ours} == {urn: item.parent for urn, item in ours.items()}
    ids = {urn: item.id for urn, item in ours.items() if item.custom and not item.type.startswith("pulumi:providers:")}
    assert {urn: real[urn].get("id") for urn in ids} == ids


def test_engine_and_rehearsal_agree_on_every_dependency(tmp_path: Path):
    """The destroy order follows from them alone."""
    engine = Engine(tmp_path / "engine")
    engine.run("up", "--yes")
    real = engine.resources()
    recording = record_stack(dev_configuration(), stack="dev")
    different = {name_of(item.urn): item.dependencies ^ set(real[item.urn].get("dependencies") or []) for item in recording}
    # The engine adds what references in the component's inputs come from.
    different.pop("control-plane")
    assert {name: urns for name, urns in different.items() if urns} == {}


def test_a_second_up_changes_nothing_and_a_destroy_leaves_nothing(tmp_path: Path):
    """A difference on every run would roll nodes that train."""
    engine = Engine(tmp_path / "engine")
    engine.run("up", "--yes")
    assert engine.operations() == {}
    engine.run("refresh", "--yes")
    assert engine.operations() == {}
    engine.run("destroy", "--yes")
    assert engine.cloud.objects == {}


def test_the_engine_destroys_in_the_order_of_the_rehearsal(tmp_path: Path):
    """Level by level: nothing of a level goes before all of the level above is gone."""
    engine = Engine(tmp_path / "engine")
    engine.run("up", "--yes")
    engine.run("destroy", "--yes")
    deleted = [urn for operation, urn in engine.cloud.calls if operation == "delete"]
    level = {
        urn: index
        for index, urns in enumerate(engine_order.deletion_levels(record_stack(dev_configuration(), stack="dev")))
        for urn in urns
    }
    levels = [level[urn] for urn in deleted]
    assert len(deleted) == 87
    assert levels == sorted(levels)


@pytest.mark.parametrize(
    ("path", "value", "planned"),
    [
        ("nodeGroups.trn1-32xl.size", "1", {"update": ["trn1-32xl"]}),
        ("nodeGroups.trn1-32xl.rootVolumeGib", "200", {"update": ["trn1-32xl", "trn1-32xl"]}),
        ("storage.lustre.capacityGib", "2400", {"update": ["lustre"]}),
        ("addons.volcano.queues.test.weight", "3", {"update": ["queue-test"]}),
        ("addons.neuron.enabled", "false", {"delete": ["neuron", "neuron-helm-chart"]}),
    ],
)
def test_a_change_touches_what_it_is_about(tmp_path: Path, path: str, value: str, planned: dict[str, list[str]]):
    """Growing a group or a queue must not roll or replace anything else."""
    engine = Engine(tmp_path / "engine")
    engine.run("up", "--yes")
    engine.configure(path, value)
    assert {operation: sorted(name_of(urn) for urn in urns) for operation, urns in engine.operations().items()} == planned


WEBHOOK = (
    'Internal error occurred: failed calling webhook "mutatequeue.volcano.sh": failed to call webhook: Post'
    ' "https://volcano-admission-service.volcano-system.svc:443/queues/mutate?timeout=10s": no endpoints available for service'
    ' "volcano-admission-service"'
)
"""As the API server of 1.35 words it."""


def test_a_queue_is_tried_again_while_volcanos_webhook_starts(tmp_path: Path):
    """The provider does not: without the hook a first up fails within a second of the release being ready."""
    engine = Engine(tmp_path / "engine")
    engine.cloud.failures = {"queue-test": [WEBHOOK, WEBHOOK]}
    text = engine.run("up", "--yes")
    assert "retrying create due to on-error hook request" in text
    assert engine.cloud.failures == {"queue-test": []}
    assert any(urn.endswith("::queue-test") for _, urn in engine.cloud.calls)


def test_what_no_waiting_mends_is_not_tried_again_and_the_next_up_goes_on(tmp_path: Path):
    """A refusal is told at once; what was made stays, and is not made twice."""
    engine = Engine(tmp_path / "engine")
    engine.cloud.failures = {"queue-test": ['queues.scheduling.volcano.sh "test" is forbidden']}
    text = engine.run("up", "--yes", fails=True)
    assert "is forbidden" in text
    assert "on-error hook request" not in text
    engine.run("up", "--yes")
    created = [urn for operation, urn in engine.cloud.calls if operation == "create"]
    assert len(created) == len(set(created)) == 87
    engine.run("destroy", "--yes")
    assert engine.cloud.objects == {}


def test_another_file_system_takes_the_claim_before_the_volume(tmp_path: Path):
    """A volume is held by its protection until no claim is bound to it: the other order hangs for ten minutes."""
    engine = Engine(tmp_path / "engine")
    engine.run("up", "--yes")
    engine.configure("storage.lustre.zoneId", "usw2-az1")
    engine.run("up", "--yes")
    deleted = [urn.split("$")[-1] for operation, urn in engine.cloud.calls if operation == "delete"]
    wanted = ["PersistentVolumeClaim", "PersistentVolume", "LustreFileSystem"]
    assert [kind for urn in deleted for kind in wanted if f":{kind}::" in urn] == wanted


def test_another_instance_type_replaces_the_group_delete_first(tmp_path: Path):
    """Its name is set, so the scarce nodes go before the new ones come; the launch template stays."""
    engine = Engine(tmp_path / "engine")
    engine.run("up", "--yes")
    engine.configure("nodeGroups.trn1-32xl.instanceType", "trn1.2xlarge")
    engine.run("up", "--yes")
    group = [(operation, urn) for operation, urn in engine.cloud.calls if urn.endswith("aws:eks/nodeGroup:NodeGroup::trn1-32xl")]
    assert [operation for operation, _ in group] == ["create", "delete", "create"]
    engine.run("destroy", "--yes")
    assert engine.cloud.objects == {}
