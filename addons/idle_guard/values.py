"""What the guard is made with: its settings for one cluster, its rights, its pod. Pure."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from addons.batch import BatchSettings
from addons.cluster import Cluster, NeuronGroup
from addons.idle_guard import NAME, IdleGuardSettings
from addons.idle_guard.pod.gangs import KINDS
from addons.images import Values
from addons.manifests import POD_IDENTITY_ANNOTATION, own_labels
from facts.iam import Document
from facts.policies.idle_guard import idle_guard_policy
from facts.regions import dns_suffix, partition

POD = Path(__file__).parent / "pod"
PACKAGE, FOLDER, SETTINGS = "idle_guard", "/opt", "settings.json"
RULES: Sequence[Values] = (
    {"apiGroups": [""], "resources": ["nodes", "pods"], "verbs": ["list"]},
    *({"apiGroups": [group], "resources": [plural], "verbs": ["list"]} for group, plural in KINDS),
)
"""It reads in the whole cluster, and changes nothing there."""
MEMORY_RULES: Sequence[Values] = ({"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create", "get", "update"]},)
"""In its own namespace, which holds nothing else."""


def topic_name(cluster: str) -> str:
    """The stack's own topic."""
    return f"{cluster}-{NAME}"


def keeps(cluster: Cluster, name: str, group: NeuronGroup) -> str:
    """Why the guard never empties a group; empty where it may."""
    batch = cluster.section(BatchSettings)
    if group.autoscaled:
        return "Cluster Autoscaler sizes it"
    if group.is_paid:
        return "it is paid in advance or reserved, used or not"
    if group.min_size > 0:
        return f"its smallest size is {group.min_size}"
    return "jobs of AWS Batch wait outside the cluster" if batch.enabled and name in batch.node_groups else ""


def guard_settings(cluster: Cluster, topic_arn: str) -> Values:
    """What `pod/guard.py` reads."""
    section = cluster.section(IdleGuardSettings)
    groups = [
        {
            "name": name,
            "usd_per_node_hour": None if group.is_paid or group.is_spot else group.instance.price_usd_per_hour,
            "keeps": keeps(cluster, name, group),
        }
        for name, group in cluster.node_groups.items()
    ]
    return {
        "cluster": cluster.name,
        "region": cluster.region,
        "dns_suffix": dns_suffix(cluster.region),
        "namespace": NAME,
        "topic": topic_arn,
        "idle_hours": section.idle_hours,
        "empties": section.action == "scale-to-zero",
        "groups": groups,
        "stays": [[what, usd] for what, usd in cluster.idle_bill],
    }


def guard_policy(cluster: Cluster) -> Document:
    """What its service account may do in AWS."""
    section, part = cluster.section(IdleGuardSettings), partition(cluster.region)
    topic = section.sns_topic_arn or f"arn:{part}:sns:{cluster.region}:*:{topic_name(cluster.name)}"
    emptied = [name for name, group in cluster.node_groups.items() if not keeps(cluster, name, group)]
    return idle_guard_policy(part, cluster.region, cluster.name, topic, emptied if section.action == "scale-to-zero" else [])


def scripts() -> Mapping[str, str]:
    """The files of the package that runs in the pod, by name."""
    return {path.name: path.read_text() for path in sorted(POD.glob("*.py"))}


def script_digest() -> str:
    """Of the files that run: others make the pod anew."""
    return hashlib.sha256("".join(f"{name}\n{text}\n" for name, text in scripts().items()).encode()).hexdigest()[:16]


def guard_spec(image: str, identity: Any) -> Values:
    """`spec` of the Deployment. `identity`: of the association; another one makes the pod anew, with its rights."""
    container = {
        "name": NAME,
        "image": image,
        "command": ["python3", "-B", "-m", f"{PACKAGE}.guard", "--settings", f"{FOLDER}/{PACKAGE}/{SETTINGS}"],
        "env": [{"name": "PYTHONPATH", "value": FOLDER}],
        "resources": {"requests": {"cpu": "10m", "memory": "48Mi"}, "limits": {"memory": "256Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [{"name": "script", "mountPath": f"{FOLDER}/{PACKAGE}", "readOnly": True}],
    }
    pod = {
        "serviceAccountName": NAME,
        "terminationGracePeriodSeconds": 1,
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65534, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
        "volumes": [{"name": "script", "configMap": {"name": NAME}}],
    }
    annotations = {POD_IDENTITY_ANNOTATION: identity, "trn/script": script_digest()}
    return {
        "replicas": 1,
        # Two at once would do no harm: one of them is refused its memory.
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": own_labels(NAME)},
        "template": {"metadata": {"labels": own_labels(NAME), "annotations": annotations}, "spec": pod},
    }
