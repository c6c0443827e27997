"""A key is not gone when it is deleted: it waits for days, and its alias stays until somebody deletes it."""

from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from facts.names import secrets_alias
from facts.resources.kms import KEY_WINDOW_DAYS
from simulator.account import kinds
from simulator.account.disk import AccountFolder
from simulator.account.state import AccountState
from simulator.account.world import World
from simulator.aws_endpoint import endpoint
from simulator.engine.run import Engine
from simulator.engine.state import State
from tests.simulator.account.standing import only, recording, standing
from trn.aws.api import BotoApi
from trn.aws.leftovers import Place, kind_named
from trn.aws.sighting import sightings
from trn.ending.recover.look import LOOKUPS

CLUSTER = "trainium-dev"


def api_of(world: World) -> BotoApi:
    """boto3 that ends in the account."""
    return BotoApi("us-west-2", endpoint.session(world))


def scheduled() -> tuple[World, Any, str]:
    """An account whose key waits for its deletion, a client of KMS, and the key's id."""
    world, key = standing(), only(kinds.KEY).id
    client = api_of(world).client("kms")
    answer = client.schedule_key_deletion(KeyId=key, PendingWindowInDays=KEY_WINDOW_DAYS)
    assert (answer["KeyState"], answer["PendingWindowInDays"]) == ("PendingDeletion", KEY_WINDOW_DAYS)
    return world, client, key


def test_a_key_waits_for_its_deletion_and_keeps_its_alias():
    """It cannot be scheduled twice, and bills nothing: it is no leftover, its alias is one (KMS developer guide, deleting-keys)."""
    world, client, key = scheduled()
    assert client.describe_key(KeyId=key)["KeyMetadata"]["KeyState"] == "PendingDeletion"
    assert [each["AliasName"] for each in client.list_aliases(KeyId=key)["Aliases"]] == [secrets_alias(CLUSTER)]
    with pytest.raises(ClientError, match=f"KMSInvalidStateException.*key/{key} is pending deletion"):
        client.schedule_key_deletion(KeyId=key, PendingWindowInDays=KEY_WINDOW_DAYS)
    left = [what for _, what in world.state.leftovers() if what.startswith("aws:kms/")]
    assert left == [f"{kinds.ALIAS} {secrets_alias(CLUSTER)}"]


def test_its_alias_keeps_the_name_from_the_next_stack():
    """Whoever deletes a key must delete its alias first."""
    world, _, _ = scheduled()
    refusal = world.begin_create(only(kinds.ALIAS))
    assert refusal is not None
    assert refusal.code == "AlreadyExistsException"


def test_recover_takes_neither_for_the_next_stacks_own():
    """The next key is another one; an alias that leads to the old one is not its alias."""
    world, _, key = scheduled()
    for token, inputs in ((kinds.KEY, only(kinds.KEY).inputs), (kinds.ALIAS, {**only(kinds.ALIAS).inputs, "targetKeyId": "0f8c"})):
        assert list(sightings(api_of(world), LOOKUPS[token], CLUSTER, inputs)) == []
    assert key in world.state.scheduled


def test_a_sweep_deletes_the_alias_with_the_key_and_has_nothing_left_to_do():
    """A key that waits is not found again."""
    world, kind = standing(), kind_named("KMS key")
    api = api_of(world)
    (found,) = kind.find(api, Place(CLUSTER))
    kind.delete(api, found)
    assert [what for _, what in world.state.leftovers() if what.startswith("aws:kms/")] == []
    assert list(kind.find(api, Place(CLUSTER))) == []


def test_a_destroy_leaves_a_key_that_waits_and_nothing_else():
    """Pulumi's own deletion schedules it as well."""
    engine = Engine(World(), State())
    assert engine.up(recording()).ended_well
    assert engine.destroy().ended_well
    assert (engine.world.state.leftovers(), list(engine.world.state.scheduled)) == ([], [only(kinds.KEY).id])


def test_it_waits_on_disk_too(tmp_path: Path):
    """Days pass between two commands, and the next one must not take the key for usable."""
    world, _, key = scheduled()
    AccountFolder(tmp_path).save(world.state)
    again = AccountState()
    AccountFolder(tmp_path).load_into(again)
    assert list(again.scheduled) == [key]
    client = api_of(World(again)).client("kms")
    assert client.describe_key(KeyId=key)["KeyMetadata"]["KeyState"] == "PendingDeletion"
