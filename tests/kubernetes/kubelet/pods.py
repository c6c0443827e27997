"""What a pod's object says about itself, read in one place: names, containers by kind, policies with Kubernetes's own defaults."""

from typing import Any, Literal

Object = dict[str, Any]
Kind = Literal["init", "sidecar", "main"]

DEFAULT_GRACE_S = 30


def uid(pod: Object) -> str:
    """The id that no other pod ever has, also not one of the same name."""
    return pod["metadata"]["uid"]


def title(pod: Object) -> str:
    """`namespace/name`, for messages."""
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def full_title(pod: Object) -> str:
    """`name_namespace(uid)`, as the kubelet's back-off messages have it."""
    return f"{pod['metadata']['name']}_{pod['metadata']['namespace']}({uid(pod)})"


def hostname(pod: Object) -> str:
    """What `hostname` says in its containers: at most 63 characters (Kubernetes API reference, PodSpec, hostname)."""
    return (pod["spec"].get("hostname") or pod["metadata"]["name"])[:63].rstrip("-.")


def domain(pod: Object) -> str | None:
    """Its name under a headless service, None for a pod without `subdomain`."""
    subdomain = pod["spec"].get("subdomain")
    return f"{hostname(pod)}.{subdomain}.{pod['metadata']['namespace']}.svc.cluster.local" if subdomain else None


def containers(pod: Object) -> list[tuple[Kind, Object]]:
    """Every container with its kind: those of `initContainers` in their order, then the main ones."""
    found: list[tuple[Kind, Object]] = [
        ("sidecar" if container.get("restartPolicy") == "Always" else "init", container)
        for container in pod["spec"].get("initContainers") or ()
    ]
    return found + [("main", container) for container in pod["spec"]["containers"]]


def restart_policy(pod: Object) -> str:
    """`Always`, `OnFailure` or `Never`."""
    return pod["spec"].get("restartPolicy") or "Always"


def grace_s(pod: Object) -> int:
    """Seconds from SIGTERM to SIGKILL: the deletion's own where it set any."""
    for value in (pod["metadata"].get("deletionGracePeriodSeconds"), pod["spec"].get("terminationGracePeriodSeconds")):
        if value is not None:
            return value
    return DEFAULT_GRACE_S


def is_deleted(pod: Object) -> bool:
    """Somebody asked for its deletion; it stays in the API until its node says that it ended."""
    return bool(pod["metadata"].get("deletionTimestamp"))


def is_over(pod: Object) -> bool:
    """It reached a phase that it never leaves."""
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
