"""How long a resource takes to be made, changed and deleted, in seconds, with its spread.

*published*: public logs or documentation; *measured*: run for this project without an account; *inferred*: our own
conclusion, never promoted. Every source begins with one of the three words.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from facts.resources.outputs import Inputs


@dataclass(frozen=True)
class Latency:
    """A duration in seconds: shortest, typical, longest."""

    low: float
    typical: float
    high: float
    source: str


@dataclass(frozen=True)
class Lifetime:
    """Both ends of a resource."""

    create: Latency
    delete: Latency


@dataclass(frozen=True)
class Latencies:
    """Latencies of one type."""

    usual: Lifetime
    special: Callable[[Inputs], Lifetime | None] = lambda inputs: None
    """The lifetime of a resource that these inputs make unusual; None where it is as usual."""
    updates: Mapping[str, Latency] = field(default_factory=dict)
    """Changed input to latency; the empty input means all others. Without an entry a change takes one request."""

    def of(self, inputs: Inputs) -> Lifetime:
        """Latencies of the resource that has these inputs."""
        return self.special(inputs) or self.usual


def both(low: float, typical: float, high: float, source: str) -> Lifetime:
    """Creation and deletion that take equally long."""
    return Lifetime(Latency(low, typical, high, source), Latency(low, typical, high, source))


LOGS = "published: public Terraform and Pulumi logs, 2022-2026"
INSTANT = both(0.5, 1, 2, "inferred: one EC2 or EKS call")
REQUEST = Latency(0.5, 1, 2, "inferred: one call")
IAM = Lifetime(Latency(1, 2, 3, LOGS), Latency(0.5, 1, 2, "inferred: one IAM call"))
