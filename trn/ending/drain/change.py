"""A drain of a stack's cluster, as a change."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from facts.kubernetes_kinds import DrainStage
from trn.aws.cluster_identity import ClusterIdentity
from trn.change.action import NOT_CONFIRMED, Action, Difference, Hold, Outcome, Pace, Question, Refusal
from trn.change.hold import cluster_lock
from trn.change.identity import Kube
from trn.change.known import Unknown, known, unknowns
from trn.change.report import ChangeDocument, EndedEntry, Report, entry
from trn.change.whose import Site, Whose
from trn.cli.errors import CommandError
from trn.ending.drain.plan import DrainPlan, Step, plan_drain
from trn.kubernetes.client import Forbidden, Kubernetes, Unreachable

ROUNDS, PAUSE_S = 60, 10
"""Together 10 minutes: what Karpenter needs to take instances away, with room."""
PATIENCE = 30
"""Rounds after which nodes go although something else has stayed: it may stay for ever, and they bill."""
UNTOUCHED = Outcome("held", ("nothing was done to it",))
_DOING = {"close": "closing", "empty": "emptying", "delete": "deleting", "wait for": "waiting for"}


class LeftInside(EndedEntry, frozen=True):
    """What stays in the cluster."""

    object: str
    """Kind and name."""
    finalizers: tuple[str, ...]
    is_new: bool
    """Whether it appeared after the plan was confirmed."""


class DrainReport(ChangeDocument, frozen=True):
    """What `trn drain` did."""

    schema_: Literal["trn-drain"] = "trn-drain"
    left: tuple[LeftInside, ...] = ()
    closed: tuple[str, ...] | None = None
    """Queues, as KIND NAME; so are those below."""
    emptied: tuple[str, ...] | None = None
    deleted: tuple[str, ...] | None = None
    missing: tuple[str, ...] | None = None
    """Add-ons that are not installed."""


@dataclass(frozen=True)
class Inside:
    """A cluster from inside."""

    cluster: str
    identity: ClusterIdentity
    kubernetes: Kubernetes | None = field(compare=False)
    """None where it could not be reached: then nothing of the plan is known."""
    plan: DrainPlan | Unknown
    unlisted: tuple[Unknown, ...] = ()
    """Kinds of which it is not known what there is."""

    @property
    def known(self) -> DrainPlan:
        """What is known of the plan."""
        return DrainPlan(()) if isinstance(self.plan, Unknown) else self.plan


def look_inside(kubernetes: Kubernetes, whose: Whose) -> Inside:
    """What a drain would do there now."""
    plan = known("what runs in the cluster", lambda: plan_drain(kubernetes))
    unlisted = () if isinstance(plan, Unknown) else tuple(Unknown(f"which {kind}s there are", said) for kind, said in plan.unknown.items())
    return Inside(whose.cluster, whose.ownership.identity, kubernetes, plan, unlisted)


@dataclass(frozen=True)
class Drain:
    """Close queues, empty Slurm's nodes, delete what users started, and wait until it is gone."""

    stack: str
    told: set[str] = field(default_factory=set, compare=False)
    """What the API server refuses for a while, each once."""
    document = DrainReport
    pace = Pace(ROUNDS, PAUSE_S, patience=(PATIENCE,))

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"drain {self.stack}"

    def hold(self, site: Site, whose: Whose) -> Hold:
        """The cluster's lock."""
        return cluster_lock(self.name, site, whose)

    def look(self, site: Site, whose: Whose) -> Inside:
        """Everything that a drain acts on."""
        return look_inside(site.kubernetes(), whose)

    def refusals(self, _: Inside) -> tuple[Refusal, ...]:
        """Whatever is there may be drained."""
        return ()

    def actions(self, seen: Inside) -> list[Action]:
        """One for each object; nodes go when all else is gone."""
        return [self._action(seen.kubernetes, step) for step in seen.known.steps]

    def _action(self, kubernetes: Kubernetes | None, step: Step) -> Action:
        verb, target, is_change = step.kind.verb, step.target, step.kind.verb != "wait for"

        def do(site: Site, _: Kube) -> Outcome:
            assert kubernetes is not None
            try:
                step.kind.act(kubernetes, step.item)
            except CommandError as error:
                if isinstance(error, Unreachable) and not isinstance(error, Forbidden):
                    raise
                self._tell_once(site, f"cannot {verb} {target} yet: {error.args[0]}")
                return Outcome("held", (str(error.args[0]),))
            except KeyboardInterrupt:
                site.tell(f"stopped while {_DOING[verb]} {target}: it may be done")
                raise
            if is_change:
                site.tell(f"{_DOING[verb]} {target}")
            return Outcome("going")

        which = Kube(target.resource.kind, target.place, step.uid)
        return Action(
            verb, which, step.kind.why, do, int(step.kind.drained.stage == DrainStage.NODES), lambda other: other.object.which in step.owner_uids, is_change
        )  # fmt: skip

    def _tell_once(self, site: Site, line: str) -> None:
        if line not in self.told:
            self.told.add(line)
            site.tell(line)

    def question(self, seen: Inside) -> Question | None:
        """What would be done, by numbers; nothing is asked where it only waits."""
        identity, counts = seen.identity, seen.known.counts
        return Question(f"Go on in {seen.cluster} in {identity.region}, account {identity.account}: {counts}?") if counts else None

    def shown(self, seen: Inside) -> Iterator[str]:
        """What would be done to which object, and which add-ons are not there."""
        if seen.known.missing:
            yield f"not installed in {seen.cluster}, going on without: {', '.join(seen.known.missing)}"
        for step in seen.known.steps:
            yield f"  {step.kind.verb} {step.target}: {step.kind.why}"

    def differences(self, _shown: Inside, _now: Inside) -> tuple[Difference, ...]:
        """None but the actions themselves."""
        return ()

    def result(self, seen: Inside, report: Report) -> Iterator[str]:
        """What stays, or that the cluster is idle."""
        left = self._left(seen, report)
        for action, outcome, step in left:
            yield f"left {action.object.kind} {action.object.name}: {_why(action, outcome, step, report)}"
        unseen = list(unknowns(seen))
        yield from map(str, unseen)
        idle = "drained as far as it was seen" if unseen else "drained: the cluster is idle"
        yield f"{len(left)} left: run it again" if left else idle

    def data(self, seen: Inside, report: Report) -> dict[str, Any]:
        """For `--json`: what was done, and what was there at the last look."""
        done = {verb: [f"{action.object.kind} {action.object.name}" for action, _ in report.done if action.verb == verb] for verb in _DOING}
        left = [
            {
                **entry(action, outcome), "object": f"{action.object.kind} {action.object.name}", "finalizers": _finalizers(step),
                "is_new": outcome == NOT_CONFIRMED,
            }
            for action, outcome, step in self._left(seen, report)
        ]  # fmt: skip
        return {
            "closed": done["close"], "emptied": done["empty"], "deleted": done["delete"], "left": left, "missing": list(seen.known.missing),
        }  # fmt: skip

    def _left(self, seen: Inside, report: Report) -> list[tuple[Action, Outcome, Step | None]]:
        """What the last look saw, in its order, and what is not known to be gone."""
        there = list(zip(self.actions(seen), seen.known.steps, strict=True))
        unseen = [(action, outcome, None) for action, outcome in report.left if not any(action.is_within(each) for each, _ in there)]
        return [*((action, report.outcome(action) or UNTOUCHED, step) for action, step in there), *unseen]


def _finalizers(step: Step | None) -> list[str]:
    return list(step.target.finalizers) if step else []


def _why(action: Action, outcome: Outcome, step: Step | None, report: Report) -> str:
    """Why it is still there."""
    if outcome == NOT_CONFIRMED:
        return "it appeared after the plan was confirmed, and was left alone"
    if finalizers := _finalizers(step):
        return f"finalizer {', '.join(finalizers)}; `kubectl describe` says more"
    if any(kept == NOT_CONFIRMED and each.phase < action.phase for each, kept in report.outcomes):
        return "what appeared after the plan was confirmed may run on its nodes"
    said = "; ".join(outcome.said) if outcome.kind == "held" else "its controller has not answered"
    return f"{said}; `kubectl describe` says more"
