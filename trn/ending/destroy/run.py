"""The steps of a destroy: drain, then `pulumi destroy` until it succeeds or another try would be wrong."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from trn.aws.api import Api
from trn.aws.cluster_identity import ClusterIdentity
from trn.aws.control_plane import described
from trn.aws.leftovers import Found
from trn.change.cluster import cluster_of
from trn.cli.errors import CommandError, OwnershipError
from trn.cli.watching import Watching
from trn.ending.drain.plan import DrainPlan, Step, Target, plan_drain
from trn.ending.drain.run import Drain
from trn.ending.sweep.run import Outcome
from trn.engine.recovery import Attempt, first, following
from trn.kubernetes.client import Kubernetes

Runner = Callable[[tuple[str, ...], dict[str, str]], tuple[int, str]]
"""Runs a command with additional environment variables; returns its exit code and what it printed."""


@dataclass
class Report:
    """How it went."""

    identity: ClusterIdentity = field(default_factory=ClusterIdentity)
    began: bool = False
    """The lock was taken: what follows may have been done."""
    drained: bool = False
    undrained: list[Target] = field(default_factory=list)
    """What was there at the drain's last look."""
    drain_ended: str = ""
    """What ended the drain before its time: then it is not known what runs in the cluster."""
    unseen: dict[str, str] = field(default_factory=dict)
    """Kinds of objects of which it was not known, before the question, what there is."""
    tries: int = 0
    destroyed: bool = False
    cleared: list[Found] = field(default_factory=list)
    """What was deleted between two tries, as Pulumi's resources hung on it."""
    outcome: Outcome | None = None
    kept: list[tuple[Found, str]] = field(default_factory=list)
    """What the sweep leaves alone, with the reason."""

    @property
    def unconfirmed(self) -> list[Target]:
        """What appeared in the cluster after the question, and would go with it."""
        return [target for target in self.undrained if target.is_new]

    @property
    def is_clean(self) -> bool:
        """Whether nothing is left, neither in the state nor in the account."""
        return self.destroyed and self.outcome is not None and not self.outcome.left


@dataclass(frozen=True)
class Busy:
    """A cluster with an API server, and what a drain of it would do."""

    kubernetes: Kubernetes | None
    """None where it does not answer, or does not know the caller: then the plan says that nothing is known."""
    plan: DrainPlan


NOTHING_INSIDE = frozenset({"", "CREATING", "FAILED", "DELETING"})
"""EKS's words for a cluster in which nothing can run: empty where EKS was asked and has none of the name."""


def status_of(api: Api, cluster: str) -> str:
    """EKS's word for the cluster; empty where EKS says that there is none. Raises what botocore raises: an error is no answer."""
    return str((described(api, cluster) or {}).get("status", ""))


def look_inside(api: Api, cluster: str, tell: Callable[[str], None]) -> Busy | None:
    """What is to be drained, None where there is nothing. Reads only. What cannot be seen is said in the plan."""
    status = status_of(api, cluster)
    if status in NOTHING_INSIDE:
        tell(f"the cluster is {status}: nothing runs in it" if status else "there is no cluster to drain, going on")
        return None
    try:
        kubernetes = cluster_of(api, cluster)
        return Busy(kubernetes, plan_drain(kubernetes))
    except CommandError as error:
        return Busy(None, DrainPlan((), unknown={"everything": str(error.args[0])}))


def drain(busy: Busy, report: Report, watching: Watching, check: Callable[[], None], agree: Callable[[tuple[Step, ...]], bool]) -> None:
    """Do what was confirmed. What the last look saw is in the report, however the drain ends."""
    if busy.kubernetes is None:
        return
    try:
        Drain(busy.kubernetes, watching.pause, watching.tell, check=check, agree=agree, left=report.undrained).run(busy.plan)
        report.drained = not report.undrained
    except OwnershipError:
        raise
    except CommandError as error:
        report.drain_ended = str(error.args[0])
        watching.tell(f"the drain ended: {report.drain_ended}")


def pulumi_destroy(
    stack: str, runner: Runner, tell: Callable[[str], None], status: Callable[[], str], report: Report,
    clear: Callable[[], None] = lambda: None, check: Callable[[], None] = lambda: None,
) -> None:  # fmt: skip
    """Tries until one succeeds; the report takes their number, and whether the stack is destroyed.

    `status`: EKS's word for the cluster, empty where EKS says that there is none. `clear` is called before each further try: it
    deletes what Pulumi does not know and its resources hang on. `check` is called right before each run of Pulumi, and raises where
    it would delete more than was confirmed. Raises CommandError where another try would be wrong.
    """
    tried: list[Attempt] = []
    attempt: Attempt | None = first(stack)
    while attempt is not None:
        tried.append(attempt)
        report.tries = len(tried)
        if attempt.why:
            tell(f"try {len(tried)}: {attempt.why}")
            clear()
        code, printed = 0, ""
        for command in attempt.commands:
            check()
            code, printed = runner(command, dict(attempt.environment))
            if code:
                break
        report.destroyed = code == 0
        attempt = None if report.destroyed else following(stack, printed, tried, status)


def as_data(report: Report, ended: str = "") -> dict[str, Any]:
    """The same for `--json`. `ended`: what ended the command before its time."""
    outcome = report.outcome
    return {
        "ended": ended,
        "identity": report.identity.as_data(),
        "drained": report.drained,
        "undrained": [str(target) for target in report.undrained],
        "unconfirmed": [str(target) for target in report.unconfirmed],
        "drainEnded": report.drain_ended,
        "unknown": report.unseen,
        "tries": report.tries,
        "destroyed": report.destroyed,
        "swept": [f"{item.kind} {item.id}" for item in (*report.cleared, *(outcome.deleted if outcome else ()))],
        "kept": [{"kind": item.kind, "id": item.id, "why": why} for item, why in report.kept],
        "left": [{"kind": item.kind, "id": item.id, "said": said} for item, said in outcome.left] if outcome else [],
    }


def report_lines(report: Report, stack: str) -> list[str]:
    """The final report."""
    tries = "" if report.tries == 1 else f" at try {report.tries}"
    lines = [
        "drain    " + ("idle" if report.drained else f"{len(report.undrained)} objects stayed" if report.undrained else "left out"),
        "destroy  " + (f"done{tries}" if report.destroyed else f"failed after {report.tries} tries; what it printed last says why"),
    ]
    if report.drain_ended and not report.tries:
        lines[0] = f"drain    ended: {report.drain_ended}"
        lines[1] = "destroy  not begun: it is not known what runs in the cluster"
    elif not report.tries:
        lines[1] = "destroy  not begun"
    if report.unconfirmed:
        lines[1] = f"destroy  not begun: {len(report.unconfirmed)} objects appeared in the cluster after the question, and would go with it"
        lines += [f"new      {target}" for target in report.unconfirmed]
    if report.outcome is not None:
        lines.append(f"sweep    {len(report.cleared) + len(report.outcome.deleted)} deleted, {len(report.outcome.left)} left")
        lines += [f"kept     {item.kind} {item.id}: {why}" for item, why in report.kept]
        lines += [f"left     {item.kind} {item.id}: {said}" for item, said in report.outcome.left]
    return lines if report.is_clean else [*lines, f"next     trn destroy {stack}: it may be run again"]
