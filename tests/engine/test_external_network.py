"""A stack in a network, and with roles, that others keep, by the real engine: up and destroyed, all is as it was."""

import json
from pathlib import Path

import pytest
import yaml

from tests.engine.cli import Engine, needs_cli
from tests.stacks.external_networks import VPC, network

pytestmark = [pytest.mark.engine, needs_cli]
PARTS = ("vpc", "subnet", "route table", "nat", "internet gateway")


def kept(engine: Engine) -> dict[str, object]:
    """What others have of a network in the account, by kind."""
    written = json.loads((engine.folder.account / "others.json").read_text())
    return {kind: written.get(kind) for kind in PARTS}


def test_vpc_and_subnets_remain(tmp_path: Path):
    """Tags that the stack puts on the subnets are resources of its own, and go with it."""
    engine = Engine.lean(tmp_path / "engine")
    document = yaml.safe_load(engine.stack_file.read_text())
    document["config"]["trn:network"] = network(tagSubnets=True)
    engine.stack_file.write_text(yaml.safe_dump(document, sort_keys=False))
    engine.up()
    before = kept(engine)
    assert list(json.loads(json.dumps(before["vpc"]))) == [VPC]
    made = {kind.rsplit(":", 1)[-1] for kind, _ in engine.world}
    assert made & {"Vpc", "Subnet", "RouteTable", "NatGateway", "InternetGateway"} == set()
    assert {"Cluster", "NodeGroup", "Tag"} <= made
    engine.destroy_all()
    assert kept(engine) == before


def test_roles_remain(tmp_path: Path):
    """The control plane's is read, so that it is in the state without being the stack's: it is neither changed nor deleted."""
    engine = Engine.lean(tmp_path / "engine")
    document = yaml.safe_load(engine.stack_file.read_text())
    given = {purpose: f"arn:aws:iam::123456789012:role/company/{purpose}" for purpose in ("control-plane", "node", "vpc-cni")}
    document["config"]["trn:iam"] = {"roles": given}
    engine.stack_file.write_text(yaml.safe_dump(document, sort_keys=False))
    engine.up()
    (plane,) = [each for kind, each in engine.world.items() if kind[0] == "aws:eks/cluster:Cluster"]
    assert plane.inputs["roleArn"] == given["control-plane"]
    before = json.loads((engine.folder.account / "others.json").read_text())["role"]
    assert {entry["Arn"] for entry in before.values()} == set(given.values())
    engine.up()
    engine.destroy_all()
    assert json.loads((engine.folder.account / "others.json").read_text())["role"] == before
