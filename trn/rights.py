"""What each command does in Kubernetes, as the rules of a ClusterRole: for those who may not be administrators of the cluster."""

from collections.abc import Mapping

from training.launchers import launchers
from trn.kubernetes.claimed import CLAIM_TEMPLATES, RESOURCE_CLAIMS, SLICES
from trn.kubernetes.job_end import can_stop
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.jobs.job import JOB_KINDS
from trn.kubernetes.jobs.look import EVENTS, LOOKED_AT
from trn.kubernetes.kinds import KINDS, STATEFUL_SETS, Kind
from trn.running.bundle.cluster import OBJECTS

Rules = Mapping[str, tuple[str, ...]]
"""Verbs by resource; a resource of an API group other than the core one is written `resource.group`."""

_LOOKED_AT: Rules = {
    "nodes": ("list",),
    "daemonsets.apps": ("list",),
    "persistentvolumeclaims": ("get",),
    "services/proxy": ("get",),
}
_MADE_WITH_A_JOB = ("configmaps", "services", "podgroups.scheduling.volcano.sh", "trainingruntimes.trainer.kubeflow.org")
"""What launchers make beside the job itself. It is deleted again where the job is refused, and looked at where it is there already."""
_LEASE: Rules = {"leases.coordination.k8s.io": ("create", "delete", "get")}
"""The lock of a job's name."""
_SUBMIT: Rules = {
    **_LEASE,
    "nodes": ("list",),
    "persistentvolumeclaims": ("get",),
    "priorityclasses.scheduling.k8s.io": ("get",),
    "queues.scheduling.volcano.sh": ("get",),
    **dict.fromkeys(_MADE_WITH_A_JOB, ("create", "delete", "get", "patch")),
    **{kind.resource.qualified: ("create", "delete", "get", "patch") for kind in launchers() if kind.resource is not None},
}
_JOBS: Rules = {resource.qualified: ("list",) for resource in (*LOOKED_AT, *(kind.resource for kind in JOB_KINDS))}
"""One look at all jobs, and at what can hold one up."""
_FOLDER_JOB: Rules = {
    "configmaps": ("create", "delete", "get", "patch"),
    "jobs.batch": ("create", "delete", "get"),
    "pods": ("list",),
    "pods/log": ("get",),
    "secrets": ("create", "delete", "get", "patch"),
}
"""A Job that fills a folder of the file system."""
_OWN: Mapping[str, Rules] = {
    "status": _LOOKED_AT,
    "verify": {
        **_LEASE,
        **_LOOKED_AT,
        "pods": ("list",),
        "pods/log": ("get",),
    },
    "shell": {
        **_LEASE,
        "nodes": ("list",),
        "pods": ("create", "delete", "get", "list"),
        "pods/exec": ("create", "get"),
    },
    "top": {
        "nodes": ("list",),
        "pods": ("list",),
        "pods/proxy": ("get",),
    },
    "logs": {
        "pods": ("list",),
        "pods/log": ("get",),
    },
    "submit": _SUBMIT,
    "precompile": {**_SUBMIT, "pods": ("list",)},
    "data stage": _FOLDER_JOB,
    "data prepare": _FOLDER_JOB,
    "data import-weights": _FOLDER_JOB,
    "data export-weights": _FOLDER_JOB,
    "data status": {**_JOBS, "pods/log": ("get",)},
    "bundle": {
        **_LOOKED_AT,
        **{resource.qualified: ("list",) for resource in (PODS, EVENTS)},
        **{resource.qualified: tuple(sorted({"list", *_LOOKED_AT.get(resource.qualified, ())}, reverse=True)) for resource in OBJECTS},
        "pods/log": ("get",),
    },
    "jobs": _JOBS,
    "plan": _JOBS,
    "capacity calendar": _JOBS,
    "upgrade": {**_JOBS, "poddisruptionbudgets.policy": ("list",)},
    "why": _JOBS,
    "scale": _JOBS,
    "roll": {
        **_JOBS,
        **{kind.resource.qualified: ("list", "patch") for kind in JOB_KINDS if can_stop(kind.resource)},
        "commands.bus.volcano.sh": ("create",),
        "nodes": ("list", "patch"),
        "poddisruptionbudgets.policy": ("list",),
        "pods/log": ("get",),
    },
    "watch": {**_JOBS, "pods/log": ("get",)},
    "cancel": {
        **_JOBS,
        **_LEASE,
        **{kind.resource.qualified: ("delete", "list") for kind in JOB_KINDS},
        "pods": ("delete", "list"),
        "pods/log": ("get",),
    },
}
"""Rights that follow from no kind of job."""


def _of_kinds(command: str) -> Rules:
    return {kind.resource.qualified: kind.drained.asked[command] for kind in KINDS if command in kind.drained.asked}


RIGHTS: Mapping[str, Rules] = {command: {**rules, **_of_kinds(command)} for command, rules in _OWN.items()}
"""Rules by command, those of kinds that add-ons bring among them."""
_HELD: Rules = {CLAIM_TEMPLATES.qualified: ("list",), RESOURCE_CLAIMS.qualified: ("list",)}
"""How many devices a pod holds that claims them."""
_BESIDE: Rules = {**_HELD, SLICES.qualified: ("list",)}
_TEMPLATE_OF_JOB: Rules = {CLAIM_TEMPLATES.qualified: ("create", "delete", "get", "patch")}
WITH_CLAIMS: Mapping[str, Rules] = {
    "status": {SLICES.qualified: ("list",)},
    "verify": {**_BESIDE, CLAIM_TEMPLATES.qualified: ("create", "list", "patch")},
    "shell": {CLAIM_TEMPLATES.qualified: ("create", "patch")},
    "top": _HELD,
    "submit": _TEMPLATE_OF_JOB,
    "precompile": _TEMPLATE_OF_JOB,
    "bundle": _BESIDE,
    **{command: _BESIDE for command, rules in _OWN.items() if rules.keys() >= _JOBS.keys()},
}
"""What each command does besides, where pods claim devices by dynamic resource allocation."""
DRAIN: Rules = {STATEFUL_SETS.qualified: ("list",)}
"""What a drain reads beside the kinds that it acts on."""


def drain_rights(kind: Kind) -> Rules:
    """What a drain does with one kind."""
    verbs = {"delete": ("delete",), "wait for": ()}.get(kind.verb, () if kind.drained.command else ("patch",))
    command = {kind.drained.command.qualified: ("create",)} if kind.drained.command else {}
    return {kind.resource.qualified: (*verbs, "list"), **command}


BY_KUBECTL: Mapping[str, Rules] = {"shell": {"pods": ("get",), "pods/exec": ("create", "get")}}
"""Of these, what kubectl asks and not `trn` itself: it looks for the pod, then opens the stream (`create` from 1.35 on, `get` before)."""
