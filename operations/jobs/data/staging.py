"""The Job that brings a data set to the file system: its objects, and the wait for its end."""

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from facts.kubernetes_kinds import Resource
from operations.errors import CommandError
from operations.jobs.objects import path_of
from operations.kube.api import Kubernetes, Object
from operations.kube.job_pods import PODS
from training.plan import SCRIPTS, Mounted
from training.pod import Pod, pod_spec
from training.staging import SCRIPT, script

STAGE_LABEL = "trn/stage"
"""On everything of a staging; its value is the cluster's name."""
LIST, LIST_FOLDER = "list.json.gz", "/trn-list"
JOBS = Resource("Job", "/apis/batch/v1", "jobs")
LIFE_S, KEPT_S, LOOK_S = 24 * 3600, 600, 5


def name_of(source: str, path: str) -> str:
    """Name of the Job: the same for the same set and folder, so that no two write there at once."""
    return f"trn-stage-{hashlib.sha256(f'{source} {path}'.encode()).hexdigest()[:10]}"


def objects(name: str, namespace: str, cluster: str, image: str, claim: str, mount: str, path: str, listed: bytes) -> list[Object]:
    """The addresses, as a Secret since whoever has one can read the file; the script; and the Job, last."""
    metadata = {"name": name, "namespace": namespace, "labels": {STAGE_LABEL: cluster, "app.kubernetes.io/part-of": "trn"}}
    pod = Pod(
        image=image,
        command=("python3", f"{SCRIPTS}/{SCRIPT}", "--list", f"{LIST_FOLDER}/{LIST}", "--into", path),
        cpu="2",
        memory="1Gi",
        mounts=(Mounted(claim, mount),),
        files=name,
        life_s=LIFE_S,
    )
    spec = pod_spec(pod)
    spec["volumes"].append({"name": "list", "secret": {"secretName": name}})
    spec["containers"][0]["volumeMounts"].append({"name": "list", "mountPath": LIST_FOLDER, "readOnly": True})
    # Any node but those that jobs fill.
    del spec["tolerations"]
    job = {
        "completions": 1, "parallelism": 1, "backoffLimit": 0, "activeDeadlineSeconds": LIFE_S, "ttlSecondsAfterFinished": KEPT_S,
        "template": {"metadata": {"labels": metadata["labels"]}, "spec": spec},
    }  # fmt: skip
    return [
        {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {LIST: base64.b64encode(listed).decode()}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {SCRIPT: script()}},
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": job},
    ]


def clear(job: Object, kubernetes: Kubernetes, cluster: str, pause: Callable[[float], None]) -> None:
    """Delete an ended staging of the name. Raises CommandError where one runs, or another's object has the name."""
    metadata, there = job["metadata"], kubernetes.read(path_of(job))
    if there is None:
        return
    if there["metadata"].get("labels", {}).get(STAGE_LABEL) != cluster:
        raise CommandError(
            f"the Job {metadata['name']} in {metadata['namespace']} is not a staging of {cluster}", "look whose it is; nothing was changed"
        )
    if not (there.get("status", {}).get("succeeded") or there.get("status", {}).get("failed")):
        hint = f"wait for it: `kubectl -n {metadata['namespace']} logs -f job/{metadata['name']}`"
        raise CommandError("this set is being staged to this folder already", hint)
    kubernetes.delete(JOBS, metadata["name"], metadata["namespace"], uid=there["metadata"].get("uid", ""))
    for _ in range(60):
        if kubernetes.read(path_of(job)) is None:
            return
        pause(LOOK_S)
    raise CommandError(f"the ended Job {metadata['name']} is still being deleted", "run it again in a minute")


@dataclass
class Staged:
    """What a staging has said."""

    files: int = 0
    total: int = 0
    verified: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)
    has_ended_addresses: bool = False
    is_done: bool = False


def parsed(log: str) -> Staged:
    """What the script's lines say; other lines are passed over."""
    found = Staged()
    for line in log.splitlines():
        try:
            said: Any = json.loads(line)
        except ValueError:
            continue
        match said.get("stage") if isinstance(said, dict) else None:
            case "file":
                found.files, found.total = found.files + 1, said["of"]
                found.verified[said["by"]] += 1
            case "failed":
                found.failed[said["name"]] = said["why"]
            case "ended":
                found.has_ended_addresses = True
            case "done":
                found.is_done, found.total = True, said["of"]
    return found


def follow(job: Object, kubernetes: Kubernetes, pause: Callable[[float], None], tell: Callable[[str], None]) -> Staged:
    """Wait for the end of a staging. Raises CommandError where it cannot start, and where it is gone."""
    metadata, told = job["metadata"], ""
    for _ in range(LIFE_S // LOOK_S):
        there = kubernetes.read(path_of(job))
        if there is None:
            raise CommandError(f"the Job {metadata['name']} is gone", "run it again: what is on the file system is kept")
        staged = parsed(_log(metadata["name"], metadata["namespace"], kubernetes))
        line = f"{staged.files} of {staged.total} files" if staged.total else "waiting for the pod"
        if line != told:
            told = line
            tell(line)
        if there.get("status", {}).get("succeeded") or there.get("status", {}).get("failed"):
            return parsed(_log(metadata["name"], metadata["namespace"], kubernetes))
        pause(LOOK_S)
    raise CommandError(
        f"the Job {metadata['name']} has not ended within {LIFE_S // 3600} h", "run it again: what is on the file system is kept"
    )


def _log(name: str, namespace: str, kubernetes: Kubernetes) -> str:
    pods = kubernetes.list(PODS, namespace=namespace, label=f"batch.kubernetes.io/job-name={name}") or []
    started = [pod for pod in pods if pod.get("status", {}).get("phase") in ("Running", "Succeeded", "Failed")]
    return (
        kubernetes.text(f"/api/v1/namespaces/{namespace}/pods/{started[0]['metadata']['name']}/log?container=work") or "" if started else ""
    )
