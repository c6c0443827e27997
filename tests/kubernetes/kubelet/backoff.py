"""How long a container that ended waits before it is started again."""

from dataclasses import dataclass


@dataclass(frozen=True)
class BackOff:
    """The kubelet's own: 10 s, doubled with each crash up to 5 minutes, forgotten after 10 minutes of running (Pod Lifecycle, Container restarts)."""

    first_s: float = 10.0
    most_s: float = 300.0

    def delay_s(self, crashes: int) -> float:
        """Seconds between an end and the next start, after that many ends: none after the first."""
        return 0.0 if crashes <= 1 else min(self.first_s * 2 ** (min(crashes, 30) - 2), self.most_s)

    def crashes_after(self, crashes: int, ran_s: float) -> int:
        """The count after one more end: a run of twice the longest delay starts it anew."""
        return 1 if ran_s >= 2 * self.most_s else crashes + 1
