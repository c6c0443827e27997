"""Makes the objects of a job, the job last: judged by the server first, then all of them, or none where one cannot be made.

What decides is the creation of the job: of two people who submit one name at the same moment, the server takes the job of one. Objects
that were made beside it bear no sign of a job until then, so one that is found is looked at: it may be another submission's, at work or
interrupted.
"""

import secrets
import time
from collections.abc import Callable
from typing import Any

from facts.typed import typed
from trn.cli.errors import CommandError
from trn.jobs.rendering import path_of, reference, resource_of
from trn.kubernetes.client import AlreadyThere, Kubernetes, Object

MARK = "trn/submission"
"""Annotation that is another for each submission: by it one knows its own objects."""
LOOKS, LOOK_S = 20, 0.5
"""How often, and in which pause, it is asked for an object that is going: what a job owned goes a moment after it."""
Tell = Callable[[str], None]


def dry_run(objects: list[Object], kubernetes: Kubernetes) -> None:
    """Let the server judge all of them; nothing is kept. Raises CommandError with its own words for what it refuses."""
    for body in objects:
        kubernetes.apply(resource_of(body), body["metadata"]["namespace"], body, dry_run=True)


def submit(objects: list[Object], kubernetes: Kubernetes, tell: Tell, pause: Callable[[float], None] = time.sleep) -> Object:
    """Make all of them; returns the job as the server keeps it. What is made for it is deleted with it.

    Raises CommandError for what the server refuses, and where another has the name; what was made until then is deleted again.
    """
    *others, job = objects
    mark, made = secrets.token_hex(8), list[Object]()
    try:
        for body in others:
            if (kept := _made_beside(body, mark, kubernetes, pause)) is not None:
                made.append({**body, "metadata": kept["metadata"]})
                tell(f"made {reference(body)}")
        kept = _made_job(job, mark, kubernetes)
        tell(f"made {reference(job)}")
        give(objects, kept["metadata"]["uid"], kubernetes)
    except BaseException:
        _undo(job, made, mark, kubernetes, tell)
        raise
    return kept


def give(objects: list[Object], uid: str, kubernetes: Kubernetes) -> None:
    """Make what is beside a job its own, by the job's uid: it is deleted with it."""
    *others, job = objects
    for body in others:
        kubernetes.apply(resource_of(body), body["metadata"]["namespace"], _owned(body, job, uid))


def is_cut_off(objects: list[Object], there: Object, kubernetes: Kubernetes) -> bool:
    """Whether the job that is there is this very one, by a submission that was killed before all that is beside the job was its own."""
    beside, is_own = [kubernetes.read(path_of(body)) for body in objects[:-1]], list[bool]()
    for body, found in zip(objects, [*beside, there], strict=True):
        if found is None or not _says(found, {key: value for key, value in body.items() if key != "metadata"}):
            return False
        owners = [owner.get("uid") for owner in found["metadata"].get("ownerReferences") or ()]
        if found is not there and owners not in ([], [there["metadata"]["uid"]]):
            return False
        is_own.append(found is there or bool(owners))
    return MARK in (there["metadata"].get("annotations") or {}) and not all(is_own)


def _marked(body: Object, mark: str) -> Object:
    metadata = body["metadata"]
    return {**body, "metadata": {**metadata, "annotations": {**metadata.get("annotations", {}), MARK: mark}}}


def _owned(body: Object, job: Object, uid: str) -> Object:
    owner = {"apiVersion": job["apiVersion"], "kind": job["kind"], "name": job["metadata"]["name"], "uid": uid}
    return {**body, "metadata": {**body["metadata"], "ownerReferences": [owner]}}


def _made_job(job: Object, mark: str, kubernetes: Kubernetes) -> Object:
    try:
        return kubernetes.make(resource_of(job), job["metadata"]["namespace"], _marked(job, mark))
    except AlreadyThere as error:
        raise CommandError(f"{reference(job)} was made by another submission in the meantime", f"`{typed('trn jobs')}` shows it") from error


def _made_beside(body: Object, mark: str, kubernetes: Kubernetes, pause: Callable[[float], None]) -> Object | None:
    """Make an object beside the job; None where one like it is there that no job has, which is taken over.

    What an ended job has left is deleted first. Raises CommandError where another job has it, and where it says something else.
    """
    resource, namespace, name = resource_of(body), body["metadata"]["namespace"], body["metadata"]["name"]
    for _ in range(LOOKS):
        try:
            return kubernetes.make(resource, namespace, _marked(body, mark))
        except AlreadyThere:
            there = kubernetes.read(path_of(body))
        if there is None:
            continue
        metadata = there["metadata"]
        owners = metadata.get("ownerReferences") or ()
        if living := next((owner for owner in owners if _lives(owner, namespace, kubernetes)), None):
            hint = f"give the job another `name`, or `{typed('trn cancel ' + living['name'])}` first"
            raise CommandError(f"{reference(body)} belongs to {living['kind']} {living['name']}; nothing was submitted", hint)
        if not owners and not metadata.get("deletionTimestamp"):
            if _says(there, {key: value for key, value in body.items() if key != "metadata"}):
                return None
            since = metadata.get("creationTimestamp", "some time ago")
            wrong = f"{reference(body)} is there since {since} without a job, and says something else; nothing was submitted"
            hint = "another submission of the name is at work: wait for it. If it was interrupted, "
            raise CommandError(wrong, f"{hint}`kubectl -n {namespace} delete {reference(body)}`")
        kubernetes.delete(resource, name, namespace, uid=str(metadata.get("uid") or ""))
        pause(LOOK_S)
    raise CommandError(f"{reference(body)} of an earlier job is still being deleted; nothing was submitted", "run it again in a minute")


def _lives(owner: Object, namespace: str, kubernetes: Kubernetes) -> bool:
    """Whether the object that an owner reference names is still there."""
    there = kubernetes.read(path_of({**owner, "metadata": {"name": owner["name"], "namespace": namespace}}))
    return there is not None and there["metadata"].get("uid") == owner["uid"]


def _says(there: Any, wanted: Any) -> bool:
    """Whether what is there has all that is wanted; what the server adds does not count."""
    if isinstance(wanted, dict):
        return isinstance(there, dict) and all(key in there and _says(there[key], value) for key, value in wanted.items())
    if isinstance(wanted, list):
        return isinstance(there, list) and len(there) == len(wanted) and all(map(_says, there, wanted))
    return there == wanted


def _undo(job: Object, made: list[Object], mark: str, kubernetes: Kubernetes, tell: Tell) -> None:
    """Delete what a submission has made that cannot be finished: also the job, where its answer was lost on the way.

    Where the job is another submission's, that one has taken over what is beside it.
    """
    try:
        there = kubernetes.read(path_of(job))
        if there is not None and (there["metadata"].get("annotations") or {}).get(MARK) != mark:
            return
        for body in ([{**job, "metadata": there["metadata"]}] if there is not None else []) + made[::-1]:
            metadata = body["metadata"]
            kubernetes.delete(resource_of(body), metadata["name"], metadata["namespace"], uid=str(metadata.get("uid") or ""))
    except CommandError as error:
        left = ", ".join(map(reference, [job, *made]))
        tell(f"what was made could not be deleted again, of {left}: {error.args[0]}")
