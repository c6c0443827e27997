"""Engine and simulator agree on what a change replaces."""

import pytest

from simulator.account.world import World
from simulator.engine.plan import plan
from simulator.engine.run import Engine as SimulatedEngine
from simulator.engine.state import State
from simulator.recording import Recording, exists_in_cloud
from tests.engine.cli import Engine, kind_of, needs_cli

pytestmark = [pytest.mark.engine, needs_cli]


def verdict(before: Recording, after: Recording) -> set[str]:
    """URNs that a rehearsal of the change replaces."""
    engine = SimulatedEngine(World(), State())
    engine.up(before)
    changes = plan(engine.state, after, creations=engine.world.state.creations, seed=0)
    return {urn for urn, change in changes.items() if change.kind == "replace" and exists_in_cloud(change.registration)}


@pytest.mark.parametrize(
    ("path", "value", "least"),
    [
        ("nodeGroups.trn1-32xl.instanceType", "trn1.2xlarge", {"NodeGroup"}),
        ("storage.lustre.zoneId", "usw2-az1", {"LustreFileSystem", "PersistentVolume", "PersistentVolumeClaim"}),
        ("network.podCidr", "100.65.0.0/16", {"VpcIpv4CidrBlockAssociation", "Subnet", "NodeGroup"}),
    ],
)
def test_the_same_things_are_replaced(engine: Engine, path: str, value: str, least: set[str]):
    """A rehearsed change that names too few would be believed."""
    before = engine.recording
    engine.configure(path, value)
    planned = set(engine.planned().get("replace", []))
    assert {kind_of(urn) for urn in planned} >= least
    assert planned == verdict(before, engine.recording)


def test_another_encryption_key_is_refused_before_anything_is_changed(engine: Engine):
    """The provider itself does not tell EKS, and the engine would delete the key under the running cluster."""
    arn = "arn:aws:kms:us-west-2:123456789012:key/00000000-0000-0000-0000-000000000000"
    key = engine.object_named("control-plane-secrets", "Key")
    engine.configure("controlPlane.encryptionKeyArn", arn)
    assert "EKS takes a key for Kubernetes secrets once" in engine.run("preview", fails=True)
    assert "EKS takes a key for Kubernetes secrets once" in engine.up(fails=True)
    assert engine.calls("Create", "Update", "Delete") == []
    assert engine.object_named("control-plane-secrets", "Key") == key
    engine.configure("controlPlane.encryptionKeyArn", "null")
    engine.up()
    engine.destroy_all()


def test_another_vpc_is_refused_before_anything_is_changed(engine: Engine):
    """The provider plans it as an update like any other: EKS refuses it when a second VPC and file system stand."""
    engine.configure("network.cidr", "10.2.0.0/21")
    assert "EKS keeps a control plane in the VPC that it was made in" in engine.run("preview", fails=True)
    assert "EKS keeps a control plane in the VPC that it was made in" in engine.up(fails=True)
    assert engine.calls("Create", "Update", "Delete") == []
    engine.configure("network.cidr", "10.1.0.0/21")
    engine.up()
    engine.destroy_all()
