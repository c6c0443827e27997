"""Nothing of a neighbour is ever touched, whatever the account holds, and a command that is stopped anywhere is ended by the next."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.sharing import further_seeds
from tests.trn.aws.cloud import Cloud
from tests.trn.aws.leftovers import leave_control_plane, leave_everything
from tests.trn.change.owned import EMPTY, FakePulumi
from tests.trn.ending.random_accounts import RANDOM_ACCOUNTS, RandomAccount, run, touched
from trn.ending.sweep import change as sweep_run

COMMANDS = ("sweep", "sweep", "destroy", "drain")
ACCOUNTS, CHUNKS = 60, 3
LONG_CHUNKS = 50


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a neighbour holds for ever is waited for a shorter while."""
    monkeypatch.setattr(sweep_run, "ROUNDS", 6)


def wrong_in(seeds: range) -> tuple[list[str], int]:
    """What was touched in these accounts, and in how many anything went."""
    wrong, went = list[str](), 0
    for number, seed in enumerate(seeds):
        changed, deleted = touched(seed, COMMANDS[number % len(COMMANDS)])
        wrong += changed
        went += deleted > 0
    return wrong, went


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_nothing_of_a_neighbour_is_ever_touched(chunk: int):
    """Same name, prefix, region, VPC, organization, tags of other owners, other accounts, older and newer; nor anything of our own cluster
    while it is up; with a state that knows the cluster, or another, or none.
    """
    wrong, went = wrong_in(range(chunk, ACCOUNTS, CHUNKS))
    assert wrong == []
    assert went >= 4, "too few of these commands deleted anything: the test shows nothing"


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(LONG_CHUNKS))
def test_nothing_of_a_neighbour_is_touched_in_ten_thousand_accounts(chunk: int):
    """The fixed sample above is a part of these."""
    assert wrong_in(range(chunk, RANDOM_ACCOUNTS, LONG_CHUNKS))[0] == []


@pytest.mark.long
@pytest.mark.parametrize("seed", further_seeds(10))
def test_nothing_of_a_neighbour_is_touched_in_accounts_that_no_run_before_had(seed: int):
    """Twenty of each: whoever fitted a rule to the fixed ones is found out."""
    assert wrong_in(range(20 * seed, 20 * seed + 20))[0] == []


class Died(BaseException):
    """The process is gone: no handler runs that reaches the account."""


def left_over() -> RandomAccount:
    """What a destroy left, beside a neighbour; the stack is gone."""
    cloud = Cloud(page_size=100)
    leave_everything(cloud, "train", "a")
    ours = {(kind, which) for kind, entries in cloud.world.state.others.items() for which in entries}
    leave_everything(cloud, "train-2", "b")
    leave_control_plane(cloud, "train-2", "b")
    return RandomAccount(0, "train", cloud, FakePulumi(EMPTY), "no cluster", ours)


def changing(calls: list[tuple[str, dict[str, object]]]) -> list[str]:
    """Those of the calls that change something."""
    return [name for name, _ in calls if not name.split(".")[1].startswith(("Describe", "List", "Get", "Search"))]


def stop_at(made: RandomAccount, number: int, error: Callable[[], BaseException]) -> Callable[[], None]:
    """Raise after that changing call; after a death no further call has an effect. Gives what ends it."""
    wire, handlers = made.cloud.wire, dict(made.cloud.wire.handlers)

    def die(_given: object) -> Any:
        raise error()

    def after(_name: str) -> None:
        # A refused call is counted, and not answered.
        if len(changing(wire.calls)) >= number:
            wire.after_call = lambda _: None
            if error is Died:
                wire.handlers = dict.fromkeys(handlers, die)
            raise error()

    def revive() -> None:
        wire.handlers, wire.after_call = handlers, lambda _: None

    wire.after_call = after
    return revive


def changes_of_a_whole_sweep() -> int:
    """Changing calls of a sweep that runs to its end."""
    made = left_over()
    run(made, "sweep")
    return len(changing(made.cloud.wire.calls))


@pytest.mark.parametrize("error", [KeyboardInterrupt, Died])
def test_a_sweep_that_is_stopped_at_any_call_is_ended_by_the_next(error: Callable[[], BaseException]):
    """What was done is said; the second run ends as one that was never stopped, and the lock of the dead one is taken on demand."""
    whole = left_over()
    neighbours = whole.theirs()
    run(whole, "sweep")
    total = changes_of_a_whole_sweep()
    assert total > 30
    for number in range(1, total, 9):
        made, said = left_over(), list[str]()
        revive = stop_at(made, number, error)
        with pytest.raises((KeyboardInterrupt, Died)):
            run(made, "sweep", said)
        told = sum(line.startswith("deleting ") for line in said)
        # The call during which it was stopped may be the last, and not said.
        assert made.deleted() <= told + 1, (number, said)
        revive()
        if error is Died:
            assert any("the cluster is locked by" in line for line in run(made, "sweep")), "the lock of a dead run stays"
        again = run(made, "sweep", break_lock=error is Died)
        assert not any(line.startswith("error") for line in again), again
        assert {key for key in made.ours if key[1] in made.cloud.of(key[0])} == {
            key for key in whole.ours if key[1] in whole.cloud.of(key[0])
        }
        assert made.theirs() == neighbours
