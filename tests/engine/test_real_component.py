"""The real pulumi-eks component in the place of ours, behind the real engine: same children, inputs, edges, changes and destroy order.

TRN_EKS_COMPONENT names the folder with an executable `pulumi-resource-eks`: the plug-in of the release that the lock file has, or a
script that runs `node bin/cmd/provider/index.js` in nodejs/eks of pulumi/pulumi-eks, made there by `tsc`, with the package's schema.json
beside it; without it nothing here runs. Its SDK must be the one of its own lock file: 3.202 and later also send the inputs of
components. Run on 2026-11-22 with the source of 2026-08-12 (4.3.0 and nine commits), Node 20 and CLI 3.260: all pass.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from simulator.engine.order import deletion_levels
from tests.engine.cli import Engine, name_of, needs_cli
from trn.engine.stack_file import read_stack_file
from trn.practice.engine.process import Providers
from trn.practice.engine.project import environment

FOLDER = os.environ.get("TRN_EKS_COMPONENT", "")
PLUGIN = "pulumi-resource-eks"
pytestmark = [
    pytest.mark.engine,
    needs_cli,
    pytest.mark.skipif(not FOLDER, reason=f"TRN_EKS_COMPONENT names no folder with a real {PLUGIN}"),
]
BELOW = "$eks:index:Cluster$"


@contextmanager
def component() -> Iterator[str]:
    """The real plug-in, serving; gives the port that it prints first."""
    # It takes no address of an engine: that of the monitor comes with each component.
    with subprocess.Popen([Path(FOLDER) / PLUGIN], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def with_port(attach: str, package: str, port: str) -> str:
    """What PULUMI_DEBUG_PROVIDERS holds, with one package served elsewhere."""
    return ",".join(f"{package}:{port}" if part.startswith(f"{package}:") else part for part in attach.split(","))


def run(engine: Engine, *commands: list[str]) -> str:
    """Pulumi commands one after the other, with the real component; gives what the last one printed."""
    folder = engine.folder
    folder.prepare(read_stack_file("dev", engine.project))
    providers = Providers(folder, time_scale=0, faults=())
    try:
        with component() as port:
            variables = environment(folder, "dev", with_port(providers.attach(), "eks", port))
            printed = ""
            for command in commands:
                # A stack that is selected and not there stops the command that makes it.
                known = {key: value for key, value in variables.items() if command[0] != "stack" or key != "PULUMI_STACK"}
                done = subprocess.run(
                    ["pulumi", "--non-interactive", "--color", "never", *command],
                    env=known, cwd=folder.project, capture_output=True, text=True, check=False,
                )  # fmt: skip
                printed = done.stdout
                assert done.returncode == 0, done.stdout + done.stderr
            return printed
    finally:
        providers.stop()


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The stack with few add-ons, up with the real component. Not to be changed."""
    engine = Engine.lean(tmp_path_factory.mktemp("real") / "dev")
    run(engine, ["stack", "init", "dev"], ["up", "--yes", "--skip-preview"])
    return engine


def below(engine: Engine) -> dict[str, dict[str, Any]]:
    """The component and what is in it, as the engine's state has it."""
    return {urn: item for urn, item in engine.resources().items() if BELOW in urn or item["type"] == "eks:index:Cluster"}


def test_the_same_resources_are_made(real: Engine, lean_up: Engine):
    """Type, name and parent are in the URN and in `parent`."""
    ours, theirs = below(lean_up), below(real)
    assert set(theirs) == set(ours)
    assert {urn: item.get("parent") for urn, item in theirs.items()} == {urn: item.get("parent") for urn, item in ours.items()}


def test_every_input_and_edge_is_the_same(real: Engine, lean_up: Engine):
    """Inputs decide what changes, edges the order. The inner provider's kubeconfig is the component's own text."""
    ours, theirs = below(lean_up), below(real)
    custom = [urn for urn, item in ours.items() if item["type"].startswith("aws:")]
    assert {urn: theirs[urn]["inputs"] for urn in custom} == {urn: ours[urn]["inputs"] for urn in custom}
    edges = [{urn: sorted(item.get("dependencies") or []) for urn, item in known.items()} for known in (theirs, ours)]
    assert edges[0] == edges[1]
    components = [urn for urn, item in ours.items() if not item.get("custom")]
    assert [bool(theirs[urn].get("inputs")) for urn in components] == [bool(ours[urn].get("inputs")) for urn in components]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("controlPlane.deletionProtection", "true"),
        ("controlPlane.supportType", "EXTENDED"),
        ("nodeGroups.trn1-32xl.size", "1"),
        ("storage.lustre.capacityGib", "2400"),
    ],
)
def test_a_change_is_planned_alike(real: Engine, lean_up: Engine, tmp_path: Path, path: str, value: str):
    """What one shows and the other does not is an update that never comes, or one that comes unannounced."""
    plans = []
    for name, engine in (("real", real.copy(tmp_path / "real")), ("ours", lean_up.copy(tmp_path / "ours"))):
        engine.configure(path, value)
        text = run(engine, ["preview", "--json"]) if name == "real" else engine.run("preview", "--json", quiet=True)
        steps = json.loads(text[text.index("{") : text.rindex("}") + 1])["steps"]
        plans.append({(step["op"], step["urn"]) for step in steps if step["op"] not in ("same", "read")})
    assert plans[0] == plans[1]


def test_the_destroy_goes_in_the_same_levels(real: Engine, tmp_path: Path):
    """The rehearsal's levels are those in which the engine deletes what the real component made."""
    engine = real.copy(tmp_path / "engine")
    level = {urn: index for index, urns in enumerate(deletion_levels(engine.recording)) for urn in urns}
    run(engine, ["destroy", "--yes", "--skip-preview"])
    levels = [level[call.urn] for call in engine.calls("Delete")]
    assert levels == sorted(levels)
    assert engine.world == {}
    assert [name_of(urn) for urn in engine.resources()] == []
