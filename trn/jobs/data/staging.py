"""The Job that brings a data set to the file system: its objects, and what it says."""

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from training.plan import SCRIPTS, Mounted
from training.pod import Pod, pod_spec
from training.staging import SCRIPT
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


def pod_of(name: str, image: str, mounts: Sequence[Mounted], path: str) -> Pod:
    """The pod that copies."""
    command = ("python3", f"{SCRIPTS}/{SCRIPT}", "--list", f"{LIST_FOLDER}/{LIST}", "--into", path)
    return Pod(image=image, command=command, cpu="2", memory="1Gi", mounts=mounts, files=name, life_s=LIFE_S)


def objects(
    name: str, namespace: str, cluster: str, pod: Pod, files: Mapping[str, str], listed: bytes, policy: Mapping[str, Any] | None = None
) -> list[Object]:
    """The addresses, as a Secret since whoever has one can read the file; the scripts; and the Job, last. `policy`: how it is tried again."""
    metadata = {"name": name, "namespace": namespace, "labels": {STAGE_LABEL: cluster, "app.kubernetes.io/part-of": "trn"}}
    spec = pod_spec(pod)
    spec["volumes"].append({"name": "list", "secret": {"secretName": name}})
    spec["containers"][0]["volumeMounts"].append({"name": "list", "mountPath": LIST_FOLDER, "readOnly": True})
    # Any node but those that jobs fill.
    del spec["tolerations"]
    job = {
        "completions": 1, "parallelism": 1, **(policy or {"backoffLimit": 0}), "activeDeadlineSeconds": pod.life_s, "ttlSecondsAfterFinished": KEPT_S,
        "template": {"metadata": {"labels": metadata["labels"]}, "spec": spec},
    }  # fmt: skip
    return [
        {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {LIST: base64.b64encode(listed).decode()}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": dict(files)},
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
    """Whether it has ended, well or not: a pod of it may be tried again (Kubernetes, Jobs: conditions Complete and Failed)."""
    status = job.get("status") or {}
    tried_again = (job.get("spec") or {}).get("backoffLimit", 0) > 0
    conditions = {each["type"] for each in status.get("conditions") or () if each.get("status") == "True"}
    return bool(status.get("succeeded") or (status.get("failed") and not tried_again) or conditions & {"Complete", "Failed"})


def log_of(name: str, namespace: str, kubernetes: Kubernetes) -> str:
    """What the newest pod of a Job has said until now."""
    pods = kubernetes.list(PODS, namespace=namespace, label=f"batch.kubernetes.io/job-name={name}") or []
    started = [pod for pod in pods if pod.get("status", {}).get("phase") in ("Running", "Succeeded", "Failed")]
    if not started:
        return ""
    newest = max(started, key=lambda pod: pod["metadata"].get("creationTimestamp") or "")
    return kubernetes.text(f"/api/v1/namespaces/{namespace}/pods/{newest['metadata']['name']}/log?container=work") or ""
