"""The virtual clock and the engine's rules of order."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pulumi
import pulumi_aws as aws
import pytest

from facts.resources.latency import Lifetime
from facts.resources.table import TYPES
from simulator import latencies
from simulator.account.world import World
from simulator.engine.order import creation_dependencies, deletion_levels
from simulator.engine.plan import counts, plan
from simulator.engine.run import Engine
from simulator.engine.schedule import critical_path, run_destroy, run_up
from simulator.engine.state import State
from simulator.errors import UnknownLatency
from simulator.recording import Recording, Registration
from tests.simulator.small_programs import by_hand, provider, run, urn_of

VPC, SUBNET, NAT, LUSTRE = (
    "aws:ec2/vpc:Vpc",
    "aws:ec2/subnet:Subnet",
    "aws:ec2/natGateway:NatGateway",
    "aws:fsx/lustreFileSystem:LustreFileSystem",
)


def chain() -> Recording:
    """VPC, a subnet in it, and a NAT gateway and a file system in that."""
    return by_hand(("vpc", VPC, []), ("subnet", SUBNET, ["vpc"]), ("nat", NAT, ["subnet"]), ("lustre", LUSTRE, ["subnet"]))


def test_nothing_starts_before_what_it_depends_on_has_ended():
    """The engine gets a registration only when its inputs are known."""
    steps = run_up(chain(), World(), seed=3).steps
    assert steps[urn_of("subnet")].start == steps[urn_of("vpc")].end
    assert steps[urn_of("nat")].start == steps[urn_of("subnet")].end


def test_what_does_not_wait_for_each_other_runs_side_by_side():
    """A file system behind a NAT gateway would cost two minutes for nothing."""
    steps = run_up(chain(), World(), seed=3).steps
    assert steps[urn_of("nat")].start == steps[urn_of("lustre")].start


def test_no_more_run_at_once_than_the_engine_allows():
    """One at a time, everything comes one after another."""
    recording = by_hand(*((f"vpc{index}", VPC, []) for index in range(5)))
    phase = run_up(recording, World(), seed=0, parallel=1)
    times = sorted((step.start, step.end) for step in phase.steps.values())
    assert all(before[1] <= after[0] for before, after in pairwise(times))
    assert phase.seconds > run_up(recording, World(), seed=0, parallel=5).seconds


def test_destroy_goes_level_by_level_with_a_barrier():
    """Not freely parallel: the subnet waits for the slower of its two users, and so does whatever shares its level."""
    recording = by_hand(
        ("vpc", VPC, []), ("subnet", SUBNET, ["vpc"]), ("nat", NAT, ["subnet"]), ("lustre", LUSTRE, ["subnet"]), ("other", SUBNET, ["vpc"])
    )
    steps = run_destroy(recording, World(), seed=0).steps
    slowest = max(steps[urn_of("nat")].end, steps[urn_of("lustre")].end)
    assert steps[urn_of("subnet")].start == slowest
    assert steps[urn_of("other")].start == slowest


def test_a_level_is_the_depth_from_the_roots():
    """So a resource can be deleted beside one it has nothing to do with, and never beside one it needs."""
    levels = deletion_levels(chain())
    assert [[urn.rsplit("::", 1)[-1] for urn in level] for level in levels] == [["lustre", "nat"], ["subnet"], ["vpc"]]


def test_a_named_component_stands_for_all_inside_it():
    """The engine counts the children of a remote component, which its user cannot name."""
    recording = by_hand(("component", "eks:index:Cluster", []), ("user", VPC, ["component"]))
    component = recording.registrations[urn_of("component")]
    recording.registrations[component.urn] = replace(component, custom=False, remote=True)
    child = Registration(urn_of("child"), VPC, "child", True, False, component.urn, {})
    recording.registrations[child.urn] = child
    assert creation_dependencies(recording)[urn_of("user")] == {component.urn, child.urn}
    assert creation_dependencies(recording)[child.urn] == {component.urn}


def test_a_cycle_is_an_error():
    """The engine would never have accepted it; waiting for ever would hide the reason."""
    recording = by_hand(("one", VPC, ["two"]), ("two", VPC, ["one"]))
    with pytest.raises(ValueError, match="cycle"):
        run_up(recording, World(), seed=0)
    with pytest.raises(ValueError, match="cycle"):
        deletion_levels(recording)


def test_the_critical_path_ends_last_and_has_no_gap():
    """Each link must begin where the one before ended, or the path explains nothing."""
    recording = chain()
    phase = run_up(recording, World(), seed=1)
    path = critical_path(recording, phase)
    assert [item.name for item in path] == ["vpc", "subnet", "lustre"]
    assert phase.steps[path[-1].urn].end == phase.seconds
    assert all(phase.steps[one.urn].end == phase.steps[two.urn].start for one, two in pairwise(path))


def test_the_critical_path_of_a_destroy_names_the_slowest_of_each_level():
    """It tells what a destroy waits for."""
    recording = chain()
    destroy = run_destroy(recording, World(), seed=0)
    assert [item.name for item in critical_path(recording, destroy)] == ["lustre", "subnet", "vpc"]


def test_who_held_the_slots_is_no_link_of_the_critical_path():
    """One at a time, the last is late by its wait for a free slot: it depends on none of those before it."""
    recording = by_hand(*((f"vpc{index}", VPC, []) for index in range(3)))
    phase = run_up(recording, World(), seed=0, parallel=1)
    path = critical_path(recording, phase)
    assert [item.name for item in path] == ["vpc2"]
    last = phase.steps[path[0].urn]
    assert last.slot_wait_s == last.start == phase.steps[urn_of("vpc1")].end
    assert phase.predecessors[path[0].urn] is None


def test_nothing_waits_for_a_slot_where_all_may_run_at_once():
    """Such a wait is the price of few slots and of nothing else."""
    few, many = (run_up(chain(), World(), seed=0, parallel=parallel) for parallel in (1, 16))
    assert {step.slot_wait_s for step in many.steps.values()} == {0.0}
    assert max(step.slot_wait_s for step in few.steps.values()) > 0


def test_a_service_with_a_selector_takes_its_ten_seconds():
    """The provider lets endpoints settle; a headless one is ready at once."""
    usual, headless = (
        Registration("urn", "kubernetes:core/v1:Service", "s", True, False, "", {"spec": {"selector": {"app": "x"}, **more}})
        for more in ({}, {"clusterIP": "None"})
    )
    assert latencies.seconds(usual, "create", 0) == 10
    assert latencies.seconds(headless, "create", 0) < 1


def test_the_same_seed_gives_the_same_trace_ten_times():
    """A timeline that differs from run to run can prove nothing."""
    traces = {tuple(run_up(chain(), World(), seed=7).order) for _ in range(10)}
    assert len(traces) == 1


def test_events_are_reported_in_the_order_of_the_clock():
    """Progress that jumps back would be read as a fault."""
    clocks: list[float] = []
    run_up(chain(), World(), seed=0, listener=lambda clock, _step, _ended: clocks.append(clock))
    assert clocks == sorted(clocks)
    assert len(clocks) == 8


def test_a_protected_resource_stops_the_destroy_at_its_level():
    """Its own level finishes, nothing below begins, and what is left is said."""
    recording = chain()
    subnet = recording.registrations[urn_of("subnet")]
    recording.registrations[subnet.urn] = replace(subnet, options={"protect": True})
    world = World()
    run_up(recording, world, seed=0)
    destroy = run_destroy(recording, world, seed=0)
    assert [step.urn for step in destroy.errors] == [subnet.urn]
    assert urn_of("vpc") not in destroy.steps
    assert [urn for urn, _ in world.state.leftovers()] == sorted([subnet.urn, urn_of("vpc")])


def with_vpc(cidr: str, *, subnet: Mapping[str, Any] | None = None, **options: Any) -> Recording:
    """A VPC of a range, with options, and where they are given a subnet in it with options of its own."""

    def program() -> None:
        given = provider()
        vpc = aws.ec2.Vpc("vpc", cidr_block=cidr, opts=pulumi.ResourceOptions(provider=given, **options))
        if subnet is not None:
            inside = cidr.replace("/16", "/24")
            opts = pulumi.ResourceOptions(provider=given, **subnet)
            aws.ec2.Subnet("subnet", vpc_id=vpc.id, cidr_block=inside, availability_zone_id="usw2-az1", opts=opts)

    return run(program)


def vpc_urn() -> str:
    """Of that program."""
    return "urn:pulumi:test::trn::aws:ec2/vpc:Vpc::vpc"


def test_a_protected_resource_is_not_replaced():
    """The engine refuses it before it makes a successor: one beside it would wait for the old one's deletion for ever."""
    engine = Engine(World(), State())
    assert engine.up(with_vpc("10.0.0.0/16", protect=True)).ended_well
    phase = engine.up(with_vpc("10.1.0.0/16", protect=True))
    assert [step.error for step in phase.errors] == [
        f'error: unable to replace resource "{vpc_urn()}" as it is currently marked for protection'
    ]
    assert (engine.state.pending_deletions, engine.state.held[vpc_urn()].registration.inputs["cidrBlock"]) == ([], "10.0.0.0/16")
    assert len(engine.world.state.existing(VPC)) == 1
    # To drop the option and to replace is one run.
    assert engine.up(with_vpc("10.1.0.0/16")).ended_well
    assert [item.registration.inputs["cidrBlock"] for item in engine.world.state.existing(VPC)] == ["10.1.0.0/16"]


def test_what_a_protected_resource_rests_on_is_not_deleted_first():
    """Nothing is: what is protected would go with it."""
    engine = Engine(World(), State())
    assert engine.up(with_vpc("10.0.0.0/16", subnet={"protect": True})).ended_well
    there = sorted(item.what for item in engine.world.state)
    phase = engine.up(with_vpc("10.1.0.0/16", subnet={"protect": True}, delete_before_replace=True))
    assert [f'as part of replacing "{vpc_urn()}"' in str(step.error) for step in phase.errors] == [True]
    assert sorted(item.what for item in engine.world.state) == there
    assert engine.up(with_vpc("10.0.0.0/16", subnet={"protect": True}, delete_before_replace=True)).ended_well
    assert engine.up(with_vpc("10.1.0.0/16", subnet={}, delete_before_replace=True)).ended_well


@pytest.mark.parametrize("first", [False, True])
def test_a_retained_resource_that_is_replaced_stays_beside_its_successor(first: bool):
    """The engine forgets it: a run that asked for its deletion again would never end."""
    engine = Engine(World(), State())
    assert engine.up(with_vpc("10.0.0.0/16", retain_on_delete=True)).ended_well
    assert engine.up(with_vpc("10.1.0.0/16", retain_on_delete=True, delete_before_replace=first)).ended_well
    assert engine.state.pending_deletions == []
    assert len(engine.world.state.existing(VPC)) == 2
    assert counts(plan(engine.state, with_vpc("10.1.0.0/16", retain_on_delete=True), creations=engine.world.state.creations, seed=0)) == {}


@pytest.mark.parametrize(
    ("resource_type", "inputs", "left"),
    [
        (LUSTRE, {"skipFinalBackup": False}, "final backup"),
        (LUSTRE, {"skipFinalBackup": True, "automaticBackupRetentionDays": 7}, "daily backups"),
        (
            "kubernetes:helm.sh/v3:Release",
            {"createNamespace": True, "namespace": "x", "name": "y", "chart": "metrics-server"},
            "namespace x",
        ),
    ],
)
def test_what_a_deletion_leaves_is_left(resource_type: str, inputs: dict[str, object], left: str):
    """These bill, or block the next cluster, after everything seems gone."""
    world = World()
    world.state.put(Registration("cluster", "aws:eks/cluster:Cluster", "c", True, False, "", {}, id="c"))
    item = Registration("urn", resource_type, "x", True, False, "", inputs, id="x")
    world.state.put(item)
    assert world.begin_delete(item) is None
    world.finish_delete(item)
    assert [left in what for urn, what in world.state.leftovers() if urn != "cluster"] == [True]


def test_a_retained_resource_stays():
    """`retainOnDelete`: neither the engine nor a provider deletes it."""
    world = World()
    item = Registration("urn", VPC, "x", True, False, "", {}, id="x", options={"retainOnDelete": True})
    world.state.put(item)
    assert world.begin_delete(item) is None
    world.finish_delete(item)
    assert len(world.state.leftovers()) == 1


def test_a_type_without_a_latency_is_an_error():
    """The clock never guesses."""
    with pytest.raises(UnknownLatency, match="aws:s3/bucket:Bucket"):
        latencies.lifetime(Registration("urn", "aws:s3/bucket:Bucket", "b", True, False, "", {}))


def _lifetimes() -> list[Lifetime]:
    """The usual ones of all types."""
    return [resource_type.latencies.usual for resource_type in TYPES.values()]


@pytest.mark.parametrize("seed", range(20))
def test_latencies_stay_within_their_spread(seed: int):
    """A duration outside of the range has no source."""
    for lifetime in _lifetimes():
        for latency in (lifetime.create, lifetime.delete):
            assert latency.low <= latencies.draw(latency, seed, f"urn{seed}", "create") <= latency.high


def test_every_latency_names_its_source_and_how_good_it_is():
    """An inference must not pass for a measurement."""
    for lifetime in _lifetimes():
        assert lifetime.create.source.startswith(("published", "measured", "inferred"))
        assert lifetime.delete.source.startswith(("published", "measured", "inferred"))
