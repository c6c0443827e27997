"""How often something is looked at that takes long to come."""

import pytest

from local_kubernetes import api
from local_kubernetes.api import LONGEST_LOOK_S, LOOK_S, NotInTime, wait


class Clock:
    """Time that passes only while something sleeps."""

    def __init__(self) -> None:
        self.now_s, self.sleeps = 100.0, list[float]()

    def monotonic(self) -> float:
        """Seconds."""
        return self.now_s

    def sleep(self, seconds: float) -> None:
        """Let them pass."""
        self.now_s += seconds
        self.sleeps.append(seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Of `wait`."""
    made = Clock()
    monkeypatch.setattr(api, "time", made)
    return made


def test_what_comes_is_seen_at_most_a_tenth_later(clock: Clock):
    """And soon where it comes soon."""
    for comes_s in (0.01, 0.3, 1, 4):
        begun_s = clock.now_s
        wait(lambda begun_s=begun_s, comes_s=comes_s: clock.now_s >= begun_s + comes_s, "it")
        assert clock.now_s - begun_s <= max(1.1 * comes_s, comes_s + LOOK_S) + 1e-6


def test_what_takes_long_is_looked_at_less_often(clock: Clock):
    """An API server that is asked 20 times a second has less time for what is waited for. Patience ends all the same."""
    with pytest.raises(NotInTime, match="did not come to that in 60 s: it"):
        wait(lambda: False, "it", 60)
    assert clock.sleeps == sorted(clock.sleeps)
    assert (clock.sleeps[0], clock.sleeps[-1]) == (LOOK_S, LONGEST_LOOK_S)
    assert 60 <= sum(clock.sleeps) <= 60 + LONGEST_LOOK_S
    assert len(clock.sleeps) < 200
