"""Carries a drain out, and waits until what it deleted is gone."""

from collections.abc import Callable
from dataclasses import dataclass

from operations.cluster.drain.plan import DrainPlan, Step, Target, plan_drain
from operations.errors import CommandError
from operations.kube.api import Kubernetes, Unreachable

ROUNDS, PAUSE_S = 60, 10
"""Together 10 minutes: what Karpenter needs to take instances away, with room."""
PATIENCE = 30
"""Rounds after which nodes go although something else has stayed: it may stay for ever, and they bill."""


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

    def run(self, plan: DrainPlan) -> tuple[Target, ...]:
        """Close, empty, delete, wait; returns what is still there. A second run continues where the first was stopped."""
        asked, shown, seen = set[str](), set[str](), set[str]()
        for number in range(ROUNDS):
            self.check()
            seen |= {step.key for step in plan.steps}
            self.show(len(seen) - len(plan.steps), len(seen))
            others = any(not step.kind.last and step.kind.verb != "wait for" for step in plan.steps)
            for step in plan.steps:
                # Once each: an object with a finalizer is there for a while after it was deleted.
                if step.key not in asked and not (step.kind.last and others and number < PATIENCE):
                    said = self._act(step)
                    if not said:
                        asked.add(step.key)
                    elif said not in shown:
                        shown.add(said)
                        self.tell(said)
            plan = plan_drain(self.kubernetes)
            if not plan.steps:
                break
            self.pause(PAUSE_S)
        return tuple(step.target for step in plan.steps)

    def _act(self, step: Step) -> str:
        """What the API server said, empty for consent. What it refuses, for want of a webhook say, is tried again in the next round.

        Raises Unreachable where it does not answer, or refuses access.
        """
        try:
            step.kind.act(self.kubernetes, step.item)
        except Unreachable:
            raise
        except CommandError as error:
            return f"cannot {step.kind.verb} {step.target} yet: {error.args[0]}"
        if step.kind.verb != "wait for":
            self.tell(f"{_DOING[step.kind.verb]} {step.target}")
        return ""


_DOING = {"close": "closing", "empty": "emptying", "delete": "deleting"}
