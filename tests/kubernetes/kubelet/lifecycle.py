"""What to do next for a pod: which containers to start or stop, what waits, when to look again, and how the pod ends. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.kubernetes.kubelet.backoff import BackOff
from tests.kubernetes.kubelet.pods import Object
from tests.kubernetes.kubelet.records import ContainerRecord, Records, Terminated, Waiting


@dataclass(frozen=True)
class Ending:
    """The whole pod is to end: deleted, over its deadline, refused by its node, or done."""

    grace_s: float
    phase: str | None = None
    """The phase that it gets whatever its containers say; None leaves it to them."""
    reason: str = ""
    message: str = ""


@dataclass(frozen=True)
class Plan:
    """What is to be done now."""

    start: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    wait: Mapping[str, Waiting] = field(default_factory=dict)
    wake_at_s: float | None = None
    """When to look again though nothing happens; seconds since 1970."""
    over: bool = False
    """Nothing runs and nothing will: the status is the last one."""


def deadline_s(pod: Object, started_at_s: float) -> float | None:
    """When `activeDeadlineSeconds` ends the pod; None without one."""
    limit = pod["spec"].get("activeDeadlineSeconds")
    return started_at_s + limit if limit is not None else None


def deadline_ending(grace_s: float) -> Ending:
    """How a pod ends that was active for longer than it may."""
    return Ending(grace_s, "Failed", "DeadlineExceeded", "Pod was active on the node longer than the specified deadline")


def plan(records: Records, title: str, now_s: float, back_off: BackOff, ending: Ending | None = None) -> Plan:
    """The next steps. `records` are in the order of the pod's object, init containers first; `title` is `name_namespace(uid)`."""
    if ending:
        return _end(records)
    mains = [each for each in records.values() if each.kind == "main"]
    # First, so that a sidecar that was stopped for this is not kept running.
    if all(_is_done(each) for each in mains) or any(_failed_for_good(each) for each in records.values()):
        return _end(records)
    steps = _Steps(title, now_s, back_off)
    for record in (each for each in records.values() if each.kind != "main"):
        if record.kind == "sidecar":
            # Sidecars are kept running, also while later ones wait.
            steps.keep(record)
            if not record.started:
                return steps.plan()
        elif not (isinstance(record.state, Terminated) and record.state.exit_code == 0):
            steps.keep(record)
            return steps.plan()
    for record in mains:
        steps.keep(record)
    return steps.plan()


class _Steps:
    """Collects starts, waits and the next time to look."""

    def __init__(self, title: str, now_s: float, back_off: BackOff) -> None:
        self._title, self._now_s, self._back_off = title, now_s, back_off
        self._start: list[str] = []
        self._wait: dict[str, Waiting] = {}
        self._wake: list[float] = []

    def keep(self, record: ContainerRecord) -> None:
        """Start a container that is to run and does not, now or after its back-off."""
        if record.runs or _is_done(record):
            return
        ended = record.ended
        if ended is None:
            self._start.append(record.name)
            return
        delay_s = self._back_off.delay_s(record.crashes)
        if self._now_s >= ended.finished_at_s + delay_s:
            self._start.append(record.name)
            return
        self._wake.append(ended.finished_at_s + delay_s)
        shown = int(delay_s) if delay_s == int(delay_s) else delay_s
        self._wait[record.name] = Waiting(
            "CrashLoopBackOff", f"back-off {shown}s restarting failed container={record.name} pod={self._title}"
        )

    def plan(self) -> Plan:
        """What was collected."""
        return Plan(tuple(self._start), (), self._wait, min(self._wake, default=None))


def _is_done(record: ContainerRecord) -> bool:
    """It ended, and its policy does not want it again."""
    ended = record.ended
    if ended is None or record.policy == "Always":
        return False
    return record.policy == "Never" or ended.exit_code == 0


def _failed_for_good(record: ContainerRecord) -> bool:
    """An init container that may not be tried again."""
    return record.kind == "init" and record.policy == "Never" and record.ended is not None and record.ended.exit_code != 0


def _end(records: Records) -> Plan:
    """Stop main and init containers together, then sidecars, the last one first (Sidecar Containers, pod termination)."""
    others = [each for each in records.values() if each.runs and each.kind != "sidecar"]
    if others:
        return Plan(stop=tuple(each.name for each in others if not each.stopping))
    sidecars = [each for each in records.values() if each.runs and each.kind == "sidecar"]
    if sidecars:
        return Plan(stop=() if sidecars[-1].stopping else (sidecars[-1].name,))
    return Plan(over=True)
