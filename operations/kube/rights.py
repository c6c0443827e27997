"""What each command does in Kubernetes, as the rules of a ClusterRole: for those who may not be administrators of the cluster."""

from collections.abc import Mapping

Rules = Mapping[str, tuple[str, ...]]
"""Verbs by resource; a resource of an API group other than the core one is written `resource.group`."""

_LOOKED_AT: Rules = {
    "nodes": ("list",),
    "daemonsets.apps": ("list",),
    "queues.scheduling.volcano.sh": ("list",),
    "persistentvolumeclaims": ("get",),
    "services/proxy": ("get",),
}
_JOBS_FOUND: Rules = {"rayclusters.ray.io": ("list",)}
RIGHTS: Mapping[str, Rules] = {
    "status": _LOOKED_AT,
    "verify": {
        **_LOOKED_AT,
        "pods": ("list",),
        "pods/log": ("get",),
        "jobs.batch": ("create", "delete", "list"),
        "jobs.batch.volcano.sh": ("create", "delete", "list"),
    },
    "shell": {
        "nodes": ("list",),
        "pods": ("create", "delete", "get", "list"),
        "pods/exec": ("create", "get"),
    },
    "top": {
        "nodes": ("list",),
        "pods": ("list",),
        "pods/proxy": ("get",),
        **_JOBS_FOUND,
    },
    "logs": {
        "pods": ("list",),
        "pods/log": ("get",),
        **_JOBS_FOUND,
    },
}
BY_KUBECTL: Mapping[str, Rules] = {"shell": {"pods": ("get",), "pods/exec": ("create", "get")}}
"""Of these, what kubectl asks and not `trn` itself: it looks for the pod, then opens the stream (`create` from 1.35 on, `get` before)."""
