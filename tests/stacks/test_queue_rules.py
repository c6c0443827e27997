"""What the stack's rules accept of queues, the simulated webhook accepts, and what they refuse it refuses: two readings of one source."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.account import kinds
from simulator.account.rules.volcano import queue_fits_its_hierarchy
from simulator.account.state import AccountState
from simulator.recording import Registration
from stacks.config import parse_settings
from stacks.problems import ConfigurationError
from tests.support import dev_configuration, merged

AMOUNTS = st.dictionaries(st.sampled_from(["cpu", "memory"]), st.sampled_from([1, 2, 4, "500m", "2Ki"]), max_size=2)


@st.composite
def hierarchies(draw: st.DrawFn) -> dict[str, dict[str, Any]]:
    """Up to seven queues, each below an earlier one or below `root`."""
    queues: dict[str, dict[str, Any]] = {}
    for name in ("a", "b", "c", "d", "e", "f", "g")[: draw(st.integers(1, 7))]:
        parent = draw(st.sampled_from([*queues, "root"]))
        queues[name] = {"parent": parent, "capability": draw(AMOUNTS), "deserved": draw(AMOUNTS)}
    return queues


def is_accepted(queues: dict[str, dict[str, Any]]) -> bool:
    """Whether the configuration is."""
    configuration = merged(dev_configuration())
    configuration["addons"]["volcano"]["queues"] = queues
    try:
        parse_settings(configuration, "dev", rehearsal=True)
    except ConfigurationError:
        return False
    return True


def is_admitted(queues: dict[str, dict[str, Any]]) -> bool:
    """Whether the webhook lets all of them in, parents first."""
    state = AccountState()
    for name, spec in queues.items():
        queue = Registration(f"urn::{name}", kinds.QUEUE, name, True, False, "", {"metadata": {"name": name}, "spec": spec}, id=name)
        if queue_fits_its_hierarchy.check(state, queue) is not None:
            return False
        state.put(queue)
    return True


@settings(max_examples=200, deadline=None)
@given(hierarchies())
def test_rules_and_webhook_agree(queues: dict[str, dict[str, Any]]):
    """A hierarchy that only the rules accept stops an `up` half-way; one that only they refuse cannot be had."""
    assert is_accepted(queues) == is_admitted(queues)
