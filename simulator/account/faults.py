"""What may go wrong though the program is right: capacity, quotas, throttling, propagation, webhooks, lost nodes, kills.

Each fault strikes a number of times and is over then: a run that fails because of it converges when it is run again.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from typing import Literal

from facts.typed import made_again, typed
from simulator.account import kinds
from simulator.account.rule import Refusal, Stage
from simulator.account.timeouts import ADDON_S, CAPACITY_S, HELM_S
from simulator.faults_syntax import FaultRequest, FaultSyntaxError
from simulator.recording import Registration

When = Literal["create", "settle", "delete", "kill", "provider", "training", "after"]
"""The stage of a rule; a kill of the run; an incident of the training that runs when the cluster is up; or what users left
in the cluster before it is destroyed."""


@dataclass(frozen=True)
class FaultKind:
    """One fault that can be asked for by name."""

    name: str
    sentence: str
    source: str
    when: When
    types: tuple[str, ...]
    """Type tokens that it can strike; one that ends in `*` matches all that begin so."""
    refuse: Callable[[Registration], Refusal] | None = None
    """The refusal that it brings; None where it only delays, kills or happens."""
    delay_s: float = 0.0
    """Seconds that each strike adds to the operation."""
    needs_resource: bool = False
    """Whether it must be said which resource it strikes."""

    def can_strike(self, registration: Registration) -> bool:
        """Whether it may happen to a resource."""
        token = registration.type
        return registration.custom and any(token.startswith(kind[:-1]) if kind.endswith("*") else token == kind for kind in self.types)


@dataclass
class Fault:
    """A fault under way: what is left of it."""

    kind: FaultKind
    resource: str | None
    remaining: int
    held: set[str] = field(default_factory=set)
    """URNs of operations that it refuses at this moment."""

    def matches(self, registration: Registration) -> bool:
        """Whether it is meant for this resource: named by its logical name, with `*` where wanted, or any that it can strike."""
        if not self.kind.can_strike(registration):
            return False
        # A node group and its launch template share a name: `NodeGroup/NAME` names one of them.
        kind = registration.type.rsplit(":", 1)[-1]
        return self.resource is None or any(fnmatch(name, self.resource) for name in (registration.name, f"{kind}/{registration.name}"))

    def __str__(self) -> str:
        return f"{self.kind.name}@{self.resource}" if self.resource else self.kind.name


@dataclass
class Faults:
    """All faults of a run. Mutable: a fault that has struck is used up."""

    active: list[Fault] = field(default_factory=list)
    on_strike: Callable[[str, str], None] = lambda _fault, _urn: None
    """Called with a fault and the URN of the resource that it strikes."""

    @classmethod
    def of(cls, requests: Iterable[FaultRequest]) -> "Faults":
        """Faults as they were asked for.

        Raises FaultSyntaxError for a name that there is not, or a fault without the resource that it needs.
        """
        return cls([_asked(request) for request in requests])

    def need_targets(self, registrations: Iterable[Registration]) -> None:
        """Raises FaultSyntaxError for a fault whose resource is none of these: a slip in its name would rehearse fair weather."""
        known = list(registrations)
        for fault in self.active:
            if fault.resource is None or any(fault.matches(each) for each in known):
                continue
            names = {each.name: each for each in known if fault.kind.can_strike(each)}
            wanted = fault.resource.rpartition("/")[2]
            near = difflib.get_close_matches(wanted, names, n=3) or list(names)[:3]
            shown = ", ".join(f"{names[name].type.rsplit(':', 1)[-1]}/{name}" for name in near)
            raise FaultSyntaxError(
                f"`{fault}` strikes nothing: no resource of this stack that it can strike is called `{fault.resource}`",
                f"near: {shown}" if shown else f"this stack has nothing that `{fault.kind.name}` can strike",
            )

    def copy(self) -> "Faults":
        """The same faults, to be used up on their own."""
        return Faults([replace(fault, held=set(fault.held)) for fault in self.active], self.on_strike)

    def strike(self, stage: Stage, registration: Registration) -> Refusal | None:
        """The refusal by a fault that holds this operation; it holds until the operation ends."""
        for fault in self.active:
            if fault.kind.when != stage or fault.kind.refuse is None or not fault.matches(registration):
                continue
            if registration.urn not in fault.held:
                if fault.remaining == 0:
                    continue
                fault.remaining -= 1
                fault.held.add(registration.urn)
                self.on_strike(str(fault), registration.urn)
            return replace(fault.kind.refuse(registration), by_fault=True)
        return None

    def ended(self, registration: Registration) -> None:
        """An operation has ended, one way or the other: its next try meets what is left of the faults."""
        for fault in self.active:
            fault.held.discard(registration.urn)

    def delay_s(self, operation: str, registration: Registration) -> float:
        """Seconds that faults add to an operation; they are used up by it."""
        total = 0.0
        for fault in self.active:
            if fault.kind.delay_s and fault.remaining and operation == "create" and fault.matches(registration):
                total += fault.kind.delay_s * fault.remaining
                fault.remaining = 0
        return total

    def take(self, when: When, registration: Registration) -> FaultKind | None:
        """A fault of another sort that strikes this resource, used up by one."""
        for fault in self.active:
            if fault.kind.when == when and fault.remaining and fault.matches(registration):
                fault.remaining -= 1
                self.on_strike(str(fault), registration.urn)
                return fault.kind
        return None

    def unused(self) -> list[str]:
        """Faults that were asked for and never struck."""
        return [str(fault) for fault in self.active if fault.remaining]


def _asked(request: FaultRequest) -> Fault:
    kind = FAULTS.get(request.name)
    if kind is None:
        close = difflib.get_close_matches(request.name, FAULTS, n=1)
        wrong = f"there is no fault `{request.name}`" + (f"; did you mean `{close[0]}`?" if close else "")
        raise FaultSyntaxError(f"{wrong}\n  allowed: {', '.join(FAULTS)}", "`trn rehearse rules` says what each does")
    if kind.needs_resource and request.resource is None:
        raise FaultSyntaxError(f"`{request.name}` strikes one resource, and none is named", f"write `{request.name}@RESOURCE`")
    return Fault(kind, request.resource, request.count or 1)


def _launch(code: str, text: str, cause: str, fix: str) -> Callable[[Registration], Refusal]:
    def refuse(group: Registration) -> Refusal:
        shown = (
            f"unexpected state 'CREATE_FAILED', wanted target 'ACTIVE'. last error: AsgInstanceLaunchFailures:"
            f" Could not launch instances. {code} - {text}"
        )
        return Refusal(
            code,
            shown,
            cause.format(name=group.inputs["nodeGroupName"], size=group.inputs["scalingConfig"]["desiredSize"]),
            f"{fix}; then `{made_again(group.urn)}`, since EKS does not try again by itself",
            retry_s=CAPACITY_S,
            leaves="failed",
            remedy="replace",
            runs=False,
        )

    return refuse


def _degraded(addon: Registration) -> Refusal:
    return Refusal(
        "InsufficientNumberOfReplicas",
        f"waiting for EKS Add-On ({addon.id}) create: timeout while waiting for state to become 'ACTIVE' (last state: 'DEGRADED', timeout: 20m0s)",
        f"pods of {addon.inputs['addonName']} do not become ready",
        f"`kubectl describe pods -n kube-system` says why; then `{typed('pulumi up')}`",
        retry_s=ADDON_S,
        leaves="unready",
        remedy="again",
    )


def _webhook(registration: Registration) -> Refusal:
    return Refusal(
        "InternalError",
        'Internal error occurred: failed calling webhook: failed to call webhook: Post "https://volcano-admission-service.volcano-system.svc:443": '
        'no endpoints available for service "volcano-admission-service"',
        f"{registration.name} is guarded by a webhook whose Service has no endpoints yet",
        f"`{typed('pulumi up')}` again",
        remedy="again",
    )


def _pull_limit(release: Registration) -> Refusal:
    atomic = bool(release.inputs.get("atomic"))
    ending = ", and has been uninstalled due to atomic being set" if atomic else ""
    text = f"release {release.inputs.get('name')} failed{ending}: context deadline exceeded"
    return Refusal(
        "DeadlineExceeded",
        text if release.type == kinds.RELEASE else f"'{release.inputs['metadata']['name']}' timed out waiting to be Ready",
        "ImagePullBackOff: toomanyrequests: You have reached your unauthenticated pull rate limit",
        f"set `addons.volcano.imageRegistry` to a mirror of your own, or wait six hours; then `{typed('pulumi up')}`",
        retry_s=float(release.inputs.get("timeout") or HELM_S),
        leaves="nothing" if atomic else "unready",
        remedy="again",
    )


def _unreachable(registration: Registration) -> Refusal:
    return Refusal(
        "Unreachable",
        "configured Kubernetes cluster is unreachable: unable to load schema information from the API server: i/o timeout",
        "the API server does not answer at this moment",
        "check the way to the endpoint, `controlPlane.publicAccessCidrs`; then run the same command again",
        remedy="again",
    )


def _refused(registration: Registration) -> Refusal:
    return Refusal(
        "InternalFailure",
        f"{registration.name} was not made",
        "it was asked for, by a fault",
        "run the same command again",
        remedy="again",
    )


def _throttled(registration: Registration) -> Refusal:
    return Refusal(
        "ThrottlingException",
        "operation error: exceeded maximum number of attempts, 25, Rate exceeded",
        "other clients of the account use up the rate of this API",
        "run the same command again, or lower `--parallel`",
        remedy="again",
    )


_REFUSING: Iterable[FaultKind] = (
    FaultKind(
        "no-capacity", "EC2 has no instances for a node group: 33 minutes of tries, then CREATE_FAILED", "aws/containers-roadmap#2204",
        "settle", (kinds.NODE_GROUP,),
        _launch(
            "InsufficientInstanceCapacity", "We currently do not have sufficient capacity in the Availability Zone you requested.",
            "no capacity for {size} nodes of {name} in its zone", "wait, take another zone, or buy a capacity block",
        ),
    ),
    FaultKind(
        "quota", "the account's vCPU quota is smaller than the group needs", "EC2 quotas L-2C3B7624, L-1216C47A",
        "settle", (kinds.NODE_GROUP,),
        _launch(
            "VcpuLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit allows",
            "the quota does not hold {size} nodes of {name}", "ask for more in Service Quotas",
        ),
    ),
    FaultKind(
        "addon-degraded", "a managed add-on does not become healthy: DEGRADED until the provider's 20 minutes are over",
        "terraform-provider-aws internal/service/eks/addon.go", "settle", (kinds.ADDON,), _degraded,
    ),
    FaultKind(
        "webhook-not-ready", "the first calls of a webhook find no endpoints", "volcano-sh/volcano#2191",
        "create", ("kubernetes:scheduling.volcano.sh/*",), _webhook,
    ),
    FaultKind(
        "image-pull-limit", "a registry refuses anonymous pulls until the release's timeout", "Docker Hub pull limits",
        "settle", (kinds.RELEASE, kinds.STATEFUL_SET), _pull_limit,
    ),
    FaultKind(
        "api-unreachable", "the API server does not answer while an object is made", "measured, pulumi-kubernetes 4.34.2",
        "create", ("kubernetes:*",), _unreachable,
    ),
    FaultKind(
        "api-unreachable-on-destroy", "the API server does not answer while an object is deleted", "measured, pulumi-kubernetes 4.34.2",
        "delete", ("kubernetes:*",), _unreachable,
    ),
    FaultKind(
        "create-fails", "making the resource is refused, and nothing is made", "ours: no service words it like that",
        "create", ("aws:*", "kubernetes:*"), _refused, needs_resource=True,
    ),
    FaultKind(
        "throttled-out", "an AWS API refuses 25 tries in a row", "aws-sdk-go-v2 retry, terraform-provider-aws max_retries",
        "create", ("aws:*",), _throttled,
    ),
)  # fmt: skip
_OTHERS: Iterable[FaultKind] = (
    FaultKind("throttling", "an AWS API slows its callers down; the provider tries again with growing pauses", "aws-sdk-go-v2 retry", "create", ("aws:*",), delay_s=8),
    FaultKind(
        "iam-propagation", "a role that was just made cannot be assumed for some seconds; the provider tries again", "terraform-provider-aws, about 2 minutes",
        "create", (kinds.CLUSTER, kinds.ADDON, kinds.POD_IDENTITY, kinds.NODE_GROUP), delay_s=15,
    ),
    FaultKind("slow-control-plane", "EKS takes ten minutes longer for the control plane", "inferred: longest public log 11:23", "create", (kinds.CLUSTER,), delay_s=600),
    FaultKind("killed", "the run is killed while this resource is being made", "pulumi/pulumi, pending operations", "kill", ("aws:*", "kubernetes:*"), needs_resource=True),
    FaultKind(
        "killed-on-destroy", "the run is killed while this resource is being deleted", "pulumi/pulumi, pending operations",
        "kill", ("aws:*", "kubernetes:*"), needs_resource=True,
    ),
    FaultKind(
        "kill-provider", "the provider process dies while the resource is being made; `trn engine` only", "pulumi/pulumi, plug-in processes",
        "provider", ("aws:*", "kubernetes:*"), needs_resource=True,
    ),
    FaultKind("spot-interruption", "EC2 takes a spot node back with two minutes' notice while a job runs", "EC2 user guide, spot interruptions", "training", (kinds.NODE_GROUP,)),
    FaultKind("node-lost", "a node stops answering while a job runs", "EKS user guide, node health", "training", (kinds.NODE_GROUP,)),
    FaultKind("neuron-device-failed", "a Neuron device of a node fails while a job runs", "EKS user guide, node-repair", "training", (kinds.NODE_GROUP,)),
    FaultKind("load-balancer-left", "a user's Service of type LoadBalancer is still there on destroy", "pulumi/pulumi-awsx#905", "after", (kinds.CLUSTER,)),
    FaultKind("karpenter-node-left", "an instance that Karpenter made is still there on destroy", "aws/karpenter-provider-aws#1268", "after", (kinds.CLUSTER,)),
    FaultKind("claim-in-use", "a user's pod still mounts the claim on destroy", "kubernetes-csi/external-provisioner#1217", "after", (kinds.CLAIM,)),
)  # fmt: skip
FAULTS: Mapping[str, FaultKind] = {kind.name: kind for kind in (*_REFUSING, *_OTHERS)}
"""All faults by name."""
