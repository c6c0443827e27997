"""What the guard's message says goes on billing is what the simulated account bills idle."""

from typing import Any

import pytest

from simulator.costs import figures, items
from stacks.config import parse_settings
from stacks.idle_bill import idle_bill
from tests.stacks.samples import configurations, recorded

SAME = ("shipped", "private network", "key given", "data repository", "existing network", "spot")


@pytest.mark.parametrize("name", SAME)
def test_the_sum_is_what_the_rehearsal_bills_idle(name: str):
    """Two figures for one thing would make readers believe neither."""
    configuration: dict[str, Any] = configurations()[name]
    found = idle_bill(parse_settings(configuration, "test", rehearsal=True))
    assert sum(usd for _, usd in found) == pytest.approx(figures(items(recorded(name))).idle.usd_per_hour, abs=2e-3)
    assert [usd for _, usd in found] == sorted((usd for _, usd in found), reverse=True)
