"""The real Pulumi engine runs the program against the simulated cloud, and agrees with the rehearsal."""

import subprocess

import pytest

from simulator.engine.order import deletion_levels
from stacks.config import REHEARSAL_VARIABLE
from tests.engine.cli import Engine, kind_of, name_of, needs_cli
from tests.support import ROOT
from trn.engine.stack_file import read_stack_file
from trn.practice.engine.process import Providers
from trn.practice.engine.project import environment

pytestmark = [pytest.mark.engine, needs_cli]


def test_the_shipped_address_is_refused_before_any_resource(fresh: Engine):
    """One clean error with its fix, no traceback, and the cloud asked for nothing."""
    folder = fresh.folder
    providers = Providers(folder, time_scale=0, faults=())
    try:
        variables = environment(folder, "dev", providers.attach())
        folder.prepare(read_stack_file("dev", fresh.project))
        del variables[REHEARSAL_VARIABLE], variables["PULUMI_STACK"]
        for command in (["stack", "init", "dev"], ["preview", "--color", "never"]):
            done = subprocess.run(
                ["pulumi", "--non-interactive", *command], env=variables, cwd=folder.project, capture_output=True, text=True, check=False
            )
    finally:
        providers.stop()
    text = done.stdout + done.stderr
    assert done.returncode != 0
    assert "1 mistake in the configuration of stack `dev`; nothing was created" in text
    assert "pulumi config set --path 'trn:controlPlane.publicAccessCidrs[0]'" in text
    assert "Traceback" not in text
    assert fresh.calls("Check", "Create") == []


def test_a_secret_key_is_refused_and_not_shown(fresh: Engine):
    """`pulumi config set --secret`: the CLI hands the value to the program in clear, and previews would show it among the resources."""
    folder = fresh.folder
    providers = Providers(folder, time_scale=0, faults=())
    said = []
    try:
        variables = environment(folder, "dev", providers.attach())
        folder.prepare(read_stack_file("dev", fresh.project))
        del variables["PULUMI_STACK"]
        for command in (
            ["stack", "init", "dev"],
            ["config", "set", "--secret", "--path", "trn:training.namespace", "c4nary"],
            ["config", "set", "--secret", "--path", "trn:tags.team", "c4nary"],
            ["preview", "--color", "never"],
        ):
            done = subprocess.run(
                ["pulumi", "--non-interactive", *command], env=variables, cwd=folder.project, capture_output=True, text=True, check=False
            )
            said.append(done.stdout + done.stderr)
    finally:
        providers.stop()
    assert done.returncode != 0
    assert "2 mistakes in the configuration of stack `dev`; nothing was created" in said[-1]
    assert "`training` is kept as a secret" in said[-1]
    assert "`tags` is kept as a secret" in said[-1]
    assert "c4nary" not in "".join(said)
    assert fresh.calls("Check", "Create") == []


def test_the_users_project_is_not_written_to(brought_up: Engine):
    """Pulumi would put a salt into the stack file."""
    written = {path.relative_to(brought_up.project) for path in brought_up.project.rglob("*") if "__pycache__" not in path.parts}
    assert {str(path) for path in written} == {"Pulumi.yaml", "Pulumi.dev.yaml", "__main__.py"}
    assert all((brought_up.project / path).read_bytes() == (ROOT / path).read_bytes() for path in written)


def test_engine_and_rehearsal_agree_on_everything_that_is_made(brought_up: Engine):
    """Same resources, parents and ids; what a rehearsal shows is what an up would make."""
    real = brought_up.resources()
    ours = {item.urn: item for item in brought_up.recording}
    # Beside the program's own the engine keeps a default provider for remote components and for references.
    extra = {urn for urn in real if real[urn]["type"] in ("pulumi:providers:eks", "pulumi:providers:pulumi")}
    assert set(real) - extra == set(ours)
    assert {urn: real[urn].get("parent") for urn in ours} == {urn: item.parent for urn, item in ours.items()}
    ids = {urn: item.id for urn, item in ours.items() if item.custom and not item.type.startswith("pulumi:providers:")}
    assert {urn: real[urn].get("id") for urn in ids} == ids
    assert {item.urn: item.id for item in brought_up.world.values()} == ids
    assert {item.status for item in brought_up.world.values()} == {"ready"}


def test_engine_and_rehearsal_agree_on_every_dependency(brought_up: Engine):
    """The destroy order follows from them alone."""
    real = brought_up.resources()
    different = {name_of(item.urn): item.dependencies ^ set(real[item.urn].get("dependencies") or []) for item in brought_up.recording}
    # The engine adds what references in the component's inputs come from.
    different.pop("control-plane")
    assert {name: urns for name, urns in different.items() if urns} == {}


def test_a_second_up_and_a_refresh_change_nothing(whole: Engine):
    """A difference on every run would roll nodes that train."""
    assert f"{len(whole.recording) + 1} unchanged" in whole.up()
    assert whole.calls("Create", "Update", "Delete") == []
    assert "unchanged" in whole.run("refresh", "--yes", "--skip-preview")
    assert len(whole.calls("Read")) == len(whole.recording.resources())
    assert whole.planned() == {}


def test_the_engine_destroys_in_the_order_of_the_rehearsal_and_leaves_nothing(whole: Engine):
    """Level by level: nothing of a level goes before all of the level above is gone."""
    whole.destroy_all()
    deleted = [call.urn for call in whole.calls("Delete")]
    level = {urn: index for index, urns in enumerate(deletion_levels(whole.recording)) for urn in urns}
    levels = [level[urn] for urn in deleted]
    assert len(deleted) == len(whole.recording.resources())
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
def test_a_change_touches_what_it_is_about(engine: Engine, path: str, value: str, planned: dict[str, list[str]]):
    """Growing a group or a queue must not roll or replace anything else."""
    engine.configure(path, value)
    assert {operation: sorted(name_of(urn) for urn in urns) for operation, urns in engine.planned().items()} == planned


def test_a_queue_is_tried_again_while_volcanos_webhook_starts(engine: Engine):
    """The provider does not: without the hook a first up fails within a second of the release being ready."""
    engine.configure("addons.volcano.queues.extra", "{}")
    text = engine.up(options=("--fault", "webhook-not-ready@queue-extra:2"))
    assert "retrying create due to on-error hook request" in text
    assert [name_of(call.urn) for call in engine.calls("Create")] == ["queue-extra"] * 3
    assert engine.object_named("queue-extra", "Queue").status == "ready"


def test_what_no_waiting_fixes_is_not_tried_again_and_the_next_up_goes_on(engine: Engine):
    """A refusal is reported at once; what was created stays, and is not created twice."""
    engine.configure("addons.volcano.queues.extra", "{}")
    before = engine.world
    text = engine.up(options=("--fault", "create-fails@queue-extra"), fails=True)
    assert "InternalFailure: queue-extra was not made" in text
    assert "on-error hook request" not in text
    assert engine.world == before
    assert "+ 1 created" in engine.up()
    engine.destroy_all()


def test_another_file_system_takes_pod_claim_and_volume_in_this_order(engine: Engine):
    """A claim is held while a pod mounts it, a volume while a claim is bound to it: any other order hangs for ten minutes."""
    engine.configure("addons.lustreExporter.enabled", "true")
    engine.up()
    engine.configure("storage.lustre.zoneId", "usw2-az1")
    engine.up()
    deleted = [kind_of(call.urn) for call in engine.calls("Delete")]
    wanted = ["Deployment", "PersistentVolumeClaim", "PersistentVolume", "LustreFileSystem"]
    assert [kind for kind in deleted if kind in wanted] == wanted


def test_another_instance_type_replaces_the_group_delete_first(engine: Engine):
    """Its name is set, so the scarce nodes go before the new ones come; the launch template stays."""
    engine.configure("nodeGroups.trn1-32xl.instanceType", "trn1.2xlarge")
    engine.up()
    group = [call.method for call in engine.calls("Create", "Delete") if call.urn.endswith(":NodeGroup::trn1-32xl")]
    assert group == ["Delete", "Create"]
    engine.destroy_all()


def test_objects_that_are_lost_are_found_missing_and_made_again(engine: Engine):
    """Somebody deletes by hand; a refresh sees it, the next up fixes it."""
    before = engine.world
    for kind in ("aws.cloudwatch.LogGroup", "kubernetes.helm.sh.v3.Release"):
        sorted((engine.folder.account / kind).glob("*.json"))[0].unlink()
    engine.run("refresh", "--yes", "--skip-preview")
    assert len(engine.resources()) == len(engine.recording)
    assert "+ 2 created" in engine.up()
    assert {key: item.inputs for key, item in engine.world.items()} == {key: item.inputs for key, item in before.items()}


def test_an_object_that_was_changed_by_hand_is_set_back(engine: Engine):
    """A refresh reads what is there; the program's word counts."""
    group = engine.object_named("trn1-32xl", "NodeGroup")
    path = engine.folder.account / "aws.eks.NodeGroup" / f"{group.id}.json"
    path.write_text(path.read_text().replace('"desiredSize": 2', '"desiredSize": 7'))
    assert "~ 1 updated" in engine.up("--refresh")
    assert engine.object_named("trn1-32xl", "NodeGroup").state["scalingConfig"]["desiredSize"] == 2
