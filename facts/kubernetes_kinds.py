"""Kinds of Kubernetes objects as plain data: where the API serves them, and what a drain does with them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Literal


@dataclass(frozen=True)
class Resource:
    """One kind of object, by where the API serves it."""

    kind: str
    path: str
    """Such as `/apis/batch.volcano.sh/v1alpha1`."""
    plural: str

    @property
    def group(self) -> str:
        """API group; empty for the core one."""
        return self.path.split("/")[2] if self.path.startswith("/apis/") else ""

    @property
    def qualified(self) -> str:
        """As a rule of a ClusterRole names it here: `jobs.batch.volcano.sh`, or `services` for the core group."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


class DrainStage(IntEnum):
    """The order of a drain. Within one stage: Kubernetes' own kinds, then those of the add-ons in the registry's order.

    Owners come before what they own: a parent makes its children again.
    """

    QUEUES = 1
    """Queues first: the quota that a deleted job frees would admit the next job."""
    WORKERS = 2
    """Workers of another scheduler: they end when their jobs have ended."""
    SCHEDULES = 3
    """Make jobs, by the clock or one after the other."""
    JOB_CLUSTERS = 4
    """Jobs that bring a cluster of their own, and those clusters."""
    JOBS = 5
    """Jobs that make other jobs or pods."""
    GANGS = 6
    """Jobs whose pods a gang scheduler starts."""
    BASIC_JOBS = 7
    """Jobs of Kubernetes, which many kinds above make."""
    ROUTES = 8
    """What stands before Services and has a load balancer."""
    BALANCERS = 9
    """Load balancers, and what is bound to them."""
    VOLUMES = 10
    NODES = 11
    """Nodes are deleted when all else is gone: controllers run on them."""


Verb = Literal["close", "empty", "delete", "wait for"]
Which = Literal[
    "all", "jobs of users", "open queues", "admitting queues", "with workers", "load balancers", "bound by hand", "dynamic volumes"
]
"""Which objects of a kind are in the way; `operations` has one function for each."""


@dataclass(frozen=True)
class DrainedKind:
    """One kind of object that a drain acts on, and what else `trn` does with it."""

    resource: Resource
    stage: DrainStage
    verb: Verb
    why: str
    which: Which = "all"
    spec: Mapping[str, Any] = field(default_factory=dict)
    """What is merged into `spec` to close or empty it."""
    command: Resource | None = None
    """Kind of the object that is made to close it, where its controller wants one."""
    pod_label: str = ""
    """Label of its pods that holds its name, for kinds that a user calls a job."""
    owner_label: str = ""
    """Label of the object itself that holds the name of the job it was made for, where pods have no label of that job."""
    asked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Verbs of the Kubernetes API that commands of `trn` other than drain use on this kind, by command."""


def job_kind(
    resource: Resource,
    stage: DrainStage,
    why: str,
    *,
    pod_label: str = "",
    owner_label: str = "",
    asked: Mapping[str, tuple[str, ...]] | None = None,
) -> DrainedKind:
    """A kind of job: users' are deleted, and those of add-ons and of owners stay with them."""
    return DrainedKind(resource, stage, "delete", why, "jobs of users", pod_label=pod_label, owner_label=owner_label, asked=asked or {})
