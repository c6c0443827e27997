"""What exists in the account: its invariants hold wherever it changes."""

from dataclasses import replace

import pytest

from simulator.account.kinds import VPC
from simulator.account.state import AccountState
from simulator.account.world import World
from simulator.recording import Registration

NETWORK = Registration("urn:pulumi:a::b::c::network", VPC, "network", True, False, "", {"cidrBlock": "10.0.0.0/16"}, id="vpc-1")


def test_an_id_is_given_once():
    """A second object of the id would hide the first, which would never be deleted."""
    state = AccountState()
    state.add(NETWORK, "creating")
    with pytest.raises(AssertionError, match="vpc-1 exists already"):
        state.add(replace(NETWORK, urn="another"), "creating")


@pytest.mark.parametrize("add", [lambda state, item: state.add(item, "creating"), lambda state, item: state.put(item)])
def test_nothing_exists_without_an_id(add):
    """AWS gives the id with its first answer."""
    with pytest.raises(AssertionError, match="has no id"):
        add(AccountState(), replace(NETWORK, id=""))


def test_what_does_not_exist_cannot_be_removed():
    """A second removal is an error in the caller."""
    state = AccountState()
    state.put(NETWORK)
    state.remove(NETWORK)
    with pytest.raises(AssertionError, match="vpc-1 does not exist"):
        state.remove(NETWORK)


def test_a_copy_changes_alone():
    """Rehearsals of several ends start from one account."""
    world = World()
    assert world.begin_create(NETWORK) is None
    other = world.copy()
    assert other.settle(NETWORK) is None
    other.state.remove(NETWORK)
    assert [item.status for item in world.state] == ["creating"]


def test_a_request_that_was_never_sent_leaves_nothing():
    """Also where it would have been refused: withdrawing is no deletion."""
    world = World()
    world.withdraw(NETWORK)
    world.begin_create(NETWORK)
    world.withdraw(NETWORK)
    assert world.state.leftovers() == []
