"""The account answers every call that `trn` declares, in shapes that the services could give."""

import importlib
import pkgutil
from typing import Any

import pytest

import trn
from facts.resources.queries import Deletion
from facts.resources.table import TYPES
from simulator.account.world import World
from simulator.aws_endpoint import endpoint
from tests.simulator.account.standing import recording, standing
from trn.aws.api import BotoApi, Call, Taken
from trn.aws.leftovers import KINDS
from trn.aws.objects import declared_calls
from trn.aws.places import look, place_of
from trn.aws.sighting import sightings
from trn.ending.recover.look import LOOKUPS

CLUSTER = "trainium-dev"


def declared() -> set[str]:
    """Every call that a module under operations declares, and those for the types of facts/resources."""
    modules = [importlib.import_module(found.name) for found in pkgutil.walk_packages(trn.__path__, "trn.") if "__main__" not in found.name]
    calls = [value for module in modules for value in vars(module).values() if isinstance(value, Call) and not isinstance(value, Taken)]
    deletions = (item.deletion for item in TYPES.values() if isinstance(item.deletion, Deletion))
    # Rights that a deletion needs, and no calls.
    taken = {f"{deletion.service}.{operation}" for deletion in deletions for operation in deletion.takes}
    return {f"{call.service}.{call.operation}" for call in (*calls, *declared_calls())} - taken


def api_of(world: World, **options: Any) -> BotoApi:
    """The code's own way to AWS, into the account."""
    return BotoApi("us-west-2", endpoint.session(world, endpoint.Options(**options)))


def test_every_declared_call_is_answered():
    """A command that is not answered cannot be practised."""
    assert declared() - set(endpoint.wire(World()).handlers) == set()


def test_nothing_is_answered_that_nothing_asks():
    """An answer without a caller is not tried by anything."""
    assert set(endpoint.wire(World()).handlers) - declared() == set()


@pytest.mark.parametrize("page_size", [1, 2, 100])
def test_recover_finds_each_object_of_the_shipped_stack(page_size: int):
    """By its own inputs, with the provider's default tags: exactly one sighting of each."""
    api = api_of(standing(), page_size=page_size)
    wrong = {}
    for item in recording().resources():
        if item.type in LOOKUPS:
            seen = list(sightings(api, LOOKUPS[item.type], CLUSTER, item.inputs))
            if len(seen) != 1 or seen[0].progress != "ready":
                wrong[item.urn] = seen
    assert wrong == {}


def test_sweep_sees_the_shipped_stack_and_what_eks_made_of_it():
    """Nodes, the cluster's own group: tagged by their maker, no resource of the program."""
    api = api_of(standing())
    found = {(item.kind, item.id) for item in look(api, place_of(api, CLUSTER), KINDS)}
    kinds = {kind for kind, _ in found}
    assert {"instance", "security group", "EKS cluster", "node group", "VPC", "file system", "role"} <= kinds
    assert sum(kind == "instance" for kind, _ in found) == 4
