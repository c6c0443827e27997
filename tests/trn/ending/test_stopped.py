"""A drain and a destroy that are stopped after any changing call say what they did, and the next run ends as an unbroken one."""

from collections.abc import Callable

import pytest

from tests.trn.ending.stopped import Died, Stage, whole, wrong_after

ERRORS = (KeyboardInterrupt, Died)


@pytest.mark.parametrize("error", ERRORS)
def test_a_drain_that_is_stopped_after_any_call_is_ended_by_the_next(error: Callable[[], BaseException]):
    """The lock's, Volcano's command, a deletion, and the last; `make bench` stops it at every one."""
    total, _ = whole("drain")
    assert total >= 8
    assert {number: wrong for number in (1, 2, 4, total) if (wrong := list(wrong_after("drain", number, error)))} == {}


@pytest.mark.parametrize("error", ERRORS)
def test_a_destroy_that_is_stopped_after_a_call_is_ended_by_the_next(error: Callable[[], BaseException]):
    """In its drain, where only roles are left of Pulumi's, and in its sweep; `make bench` stops it at every one."""
    total, left = whole("destroy")
    assert (total > 190, left) == (True, set())
    sampled = (5, 150, total - 3)
    assert {number: wrong for number in sampled if (wrong := list(wrong_after("destroy", number, error)))} == {}


@pytest.mark.parametrize("number", range(2, 7))
def test_ctrl_c_in_the_middle_of_a_call_says_what_it_may_have_done(number: int):
    """Every change that was made is in a line, the last one as one that may be done."""
    stage, said = Stage(stop_at=number), list[str]()
    with pytest.raises(KeyboardInterrupt):
        stage.act("drain", said=said)
    told = [line for line in said if line.startswith(("closing", "deleting", "stopped while"))]
    assert len(told) == sum(call == "kubernetes" for call in stage.changes)
    assert told[-1].startswith("stopped while ")
    assert told[-1].endswith(": it may be done")
