"""A stack with the file system of others: killed, recovered, destroyed and swept, it changes nothing of it; and what its commands say of it."""

import random
from dataclasses import replace
from typing import Any

import pytest

from facts.external.description import assumed
from simulator.account import kinds
from simulator.account.external_file_system import put_file_system
from simulator.account.world import World
from simulator.engine.change import rehearse_change
from simulator.engine.permanent import refused_by_program
from simulator.engine.run import Engine
from simulator.engine.state import State
from simulator.recorder.recorder import RecordingMonitor, plain
from simulator.recording import Recording
from stacks.config import parse_settings
from stacks.external import asked_of
from stacks.settings import Settings
from tests.sharing import forget
from tests.stacks.external_networks import CLIENTS, FILE_SYSTEM, VPC, configuration, file_system, sharing
from tests.support import ROOT, record_stack
from tests.trn.aws.cloud import Cloud
from tests.trn.ending.story import Story, drawn_kill, told
from trn.aws.stack_file_system import file_systems
from trn.before.cost.bill import bill_of
from trn.cli.errors import CommandError
from trn.engine.assumed_account import account_for
from trn.engine.stack_file import StackFile
from trn.jobs.data.safety import link_of

CLUSTER, REGION = "trainium-dev", "us-west-2"


def settings(*, clients: bool = False) -> Settings:
    """The stack that mounts it."""
    return parse_settings(sharing(clients=clients), "dev", rehearsal=True)


def recorded(*, clients: bool = False) -> Recording:
    """What it makes."""
    return record_stack(sharing(clients=clients), stack="dev")


@pytest.mark.parametrize("seed", range(3))
def test_it_stays_wherever_the_stack_is_killed(seed: int):
    """Neither `recover` nor `sweep` takes it for the stack's: it has no tag of the cluster, and the VPC tells nothing."""
    stack, drawn = recorded(), random.Random(seed)
    kill = drawn_kill(drawn, stack, "create" if seed % 2 else "delete")
    assert told(Story(stack, CLUSTER, REGION, existing=assumed(asked_of(settings()))), kill, seed) == []


def test_nothing_of_it_is_made_and_nothing_may_delete_one():
    """No file system, no group and no rule of it; and no role in the cluster that FSx listens to."""
    made = recorded()
    assert [item for item in made.resources() if item.type.startswith("aws:fsx/")] == []
    assert [item.name for item in made.of_type("aws:ec2/securityGroup:SecurityGroup")] == ["nodes"]
    assert not any("fsx" in str(item.inputs) for item in made.resources() if item.type.startswith("aws:iam/"))
    classes = [item.inputs["metadata"]["name"] for item in made.of_type("kubernetes:storage.k8s.io/v1:StorageClass")]
    assert "fsx-lustre" not in classes


def test_nodes_are_put_in_the_group_for_clients():
    """On every card of every node: the file system lets them in by it."""
    templates = recorded(clients=True).of_type("aws:ec2/launchTemplate:LaunchTemplate")
    groups = [
        interface["securityGroups"] if interface else template.inputs["vpcSecurityGroupIds"]
        for template in templates
        for interface in template.inputs.get("networkInterfaces") or [None]
    ]
    assert groups
    assert all(CLIENTS in each for each in groups)
    assert not any(CLIENTS in str(template.inputs) for template in recorded().of_type("aws:ec2/launchTemplate:LaunchTemplate"))


def test_going_over_to_it_destroys_the_data_of_the_own_one_and_says_so():
    """The claim looks the same before and after; what was in it is gone."""
    changed = rehearse_change(record_stack(configuration(), stack="dev"), recorded(), seed=0, account=account_for(settings()))
    red = [caution.text for caution in changed.cautions if caution.severity == "red"]
    assert any("its data is lost" in text for text in red), red


def giving_away() -> tuple[Recording, Recording]:
    """A stack with a file system of its own in a network of others, and the same with that one named as others'."""
    before = record_stack(configuration(), stack="dev")
    (made,) = before.of_type("aws:fsx/lustreFileSystem:LustreFileSystem")
    assert made.id is not None
    after = configuration()
    after["storage"] = file_system(fileSystemId=made.id)
    return before, record_stack(after, stack="dev")


def test_naming_the_own_one_as_others_is_refused_before_anything():
    """A rehearsal, a plan and practice refuse as the program's hook does, and nothing of it is deleted."""
    before, after = giving_away()
    changed = rehearse_change(before, after, seed=0, account=account_for(settings()))
    assert changed.touched == []
    assert [(item.severity, "the stack made the file system" in item.text) for item in changed.cautions] == [("red", True)]
    engine = Engine(World(account_for(settings())), State())
    assert engine.up(before).ended_well
    assert not engine.up(after).ended_well
    assert [item.id for item in engine.state.recording().of_type(kinds.FILE_SYSTEM)] == [
        item.registration.id for item in engine.world.state.existing(kinds.FILE_SYSTEM)
    ]
    assert len(engine.world.state.existing(kinds.FILE_SYSTEM)) == 1


def test_what_the_state_has_forgotten_may_be_named():
    """And what it still remembers beside may not: the program's hook has nothing else to go by."""
    before, after = giving_away()
    there = {urn: item for urn, item in before.registrations.items() if item.type != kinds.FILE_SYSTEM}
    forgotten = Recording(before.project, before.stack, there)
    assert refused_by_program(before, after) != {}
    assert refused_by_program(forgotten, after) == {}
    (urn,) = refused_by_program(before, after)
    made = next(item.id for item in before.of_type(kinds.FILE_SYSTEM))
    remembered = replace(there[urn], outputs={"kept": {"fileSystem": made}})
    assert refused_by_program(Recording(before.project, before.stack, {**there, urn: remembered}), after) != {}


@pytest.mark.parametrize("is_own", [True, False])
def test_the_program_remembers_which_one_it_made(monkeypatch: pytest.MonkeyPatch, is_own: bool):
    """In the output that its hook reads; the one of others is no part of that."""
    written = list[dict[str, Any]]()
    real = RecordingMonitor.RegisterResourceOutputs
    monkeypatch.setattr(
        RecordingMonitor, "RegisterResourceOutputs", lambda self, request: written.append(plain(request.outputs)) or real(self, request)
    )
    forget()
    made = record_stack(configuration() if is_own else sharing(), stack="dev")
    (kept,) = [outputs["kept"] for outputs in written if "kept" in outputs]
    own = [item.id for item in made.of_type(kinds.FILE_SYSTEM)]
    assert (kept.get("fileSystem"), bool(own)) == (own[0] if is_own else None, is_own)


def test_status_and_data_commands_find_it_by_its_id():
    """It has no tag of the cluster."""
    found = assumed(asked_of(settings())).file_system
    assert found is not None
    cloud = Cloud(world=World())
    assert file_systems(cloud.api, settings()) == []
    put_file_system(cloud.world.state, found)
    assert [entry["FileSystemId"] for entry in file_systems(cloud.api, settings())] == [FILE_SYSTEM]


def test_what_others_pay_for_is_not_in_the_bill_and_is_named():
    """A sum without it is not what the training costs the company."""
    bill = bill_of(StackFile(ROOT, "trn", "dev", {f"trn:{key}": value for key, value in sharing().items()}))
    assert not any("Lustre" in line.price for line in bill.lines)
    assert any(FILE_SYSTEM in note and VPC in note for note in bill.notes)


def test_a_link_that_is_missing_is_its_owners_to_make():
    """The key that would make one is refused beside a file system that exists."""
    with pytest.raises(CommandError) as refused:
        link_of([], CLUSTER, is_own=False)
    assert "its owner links it" in refused.value.hint
    with pytest.raises(CommandError) as refused:
        link_of([], CLUSTER)
    assert "storage.lustre.dataRepository" in refused.value.hint
