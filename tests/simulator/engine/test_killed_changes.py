"""Changes of a running cluster, killed before, in and after each operation: the next run converges, or ends with the refusal that it has anyway."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest

from simulator.account import kinds
from simulator.account.world import World
from simulator.engine import chaos
from simulator.engine.crash import ChangeMatrix, made_wrong
from simulator.engine.lifecycle import bring_up, take_down
from simulator.engine.plan import counts, plan
from simulator.engine.recovery import recover
from simulator.engine.run import Engine, Kill
from simulator.engine.state import State
from simulator.recording import Recording
from stacks.stack_yaml import read_yaml
from tests.sharing import mostly_long
from tests.simulator.account.standing import recording
from tests.support import dev_configuration, merged
from tests.support import record_stack as recorded_from
from tools.pages.change_samples import sample_of
from tools.pages.configuration_keys import keys
from trn.before.init.samples import ROOT, SAMPLES
from trn.engine.assumed_account import account_for
from trn.engine.program import record_stack, rehearsing, settings_of
from trn.engine.stack_file import StackFile, read_stack_file
from trn.rehearsal.change.configuration import with_settings
from trn.rehearsal.random_configurations import random_change, random_configuration

TELLING = (
    "storage.lustre.zoneId",
    "network.podCidr",
    "training.namespace",
    "nodeGroups.NAME.instanceType",
    "network.nat",
    "addons.volcano.enabled",
)
"""Keys whose change makes successors beside what they replace, deletes first, takes dependents along, and removes."""
EVERY = 17
"""Of the kills of a change the default tier tries each seventeenth; all are tried in the long one."""


def matrix_of(path: str) -> ChangeMatrix:
    """The change that docs/changes.md has of a key."""
    sample = sample_of(next(key for key in keys() if key.path == path))
    return matrix(read_stack_file("dev"), sample.before, (*sample.before, *sample.settings))


def matrix(stack_file: StackFile, *settings: tuple[str, ...]) -> ChangeMatrix:
    """A stack file with some settings, and then with others."""
    with rehearsing():
        files = [with_settings(stack_file, some) for some in settings]
        before, after = (record_stack(one) for one in files)
        return ChangeMatrix.of(before, after, seed=0, account=account_for(*map(settings_of, files)))


@pytest.mark.parametrize("path", TELLING)
def test_a_killed_change_converges(path: str):
    """Nothing is made twice, nothing is forgotten, nothing is left when the cluster goes."""
    changed = matrix_of(path)
    cases = changed.cases()[TELLING.index(path) % EVERY :: EVERY]
    assert cases
    assert changed.failures(cases) == []


@pytest.mark.long
@pytest.mark.parametrize("path", [key.path for key in keys()])
def test_every_change_of_the_docs_survives_every_kill(path: str):
    """`trn rehearse crash --change` shows the same to users."""
    changed = matrix_of(path)
    assert changed.failures(changed.cases()) == []


@pytest.mark.long
@pytest.mark.parametrize("setting", ["training.namespace=jobs", "storage.lustre.capacityGib=4800", "tags={team: research}"])
@pytest.mark.parametrize("stack", SAMPLES)
def test_every_sample_survives_every_kill(stack: str, setting: str):
    """The stack files that people begin with."""
    changed = matrix(sample_file(stack), (), (setting,))
    assert changed.failures(changed.cases()) == []


def sample_file(name: str) -> StackFile:
    """A ready-made stack file, as a stack of its own."""
    return StackFile(ROOT, "trn", name, read_yaml(SAMPLES[name].text)["config"])


@contextmanager
def forgetting(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An engine whose state has one entry for a URN."""
    save = State.save
    with monkeypatch.context() as patch:
        patch.setattr(State, "save", lambda self, registration, init_error=None, *, replaced=False: save(self, registration, init_error))
        yield


def test_the_matrix_notices_an_engine_that_forgets_what_it_replaced(monkeypatch: pytest.MonkeyPatch):
    """The old file system would bill for ever."""
    with forgetting(monkeypatch):
        changed = matrix_of("storage.lustre.zoneId")
        failures = changed.failures(case for case in changed.cases() if case.operation == "delete")
    assert any("left behind" in why or "unknown to the state" in why for failure in failures for why in failure.why)


def test_a_kill_comes_in_the_midst_even_of_what_runs_alone():
    """The end of an operation that nothing else runs beside is planned only when it has begun."""
    engine = Engine(World(), State())
    engine.up(recording())
    victim = next(item for item in recording().resources() if item.type == kinds.CLUSTER)
    assert engine.destroy(kill=Kill(victim.urn, "delete", 0.5)).steps[victim.urn].cut
    assert [(item.doing, item.remaining_s > 60) for item in engine.state.pending] == [("deleting", True)]


def test_a_change_whose_request_was_never_sent_changes_nothing():
    """Its object is there as it was."""
    before = recording()
    after = recorded_from(merged(dev_configuration(), nodeGroups={"trn1-32xl": {"size": 4}}))
    engine = Engine(World(), State())
    engine.up(before)
    (group,) = [item for item in before.of_type(kinds.NODE_GROUP) if item.name == "trn1-32xl"]
    assert engine.up(after, kill=Kill(group.urn, "update", 0)).killed
    (there,) = [item for item in engine.world.state.existing(kinds.NODE_GROUP) if item.registration.urn == group.urn]
    assert there.registration.inputs == group.inputs


@cache
def pair(number: int) -> tuple[Recording, Recording]:
    """A random cluster, and what it is changed to."""
    with rehearsing():
        before, after = (recorded_from(drawn(number), stack=f"chaos-{number}") for drawn in (random_configuration, random_change))
    return before, after


@pytest.mark.parametrize("number", mostly_long([4, 3, 7]))
def test_after_every_up_the_plan_is_empty(number: int):
    """The second and the third life, and after a change and a kill: a difference without a change of the program would roll nodes that train."""
    before, after = pair(number)
    engine = Engine(World(), State())
    for round_number in range(3):
        for graph in (before, after, before):
            for kill in chaos.drawn_kill(engine, graph, round_number) if round_number else []:
                engine.up(graph, kill=kill)
                recover(engine.state, engine.world)
            if not bring_up(engine, graph)[-1].phase.ended_well:
                continue
            assert counts(plan(engine.state, graph, creations=engine.world.state.creations, seed=0)) == {}
            assert made_wrong(engine, graph) == []
        assert take_down(engine)[-1].phase.ended_well
    assert engine.world.state.leftovers() == []


def test_chaos_changes_clusters():
    """And kills some of the changes."""
    before, after = pair(4)
    outcomes = [chaos.run(before, seed, changed=after) for seed in range(16, 22)]
    assert [outcome.why for outcome in outcomes if not outcome.ended_well] == []
    assert any(outcome.changed for outcome in outcomes)
    engine = Engine(World(), State())
    engine.up(before)
    assert {bool(chaos.drawn_kill(engine, after, seed)) for seed in range(8)} == {True, False}
