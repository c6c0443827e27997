"""A stack in a network that others keep, in practice: described, checked, rehearsed, brought up and destroyed."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.stacks.external_networks import NODES, VPC, network
from tests.trn.practice.commands import UP, leftovers, trn
from trn.practice.account import PracticeAccount
from trn.practice.engine.project import practice_folder


@pytest.fixture
def in_network(project: Path) -> Path:
    """The shipped stack in a network that others keep."""
    path = project / "Pulumi.dev.yaml"
    loaded = yaml.safe_load(path.read_text())
    loaded["config"]["trn:network"] = network()
    path.write_text(yaml.safe_dump(loaded))
    return project


def others() -> dict[str, Any]:
    """What others have in the account on disk."""
    account = PracticeAccount(practice_folder("dev")).open()
    try:
        return {kind: copy.deepcopy(entries) for kind, entries in account.world.state.others.items() if entries}
    finally:
        account.close()


def test_a_stack_comes_up_in_it_and_goes_and_nothing_of_it_has_changed(in_network: Path):
    """Described and checked before; destroyed with its drain and its sweep."""
    code, out, err = trn("--practice network describe dev")
    assert (code, yaml.safe_load(out)["network"]["vpcId"]) == (0, VPC), err
    before = others()
    assert set(NODES.values()) <= before["subnet"].keys()
    assert trn(UP)[0] == 0
    code, out, _ = trn("--practice check dev")
    assert f"{VPC} has what the stack needs" in out
    code, out, _ = trn("--practice destroy dev --yes")
    assert (code, "sweep    0 deleted, 0 left" in out) == (0, True)
    assert (leftovers(), others()) == ([], before)


def test_a_description_is_rehearsed_and_what_does_not_fit_is_refused(in_network: Path):
    """Key, value and fix, before anything is made."""
    assert trn("--practice network describe dev --output network.yaml")[0] == 0
    code, out, _ = trn("rehearse dev --existing network.yaml --quiet")
    assert (code, "is taken to be" in out) == (0, False)
    assert f"{VPC} is taken to be as the stack needs" in trn("rehearse dev --quiet")[1]
    scenario = in_network / "scarce.yaml"
    scenario.write_text("says: no node is free\naccount: {capacity: [{type: trn1.32xlarge, zone: usw2-az4, count: 0}]}\n")
    code, out, _ = trn("rehearse dev --existing network.yaml --quiet --scenario scarce.yaml")
    assert (code, "InsufficientInstanceCapacity" in out) == (1, True)
    path = in_network / "network.yaml"
    described = yaml.safe_load(path.read_text())
    described["network"] |= {"dnsSupport": False, "natGateways": {}}
    path.write_text(yaml.safe_dump(described))
    code, out, err = trn("rehearse dev --existing network.yaml --quiet")
    assert (code, out) == (1, "")
    assert err.startswith("3 mistakes in how stack `dev` and what exists fit; nothing was created")
    assert "a VPC without enable-dns-support" in err
    assert "`network.existing.nodes.usw2-az1` is `subnet-0a00000000000002`" in err


def test_a_description_of_what_is_not_used_is_refused(project: Path):
    """The shipped stack makes its own network."""
    code, _, err = trn("--practice network describe dev")
    assert (code, "uses nothing that exists" in err) == (2, True)
    code, _, err = trn(f"--practice network describe dev --vpc {VPC}")
    assert (code, f"there is no VPC {VPC} in us-west-2" in err) == (1, True)
