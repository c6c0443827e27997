"""The jobs that `trn verify` starts: pods of training that try one thing, end by themselves, and carry a label by which they are removed."""

from collections.abc import Mapping, Sequence

from training.pod import Object, Pod, pod_spec

CLUSTER_LABEL = "trn/verify"
"""Its value is the cluster's name. Everything that is started carries it, and nothing else is ever deleted."""
TEST_LABEL = "trn/verify-test"
"""Its value is the name of the started job: it separates the pods of one test from those of another."""
RUN = "trn/run"
"""Annotation that is another for each run: by it one knows what is its own."""
KEPT_S = 300
"""How long a job that has ended stays by itself: a run that was killed leaves nothing for longer."""


def kubernetes_job(name: str, namespace: str, cluster: str, pod: Pod, count: int = 1) -> Object:
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
            "activeDeadlineSeconds": pod.life_s,
            "ttlSecondsAfterFinished": KEPT_S,
            "template": {"metadata": {"labels": labels}, "spec": pod_spec(pod)},
        },
    }


def volcano_job(
    name: str, namespace: str, cluster: str, queue: str, tasks: Mapping[str, tuple[int, Pod]], plugins: Mapping[str, Sequence[str]]
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
                {"name": task, "replicas": count, "template": {"metadata": {"labels": labels}, "spec": pod_spec(pod)}}
                for task, (count, pod) in tasks.items()
            ],
        },
    }


def _labels(name: str, cluster: str) -> dict[str, str]:
    return {CLUSTER_LABEL: cluster, TEST_LABEL: name}


def marked(body: Object, token: str) -> Object:
    """The object as a run makes it."""
    return {**body, "metadata": {**body["metadata"], "annotations": {RUN: token}}}


def is_of(item: Object, token: str) -> bool:
    """Whether a run made it."""
    return (item["metadata"].get("annotations") or {}).get(RUN) == token
