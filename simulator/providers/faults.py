"""Faults that the real engine can be made to meet, by flag.

Each run of the engine has its own: counts start afresh.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from simulator.faults_syntax import FaultRequest, FaultSyntaxError
from simulator.world import Refusal

CREATE_FAILS, WEBHOOK_NOT_READY, NO_CAPACITY, KILL_PROVIDER = "create-fails", "webhook-not-ready", "no-capacity", "kill-provider"

NAMES: Mapping[str, str] = {
    CREATE_FAILS: "creating the resource is refused, and nothing is made",
    WEBHOOK_NOT_READY: "creating the object meets Volcano's webhook before it answers",
    NO_CAPACITY: "the node group is made, finds no instances, and stays as CREATE_FAILED",
    KILL_PROVIDER: "the provider process dies while the resource is being made",
}
"""Fault to what happens. All take `@RESOURCE`, a logical name; without `:TIMES` they happen once."""

NO_CAPACITY_S = 1_980
"""How long a node group tries before it gives up: 33 minutes (awslabs/data-on-eks and others, public logs;
aws/containers-roadmap#2204)."""

_WEBHOOK = (
    'failed calling webhook "mutatequeue.volcano.sh": failed to call webhook: Post'
    ' "https://volcano-admission-service.volcano-system.svc:443/queues/mutate?timeout=10s": no endpoints available for service'
    ' "volcano-admission-service"'
)
"""As the API server of Kubernetes 1.35 words it."""


@dataclass
class Faults:
    """What is still to happen: (fault, logical name) to how often. Mutable: each meeting takes one away."""

    left: dict[tuple[str, str], int] = field(default_factory=dict)
    told: Callable[[str, str], None] = lambda fault, urn: None
    """Called with `FAULT@RESOURCE` and the URN of the resource that met it."""

    @classmethod
    def of(cls, requests: Iterable[FaultRequest]) -> "Faults":
        """Faults from requests.

        Raises FaultSyntaxError for a fault that there is not, or that lacks its resource.
        """
        left: dict[tuple[str, str], int] = {}
        for request in requests:
            if request.name not in NAMES:
                close = difflib.get_close_matches(request.name, NAMES, n=1)
                wrong = f"unknown fault `{request.name}`" + (f"; did you mean `{close[0]}`?" if close else "")
                raise FaultSyntaxError(f"{wrong}\n  allowed: {', '.join(NAMES)}", "`trn engine --help` says what each does")
            if request.resource is None:
                raise FaultSyntaxError(
                    f"the fault `{request}` names no resource\n  allowed: {request.name}@RESOURCE",
                    "take a logical name, such as `trn1-32xl`; `trn engine -- stack --show-urns` lists them once they are there",
                )
            key = (request.name, request.resource)
            left[key] = left.get(key, 0) + (request.count or 1)
        return cls(left)

    def expect(self, fault: str, urn: str) -> bool:
        """Whether this fault is still to happen to this resource."""
        return self._asked_for(fault, urn) is not None

    def met(self, fault: str, urn: str) -> bool:
        """Whether this fault happens to this resource at this moment."""
        resource = self._asked_for(fault, urn)
        if resource is None:
            return False
        self.left[fault, resource] -= 1
        self.told(f"{fault}@{resource}", urn)
        return True

    def _asked_for(self, fault: str, urn: str) -> str | None:
        name, kind = urn.rsplit("::", 1)[-1], urn.split("::")[2].rsplit(":", 1)[-1]
        # A node group and its launch template share a name: `NodeGroup/NAME` tells them apart.
        return next((resource for resource in (name, f"{kind}/{name}") if self.left.get((fault, resource))), None)


def refusal_at_start(urn: str) -> Refusal:
    """Ours, and says so: no service words it like that."""
    name = urn.rsplit("::", 1)[-1]
    return Refusal("InternalFailure", f"{name} was not made: asked for with --fault {CREATE_FAILS}@{name}")


def webhook_refusal() -> Refusal:
    """The API server's own words."""
    return Refusal("InternalError", f"Internal error occurred: {_WEBHOOK}")


def no_capacity(inputs: Mapping[str, Any]) -> Refusal:
    """A node group's end without instances.

    Source: EKS API, Issue.code AsgInstanceLaunchFailures; text as in aws/containers-roadmap#2204.
    """
    types = inputs.get("instanceTypes") or ["these"]
    return Refusal(
        "CREATE_FAILED",
        "AsgInstanceLaunchFailures: Could not launch On-Demand Instances. InsufficientInstanceCapacity - We currently do not have"
        f" sufficient {types[0]} capacity in the Availability Zone you requested. Our system will be working on provisioning additional"
        " capacity. Launching EC2 instance failed.",
    )
