"""Volcano schedules a gang of the cluster's full size: every device of every node, all pods at once."""

from collections.abc import Iterator, Sequence

from training.pod import Pod
from trn.cli.findings import Finding, failed, passed
from trn.kubernetes.client import Object
from trn.running.verify.jobs import volcano_job
from trn.running.verify.stage import Nodes, Stage, Trial, hindrance, phase, queue, states, whole_nodes

CHECK, TEST = "gang", "trn-verify-gang"
LIMIT_S, LIFE_S = 300, 600


def check(stage: Stage) -> Iterator[Finding | Trial]:
    """As many pods as nodes, each asking for a whole one; done when all run together."""
    if hindered := list(hindrance(stage, CHECK)):
        yield from hindered
        return
    nodes = whole_nodes(stage.subject)
    count, queue_name = sum(entry.count for entry in nodes), queue(stage.subject.settings)
    sizes = " and ".join(f"{entry.count} x {entry.settings.instance_type}" for entry in nodes)

    def shown(pods: list[Object]) -> Iterator[Finding]:
        if all_run(pods, count):
            yield passed(CHECK, f"{count} pods ran at once on {sizes}, each with all devices of its node (queue {queue_name})")
            return
        run = sum(1 for pod in pods if phase(pod) == "Running")
        look = f"`kubectl -n {stage.namespace} describe podgroups` while it runs again"
        do = f"{look}; `kubectl -n volcano-system logs -l app=volcano-scheduler`"
        yield failed(CHECK, f"{run} of {count} pods ran at once on {sizes} within {LIMIT_S} s (queue {queue_name}): {states(pods)}", do)

    body = job(stage, nodes, queue_name)
    templates = tuple(item for entry in nodes for item in entry.templates(TEST, stage.namespace, body["metadata"]["labels"]))
    yield Trial(CHECK, body, LIMIT_S, lambda pods: all_run(pods, count), shown, lambda: hindrance(stage, CHECK), templates)


def all_run(pods: Sequence[Object], count: int) -> bool:
    """Whether the whole gang runs at this moment."""
    return len(pods) == count and all(phase(pod) == "Running" for pod in pods)


def job(stage: Stage, nodes: Sequence[Nodes], queue_name: str) -> Object:
    """The Volcano Job: one task for each group, a pod for each node."""
    tasks = {
        f"group-{number}": (
            entry.count,
            Pod(
                image=stage.small_image,
                command=("sleep", str(LIFE_S)),
                life_s=LIFE_S,
                groups=(entry.group,),
                devices=entry.devices,
                claim=entry.claim(TEST),
            ),
        )
        for number, entry in enumerate(nodes)
    }
    return volcano_job(TEST, stage.namespace, stage.cluster, queue_name, tasks, {})
