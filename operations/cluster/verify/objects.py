"""What `trn verify` and `trn shell` start, as values: pods that find a node among ours, and jobs that end by themselves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from facts.names import GROUP_LABEL, NEURON_TAINT
from operations.kube.api import Object

CLUSTER_LABEL = "trn/verify"
"""Its value is the cluster's name. Everything that is started carries it, and nothing else is ever deleted."""
TEST_LABEL = "trn/verify-test"
"""Its value is the name of the started job: it separates the pods of one test from those of another."""
KEPT_S = 300
"""How long a job that has ended stays by itself: a run that was killed leaves nothing for longer."""
SHARED_PATH = "/fsx"


@dataclass(frozen=True)
class Work:
    """One container on one node."""

    image: str
    command: Sequence[str]
    life_s: int
    """Kubernetes ends it after this long, also when the process that started it is gone."""
    groups: Sequence[str] = ()
    """Node groups that it may run on. Without any, the first node that has room."""
    devices: Mapping[str, int] = field(default_factory=dict)
    cpu: str = "100m"
    memory: str = "128Mi"
    environment: Mapping[str, str] = field(default_factory=dict)
    claim: str | None = None
    """Claim mounted at `/fsx`."""
    shared_memory: bool = False
    """A /dev/shm in memory: the default of 64 MiB is too small for ranks that share a node."""
    apart: str = ""
    """Test whose pods never share a node. Empty lets them."""


def pod_spec(work: Work) -> Object:
    """`spec` of its pod."""
    counts = {key: str(count) for key, count in work.devices.items()}
    volumes: list[Object] = [{"name": "shared", "persistentVolumeClaim": {"claimName": work.claim}}] if work.claim else []
    mounts = [{"name": "shared", "mountPath": SHARED_PATH}] if work.claim else []
    if work.shared_memory:
        volumes.append({"name": "memory", "emptyDir": {"medium": "Memory"}})
        mounts.append({"name": "memory", "mountPath": "/dev/shm"})
    container = {
        "name": "work",
        "image": work.image,
        "command": list(work.command),
        "env": [{"name": key, "value": value} for key, value in work.environment.items()],
        # Kubernetes wants request and limit of a device to be equal.
        "resources": {"requests": {"cpu": work.cpu, "memory": work.memory, **counts}, "limits": counts},
        "volumeMounts": mounts,
    }
    return {
        "restartPolicy": "Never",
        "activeDeadlineSeconds": work.life_s,
        "terminationGracePeriodSeconds": 5,
        # It does not call the API.
        "automountServiceAccountToken": False,
        "affinity": {**(_within(work.groups) if work.groups else {}), **(_apart(work.apart) if work.apart else {})},
        "tolerations": [{"key": NEURON_TAINT, "operator": "Exists", "effect": "NoSchedule"}],
        "containers": [container],
        "volumes": volumes,
    }


def _within(groups: Sequence[str]) -> Object:
    terms = [{"matchExpressions": [{"key": GROUP_LABEL, "operator": "In", "values": list(groups)}]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def _apart(test: str) -> Object:
    term = {"labelSelector": {"matchLabels": {TEST_LABEL: test}}, "topologyKey": "kubernetes.io/hostname"}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def kubernetes_job(name: str, namespace: str, cluster: str, work: Work, count: int = 1) -> Object:
    """A Job of `count` pods that run side by side and are tried once."""
    labels = _labels(name, cluster)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "completions": count,
            "parallelism": count,
            "backoffLimit": 0,
            # Of the Job too: a pod that finds no node has no deadline of its own.
            "activeDeadlineSeconds": work.life_s,
            "ttlSecondsAfterFinished": KEPT_S,
            "template": {"metadata": {"labels": labels}, "spec": pod_spec(work)},
        },
    }


def volcano_job(
    name: str, namespace: str, cluster: str, queue: str, tasks: Mapping[str, tuple[int, Work]], plugins: Mapping[str, Sequence[str]]
) -> Object:
    """A Volcano Job whose pods all run, or none; one that fails ends the others.

    `tasks`: how many pods of what, by the task's name.
    """
    labels = _labels(name, cluster)
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "schedulerName": "volcano",
            "queue": queue,
            "minAvailable": sum(count for count, _ in tasks.values()),
            "ttlSecondsAfterFinished": KEPT_S,
            "plugins": {key: list(arguments) for key, arguments in plugins.items()},
            # Terminated is an end, after which the Job is removed by itself; Aborted is not an end.
            "policies": [{"events": ["PodFailed", "PodEvicted"], "action": "TerminateJob"}],
            "tasks": [
                {"name": task, "replicas": count, "template": {"metadata": {"labels": labels}, "spec": pod_spec(work)}}
                for task, (count, work) in tasks.items()
            ],
        },
    }


def _labels(name: str, cluster: str) -> dict[str, str]:
    return {CLUSTER_LABEL: cluster, TEST_LABEL: name}
