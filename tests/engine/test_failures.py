"""What the engine makes of a group without capacity, a provider that dies, an interrupt, and how each is fixed."""

import signal

import pytest

from facts.neuron_releases import AMI_RELEASES
from tests.engine.cli import Engine, name_of, needs_cli
from tests.engine.recovering import recover

pytestmark = [pytest.mark.engine, needs_cli]

GROUP = "urn:pulumi:dev::trn::trn:stacks:TrainiumCluster$trn:components:NodeGroup$aws:eks/nodeGroup:NodeGroup::extra"
GROUP_COMPONENT = "urn:pulumi:dev::trn::trn:stacks:TrainiumCluster$trn:components:NodeGroup::extra"
AWS = "urn:pulumi:dev::trn::trn:stacks:TrainiumCluster$pulumi:providers:aws::aws"
CONTROL_PLANE = "urn:pulumi:dev::trn::trn:stacks:TrainiumCluster$trn:components:ControlPlane$eks:index:Cluster$aws:eks/cluster:Cluster::control-plane-eksCluster"
TAKEN = "ResourceInUseException: NodeGroup already exists with name extra and cluster name trainium-dev"


@pytest.fixture
def growing(engine: Engine) -> Engine:
    """The shipped stack, up, about to get another group."""
    engine.configure("nodeGroups.extra", f"{{instanceType: trn1.32xlarge, size: 1, releaseVersion: {AMI_RELEASES['1.35']}}}")
    return engine


def test_a_group_without_capacity_is_kept_and_fixed_by_replacing_it(growing: Engine):
    """A plain up ends well and fixes nothing: the provider sees no difference, so asks AWS nothing."""
    text = growing.up(options=("--fault", "no-capacity@extra"), fails=True)
    assert "unexpected state 'CREATE_FAILED', wanted target 'ACTIVE'" in text
    assert "InsufficientInstanceCapacity" in text
    kept = growing.resources()[GROUP]
    assert (kept["id"], kept["outputs"]["status"], len(kept["initErrors"])) == ("trainium-dev:extra", "CREATE_FAILED", 1)

    assert "~ 1 updated" in growing.up()
    assert "initErrors" not in growing.resources()[GROUP]
    assert growing.object_named("extra", "NodeGroup").status == "failed"

    text = growing.up("--replace", "**aws:eks/nodeGroup:NodeGroup::extra")
    assert "replaced" in text
    assert growing.object_named("extra", "NodeGroup").status == "ready"
    assert growing.planned() == {}
    growing.destroy_all()


def test_a_group_without_capacity_can_be_destroyed(growing: Engine):
    """Nothing of it stays."""
    growing.up(options=("--fault", "no-capacity@extra"), fails=True)
    growing.destroy_all()


def test_a_provider_that_dies_leaves_a_conflict_that_an_import_fixes(growing: Engine):
    """The engine takes it for a failed create and knows nothing of the group; its name shows it."""
    text = growing.up(options=("--fault", "kill-provider@NodeGroup/extra"), fails=True)
    assert "error reading from server" in text
    assert "note: aws:eks/nodeGroup:NodeGroup trainium-dev:extra was being made when its provider died" in text
    assert growing.pending() == {}
    assert GROUP not in growing.resources()
    assert growing.object_named("extra", "NodeGroup").status == "creating"
    assert TAKEN in growing.up(fails=True)

    growing.run(
        "import", "aws:eks/nodeGroup:NodeGroup", "extra", "trainium-dev:extra",
        "--parent", f"group={GROUP_COMPONENT}", "--provider", f"aws={AWS}",
        "--yes", "--skip-preview", "--generate-code=false", "--protect=false",
    )  # fmt: skip
    growing.up()
    assert {name_of(call.urn) for call in growing.calls("Create")} == {"extra-efa", "extra-neuron", "extra-neuroncore"}
    assert growing.planned() == {}
    growing.destroy_all()


def test_what_a_dead_provider_was_making_is_found_as_an_orphan(growing: Engine):
    """No operation is pending: what the next up would make is looked for, and imported where it is there already."""
    growing.up(options=("--fault", "kill-provider@NodeGroup/extra"), fails=True)
    plan = recover(growing, orphans=True)
    assert [item.pending.urn for item in plan.imports] == [GROUP]
    growing.up()
    assert GROUP not in {call.urn for call in growing.calls("Create")}
    assert growing.planned() == {}


def test_an_interrupted_up_keeps_what_was_under_way_and_goes_on(growing: Engine):
    """One interrupt reaches the CLI, and does not kill the providers."""
    with growing.running("up", until=lambda: growing.is_making("aws.eks.NodeGroup/*.json"), time_scale=0.1) as trn:
        trn.send_signal(signal.SIGINT)
        text = trn.communicate()[0]
    assert trn.returncode == 1
    assert text.count("cancelling") == 1
    assert "update canceled" in text
    assert growing.pending() == {}
    assert growing.resources()[GROUP]["outputs"]["status"] == "ACTIVE"
    growing.up()
    assert {name_of(call.urn) for call in growing.calls("Create")} <= {"extra-efa", "extra-neuron", "extra-neuroncore"}
    assert growing.planned() == {}
    growing.destroy_all()


def test_an_interrupted_destroy_says_that_it_is_done(engine: Engine):
    """The CLI exits with 0 and claims that all is deleted: only the state tells, or a second destroy."""
    with engine.running("destroy", until=lambda: bool(engine.calls("Delete")), time_scale=0.02) as trn:
        trn.send_signal(signal.SIGINT)
        text = trn.communicate()[0]
    assert trn.returncode == 0
    assert "The resources in the stack have been deleted" in text
    assert CONTROL_PLANE in engine.resources()
    engine.destroy_all()
