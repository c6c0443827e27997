"""Other orders, with the same latencies."""

import pytest

from simulator.account.world import World
from simulator.comparisons import Comparison, Stage, comparisons
from simulator.engine.schedule import run_up
from tests.simulator.account.standing import recording


@pytest.mark.parametrize("other", comparisons(), ids=lambda other: other.name)
@pytest.mark.parametrize("seed", range(5))
def test_no_other_order_is_quicker_than_ours(other: Comparison, seed: int):
    """Each makes less than ours does: a file system behind the nodes alone costs more than all else."""
    assert other.seconds(recording(), seed) > run_up(recording(), World(), seed=seed).seconds


@pytest.mark.parametrize("other", comparisons(), ids=lambda other: other.name)
def test_each_says_what_it_is_and_who_says_so(other: Comparison):
    """A figure beside ours without its origin would be advertising."""
    assert len(other.says) > 40
    assert len(other.source) > 20


def test_a_stage_takes_as_long_as_its_longest_chain():
    """And stages follow each other."""
    one = Stage("one", (("Vpc network",), ("Vpc network", "Vpc network")))
    single = Comparison("a", "", "", (Stage("x", (("Vpc network",),)),)).seconds(recording(), 0)
    assert Comparison("b", "", "", (one, one)).seconds(recording(), 0) == pytest.approx(4 * single)
