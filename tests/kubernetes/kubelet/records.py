"""What is known of a pod's containers at a moment: the only thing that decisions and the status in the API are made from."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tests.kubernetes.kubelet.pods import Kind, Object, containers


@dataclass(frozen=True)
class Waiting:
    """Not started, or to be started again."""

    reason: str
    message: str = ""


@dataclass(frozen=True)
class Running:
    """Its process runs. Times are seconds since 1970."""

    started_at_s: float


@dataclass(frozen=True)
class Terminated:
    """Its process ended; 128 + n for one that signal n ended."""

    exit_code: int
    started_at_s: float
    finished_at_s: float
    reason: str = ""
    message: str = ""


@dataclass(frozen=True)
class ContainerRecord:
    """One container over all its attempts."""

    name: str
    kind: Kind
    policy: str
    """When its end is followed by another start: `Always`, `OnFailure` or `Never`."""
    state: Waiting | Running | Terminated
    last: Terminated | None = None
    """How the attempt before this one ended."""
    restarts: int = 0
    crashes: int = 0
    """Ends since the last long run: what the back-off grows with."""
    started: bool = False
    """It runs, and its startup probe, if it has one, has passed."""
    ready: bool = False
    stopping: bool = False
    """Asked to end; not to be asked again."""
    container_id: str = ""

    @property
    def ended(self) -> Terminated | None:
        """How its last process ended, None while one runs or where none ever did."""
        if isinstance(self.state, Terminated):
            return self.state
        return self.last if isinstance(self.state, Waiting) else None

    @property
    def runs(self) -> bool:
        """Has a process now."""
        return isinstance(self.state, Running)

    def waits(self, reason: str, message: str = "") -> "ContainerRecord":
        """The same container, waiting for this reason; how it ended before is kept."""
        return replace(self, state=Waiting(reason, message), last=self.ended or self.last, started=False, ready=False)


Records = Mapping[str, ContainerRecord]


def new_records(pod: Object) -> dict[str, ContainerRecord]:
    """Every container of a pod that has not been started: they wait for the pod's own initialisation if it has any."""
    found = containers(pod)
    waits = Waiting("PodInitializing" if any(kind != "main" for kind, _ in found) else "ContainerCreating")
    return {container["name"]: ContainerRecord(container["name"], kind, container_policy(pod, kind), waits) for kind, container in found}


def container_policy(pod: Object, kind: Kind) -> str:
    """The policy of one container: an init container never runs again once it has succeeded, a sidecar always does."""
    policy = pod["spec"].get("restartPolicy") or "Always"
    if kind == "sidecar":
        return "Always"
    return "OnFailure" if kind == "init" and policy == "Always" else policy
