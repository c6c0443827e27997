"""The Job that brings a data set to the file system: its objects, and what it says."""

import base64
import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from training.plan import SCRIPTS, Mounted
from training.pod import Pod, pod_spec
from training.staging import SCRIPT, script
from trn.kubernetes.client import Kubernetes, Object
from trn.kubernetes.job_pods import PODS

STAGE_LABEL = "trn/stage"
"""On everything of a staging; its value is the cluster's name."""
LIST, LIST_FOLDER = "list.json.gz", "/trn-list"
LIFE_S, KEPT_S, LOOK_S = 24 * 3600, 600, 5


def name_of(path: str) -> str:
    """Name of the Job: one for a folder, so that no two write there at once, whatever their sets. Two that write the same part of a file
    would each find its own sum."""
    return f"trn-stage-{hashlib.sha256(path.encode()).hexdigest()[:10]}"


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


def has_ended(job: Object) -> bool:
    """Whether its pod has ended, well or not."""
    status = job.get("status") or {}
    return bool(status.get("succeeded") or status.get("failed"))


def progress(name: str, namespace: str, kubernetes: Kubernetes) -> Staged:
    """What the pod of a Job has said until now."""
    return parsed(_log(name, namespace, kubernetes))


def _log(name: str, namespace: str, kubernetes: Kubernetes) -> str:
    pods = kubernetes.list(PODS, namespace=namespace, label=f"batch.kubernetes.io/job-name={name}") or []
    started = [pod for pod in pods if pod.get("status", {}).get("phase") in ("Running", "Succeeded", "Failed")]
    return (
        kubernetes.text(f"/api/v1/namespaces/{namespace}/pods/{started[0]['metadata']['name']}/log?container=work") or "" if started else ""
    )
