"""Carries a drain out, and waits until what it deleted is gone."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace

from trn.change.ownership import Consent
from trn.cli.errors import CommandError
from trn.ending.drain.change import PATIENCE, PAUSE_S, ROUNDS
from trn.ending.drain.plan import DrainPlan, Step, Target, plan_drain, refuse_unknown
from trn.kubernetes.client import Forbidden, Kubernetes, Unreachable


@dataclass(frozen=True)
class Drain:
    """One drain, with how to pass the time."""

    kubernetes: Kubernetes
    pause: Callable[[float], None]
    tell: Callable[[str], None]
    show: Callable[[int, int], None] = lambda gone, seen: None
    """Called with the number of finished objects and the number of all that were seen."""
    check: Callable[[], None] = lambda: None
    """Called before each round; raises where the cluster is another one by now, or the lock is lost."""
    agree: Callable[[tuple[Step, ...]], bool] = lambda steps: False
    """Asked about what appeared since the plan was confirmed."""
    left: list[Target] = field(default_factory=list)
    """What was there at the last look: known however the drain ends."""

    def run(self, plan: DrainPlan) -> tuple[Target, ...]:
        """Close, empty and delete what was confirmed, and wait; returns what is still there. A second run continues where the first
        was stopped.

        What appears meanwhile and is not agreed to stays, and the nodes that it may run on stay with it. Raises CommandError where a
        look fails: what was there before it is in `left`.
        """
        confirmed, unconfirmed = plan, set[str]()
        # While the question stood, and the lock was waited for, a job may have been started.
        plan = self._look(confirmed, unconfirmed)
        asked, shown, seen = set[str](), set[str](), set[str]()
        for number in range(ROUNDS):
            self.check()
            confirmed = self._with_new(plan, confirmed, unconfirmed)
            seen |= {step.key for step in plan.steps}
            self.show(len(seen) - len(plan.steps), len(seen))
            others = any(not step.kind.last and step.kind.verb != "wait for" for step in plan.steps)
            holds_nodes = _holds_nodes(plan, unconfirmed)
            for step in plan.steps:
                waits = step.kind.last and (holds_nodes or (others and number < PATIENCE))
                # Once each: an object with a finalizer is there for a while after it was deleted.
                if step.key not in asked | unconfirmed and not waits:
                    said = self._act(step)
                    if not said:
                        asked.add(step.key)
                    elif said not in shown:
                        shown.add(said)
                        self.tell(said)
            plan = self._look(confirmed, unconfirmed)
            if all(_ends(step, unconfirmed, holds_nodes=_holds_nodes(plan, unconfirmed)) for step in plan.steps):
                break
            self.pause(PAUSE_S)
        return tuple(self.left)

    def _look(self, confirmed: DrainPlan, unconfirmed: Collection[str]) -> DrainPlan:
        plan = plan_drain(self.kubernetes)
        new = {step.key for step in plan.new_since(confirmed)}.union(unconfirmed)
        self.left[:] = [replace(step.target, is_new=step.key in new) for step in plan.steps]
        refuse_unknown(plan, confirmed)
        return plan

    def _with_new(self, plan: DrainPlan, confirmed: DrainPlan, unconfirmed: set[str]) -> DrainPlan:
        """What is confirmed by now; what is not is added to `unconfirmed`."""
        new = tuple(step for step in plan.new_since(confirmed) if step.key not in unconfirmed)
        if new and self.agree(new):
            return replace(confirmed, steps=(*confirmed.steps, *new))
        unconfirmed |= {step.key for step in new}
        return confirmed

    def _act(self, step: Step) -> str:
        """What the API server said, empty for consent. What it refuses, for want of a webhook say, is tried again in the next round.

        Raises Unreachable where it does not answer, or does not know the caller.
        """
        try:
            step.kind.act(self.kubernetes, step.item)
        except CommandError as error:
            if isinstance(error, Unreachable) and not isinstance(error, Forbidden):
                raise
            return f"cannot {step.kind.verb} {step.target} yet: {error.args[0]}"
        except KeyboardInterrupt:
            self.tell(f"stopped while {_DOING[step.kind.verb]} {step.target}: it may be done")
            raise
        if step.kind.verb != "wait for":
            self.tell(f"{_DOING[step.kind.verb]} {step.target}")
        return ""


def _holds_nodes(plan: DrainPlan, unconfirmed: Collection[str]) -> bool:
    """Whether something that was not confirmed may run on the nodes."""
    return any(not step.kind.last and step.key in unconfirmed for step in plan.steps)


def _ends(step: Step, unconfirmed: Collection[str], *, holds_nodes: bool) -> bool:
    """Whether there is nothing to wait for: it was not confirmed, or it is a node that what was not confirmed may run on."""
    return step.key in unconfirmed or (bool(unconfirmed) and step.kind.verb == "wait for") or (holds_nodes and step.kind.last)


_DOING = {"close": "closing", "empty": "emptying", "delete": "deleting", "wait for": "waiting for"}


def asking(consent: Consent, tell: Callable[[str], None]) -> Callable[[tuple[Step, ...]], bool]:
    """How what appears during a drain is asked about; with `--yes` it stays and is reported."""

    def agree(new: tuple[Step, ...]) -> bool:
        for step in new:
            tell(f"new since the plan was confirmed: {step.kind.verb} {step.target}: {step.kind.why}")
        return not consent.yes and consent.ask(f"{DrainPlan(new).counts.capitalize()} as well?")

    return agree
