"""Carries a drain out, and waits until what it deleted is gone."""

from collections.abc import Callable
from dataclasses import dataclass

from operations.drain.plan import COMMANDS, DrainPlan, Target, close_command, plan_drain
from operations.kube.api import Kubernetes

ROUNDS, PAUSE_S = 60, 10
"""Together 10 minutes: what Karpenter needs to take instances away, with room."""


@dataclass(frozen=True)
class Drain:
    """One drain, with how to pass the time."""

    kubernetes: Kubernetes
    pause: Callable[[float], None]
    tell: Callable[[str], None]

    def run(self, plan: DrainPlan) -> tuple[Target, ...]:
        """Close, delete, wait; returns what is still there. A second run goes on where the first was stopped."""
        for queue in plan.queues:
            self.kubernetes.create(COMMANDS, "default", close_command(queue))
            self.tell(f"closing queue {queue['metadata']['name']}")
        asked: set[Target] = set()
        for _ in range(ROUNDS):
            for target in plan.deletions:
                # Once each: an object with a finalizer is there for a while after it was deleted.
                if target not in asked:
                    self.kubernetes.delete(target.resource, target.name, target.namespace)
                    self.tell(f"deleting {target}")
                    asked.add(target)
            plan = plan_drain(self.kubernetes)
            if not plan.deletions and not plan.waited_for:
                return ()
            self.pause(PAUSE_S)
        return (*plan.deletions, *plan.waited_for)
