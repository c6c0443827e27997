"""What is known of one job when it is asked why it waits, and the questions that several rules ask of it. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

from facts.device_claims import COUNTED_AS
from facts.names import GROUP_LABEL, POOL_LABEL
from facts.volcano_queues import amount
from training.site import Nodes, Site
from trn.kubernetes.claimed import CHIPS, INTERFACES, Claims
from trn.kubernetes.client import Object
from trn.kubernetes.jobs.job import FoundJob

COUNTED = ("cpu", "memory", *CHIPS, *INTERFACES)
"""Resources of which a queue, or a node, can have too little for a training job."""


@dataclass(frozen=True)
class Cause:
    """What holds a job up."""

    name: str
    """One word: `queue`, `claim`, `image`, ..."""
    what: str
    """One sentence without its full stop."""
    do: str
    """The next command, or the key to change."""


@dataclass(frozen=True)
class Situation:
    """Everything that is known of one job."""

    job: FoundJob
    group: Object | None = None
    """Its PodGroup."""
    events: tuple[Object, ...] = ()
    """Of the job and of what was made for it, newest last."""
    queues: Mapping[str, Object] | None = None
    nodes: tuple[Object, ...] = ()
    claims: Mapping[str, Object] | None = None
    """Of its namespace."""
    others: tuple[Object, ...] = ()
    """All pods that are not its own."""
    site: Site | None = None
    device_claims: Claims = field(default_factory=Claims)
    """Of its namespace, with their templates."""

    @property
    def stack(self) -> str:
        """Name of the stack, for commands."""
        return self.site.stack if self.site is not None else "dev"

    @cached_property
    def spec(self) -> dict[str, Any]:
        """`spec` of one of its pods."""
        return self.job.pod_spec

    @cached_property
    def asks(self) -> dict[str, Decimal]:
        """What one pod asks for, by resource."""
        found = dict[str, Decimal]()
        for container in self.spec.get("containers") or ():
            given = container.get("resources") or {}
            for key, value in {**(given.get("limits") or {}), **(given.get("requests") or {})}.items():
                found[key] = found.get(key, Decimal(0)) + amount(value)
        for key, count in self.device_claims.of(self.job.namespace, self.spec).items():
            # A pod that is there, and stands for its template, has them among its limits.
            found.setdefault(key, Decimal(count))
        return {key: value for key, value in found.items() if value}

    @property
    def placed(self) -> int:
        """Pods that have a node and have not ended."""
        return sum("nodeName" in pod.get("spec", {}) and not is_over(pod) for pod in self.job.pods)

    @property
    def is_placed(self) -> bool:
        """Whether each pod that is wanted has a node."""
        return self.placed >= self.job.wanted

    @cached_property
    def said(self) -> str:
        """The scheduler's own words for a pod, or for the gang, that it cannot place; empty where it has none."""
        conditions = [entry for pod in self.job.pods for entry in pod.get("status", {}).get("conditions") or ()]
        texts = [
            entry.get("message", "") for entry in conditions if entry.get("reason") == "Unschedulable" and entry.get("status") == "False"
        ]
        of_group = (self.group or {}).get("status", {}).get("conditions") or ()
        texts += [entry.get("message", "") for entry in of_group if entry.get("type") == "Unschedulable" and entry.get("status") == "True"]
        return next((text for text in texts if text), "")

    @cached_property
    def matching(self) -> tuple[Object, ...]:
        """Nodes that its pods' selector names."""
        return tuple(node for node in self.nodes if _is_named(self.spec, node["metadata"].get("labels") or {}))

    @property
    def group_of_nodes(self) -> Nodes | None:
        """The stack's node group or pool that its pods name; None where they name none."""
        selector = self.spec.get("nodeSelector") or {}
        if self.site is None:
            return None
        return self.site.nodes(selector.get(GROUP_LABEL), selector.get(POOL_LABEL))

    def messages(self, *reasons: str) -> list[str]:
        """Texts of its events with one of these reasons, newest first."""
        return [str(event.get("message", "")) for event in reversed(self.events) if event.get("reason") in reasons]


def is_over(pod: Object) -> bool:
    """Whether a pod has ended."""
    return pod.get("status", {}).get("phase") in ("Succeeded", "Failed")


def is_event_of(event: Object, job: str, names: Collection[str]) -> bool:
    """Whether an event is about a job, or about something whose name begins with the job's and with no longer job's name.

    Controllers build the names of pods, PodGroups and child jobs so.
    """
    about = str((event.get("involvedObject") or event.get("regarding") or {}).get("name", ""))
    fitting = [name for name in {*names, job} if about == name or about.startswith(f"{name}-")]
    return bool(fitting) and max(fitting, key=len) == job


def offered(node: Object, resource: str) -> Decimal:
    """How much of a resource a node has for pods."""
    return amount(node.get("status", {}).get("allocatable", {}).get(resource, 0))


def is_ready(node: Object) -> bool:
    """Whether its kubelet answers."""
    return any(item["type"] == "Ready" and item["status"] == "True" for item in node.get("status", {}).get("conditions") or ())


def untolerated(spec: Mapping[str, Any], node: Object) -> str | None:
    """The first taint that keeps a pod from a node, as `key=value:effect`; None where there is none."""
    for taint in node.get("spec", {}).get("taints") or ():
        if taint.get("effect") in ("NoSchedule", "NoExecute") and not any(_tolerates(item, taint) for item in _tolerations(spec)):
            return f"{taint['key']}={taint.get('value', '')}:{taint['effect']}"
    return None


def _tolerations(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Those of the pod, and those that EKS adds for each extended resource that it asks for (ExtendedResourceToleration)."""
    own: list[Mapping[str, Any]] = list(spec.get("tolerations") or ())
    for container in spec.get("containers") or ():
        limits = (container.get("resources") or {}).get("limits") or {}
        own += [{"key": key, "operator": "Exists"} for key in limits if "/" in key and not key.startswith(COUNTED_AS)]
    return own


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if toleration.get("effect") not in (None, "", taint.get("effect")) or toleration.get("key") not in (None, "", taint["key"]):
        return False
    return toleration.get("operator") == "Exists" or (toleration.get("value") or "") == (taint.get("value") or "")


def _is_named(spec: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    if not (spec.get("nodeSelector") or {}).items() <= labels.items():
        return False
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    terms = required.get("nodeSelectorTerms") or ()
    return not terms or any(all(_meets(item, labels) for item in term.get("matchExpressions") or ()) for term in terms)


def _meets(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """One expression of a node affinity; those that compare numbers count as met."""
    key, values = expression["key"], expression.get("values") or ()
    met = {
        "In": labels.get(key) in values,
        "NotIn": labels.get(key) not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }
    return met.get(expression["operator"], True)


def shown(number: Decimal) -> str:
    """A count as a person writes it; from a mebibyte on in GiB, for memory is in bytes."""
    if number >= 2**20:
        return f"{float(number) / 2**30:,.1f} GiB of"
    return f"{number.normalize():f}"
