"""Makes the objects of a job: judged by the server first, then one after the other, the job last."""

from collections.abc import Callable

from operations.jobs.objects import reference, resource_of
from operations.kube.api import Kubernetes, Object


def dry_run(objects: list[Object], kubernetes: Kubernetes) -> None:
    """Let the server judge all of them; nothing is kept. Raises CommandError with its own words for what it refuses."""
    for body in objects:
        kubernetes.apply(resource_of(body), body["metadata"]["namespace"], body, dry_run=True)


def submit(objects: list[Object], kubernetes: Kubernetes, tell: Callable[[str], None]) -> Object:
    """Make all of them; returns the job as the server keeps it. What is made for it is deleted with it.

    Raises CommandError for what the server refuses; what was made until then is deleted again.
    """
    *others, job = objects
    made, kept = list[Object](), dict[str, Object]()
    try:
        for body in objects:
            kept[reference(body)] = kubernetes.apply(resource_of(body), body["metadata"]["namespace"], body)
            made.append(body)
            tell(f"made {reference(body)}")
    except BaseException:
        for body in reversed(made):
            kubernetes.delete(resource_of(body), body["metadata"]["name"], body["metadata"]["namespace"])
        raise
    uid = kept[reference(job)]["metadata"]["uid"]
    owner = {"apiVersion": job["apiVersion"], "kind": job["kind"], "name": job["metadata"]["name"], "uid": uid}
    for body in others:
        owned = {**body, "metadata": {**body["metadata"], "ownerReferences": [owner]}}
        kubernetes.apply(resource_of(body), body["metadata"]["namespace"], owned)
    return kept[reference(job)]
