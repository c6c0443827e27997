"""States of a job, the same words for every launcher."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class Phase(StrEnum):
    """What a job is doing, by the status of the object that was submitted."""

    WAITING = "waiting"
    """Not all of its pods are there: no room, a closed queue, a quota."""
    RUNNING = "running"
    RESTARTING = "restarting"
    """Its pods are stopped, to start again from the newest checkpoint."""
    STOPPING = "stopping"
    """Its pods are asked to stop; none will start again."""
    STOPPED = "stopped"
    """Suspended or aborted: it holds nothing, and can be resumed."""
    SUCCEEDED = "succeeded"
    FAILED = "failed"

    @property
    def is_over(self) -> bool:
        """Whether it will do nothing more by itself."""
        return self in (Phase.SUCCEEDED, Phase.FAILED, Phase.STOPPED)


def by_condition(status: Mapping[str, Any], states: Mapping[str, Phase]) -> Phase | None:
    """State of an object by its conditions: of the first in `states` that is met; None where none is."""
    met = {item["type"] for item in status.get("conditions") or () if item.get("status") == "True"}
    return next((phase for kind, phase in states.items() if kind in met), None)
