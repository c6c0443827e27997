"""States of a job, the same words for every launcher."""

from enum import StrEnum


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
