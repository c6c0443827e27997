"""What the simulated cloud says when it cannot go on: it never guesses."""


class SimulationError(Exception):
    """Base: the program asks for something that is refused, or that the simulated cloud does not know."""

    hint = ""
    """What to do; empty where only the program can be changed."""


class UnknownType(SimulationError):
    """A resource type or look-up without an answer. The simulated cloud never invents one."""


class UnknownLatency(SimulationError):
    """A resource type without a latency. The clock never guesses."""


class NotMeasured(SimulationError):
    """A use of pulumi_eks whose children were not measured."""


class DuplicateUrn(SimulationError):
    """Two resources of one type and name under parents of the same types, which the engine refuses."""
