"""How long the real engine waits for the simulated cloud: virtual latencies in scaled real time."""

from dataclasses import dataclass
from typing import Any

from simulator import latencies
from simulator.recording import Registration


@dataclass(frozen=True)
class Pace:
    """Real seconds per virtual one. 0 waits for nothing."""

    scale: float = 0.0
    seed: int = 0

    def real_s(self, operation: str, urn: str, resource_type: str, inputs: dict[str, Any]) -> float:
        """Real seconds that an operation takes. An update takes what a create would."""
        registration = Registration(
            urn=urn, type=resource_type, name=urn.rsplit("::", 1)[-1], custom=True, remote=False, parent="", inputs=inputs
        )
        known = "create" if operation == "update" else operation
        return latencies.seconds(registration, known, self.seed) * self.scale
