"""What starts together: a job of several nodes that is no gang holds nodes and waits."""

from collections.abc import Iterator

from training.lint.finding import Finding
from training.lint.workloads import INDEPENDENT, Workload
from training.site import Site


def half_a_gang(found: list[Workload], _: Site | None) -> Iterator[Finding]:
    """A Volcano Job that may start with a part of its pods."""
    for document in {workload.document.index: workload.document for workload in found}.values():
        spec = document.value.get("spec")
        if document.kind != "Job" or "volcano" not in str(document.value.get("apiVersion")) or not isinstance(spec, dict):
            continue
        pods = sum(workload.count for workload in found if workload.document is document)
        least = spec.get("minAvailable")
        if isinstance(least, int) and least < pods:
            yield Finding(
                "half-a-gang", document.index, ("spec", "minAvailable"), f"the job starts with {least} of its {pods} pods",
                "the others wait for nodes, while those that run hold theirs and cannot train", f"set `minAvailable` to {pods}, or leave it out",
            )  # fmt: skip


def restarts_alone(found: list[Workload], _: Site | None) -> Iterator[Finding]:
    """A pod of a Volcano Job that is restarted in its place."""
    for workload in found:
        of_volcano = workload.document.kind == "Job" and "volcano" in str(workload.document.value.get("apiVersion"))
        if of_volcano and workload.on_neuron is not None and (workload.pod or {}).get("restartPolicy") in ("Always", "OnFailure"):
            yield Finding(
                "restarts-alone", workload.document.index, (*workload.path, "restartPolicy"), "a worker that fails is started again by itself",
                "the others wait for the process they knew: the job hangs", "set `restartPolicy: Never`, and the policy `RestartJob` for PodFailed",
            )  # fmt: skip


def no_pods(found: list[Workload], _: Site | None) -> Iterator[Finding]:
    """A training that asks for no pod at all."""
    for workload in found:
        if workload.on_neuron is not None and workload.count == 0 and workload.document.kind not in INDEPENDENT:
            yield Finding(
                "no-pods", workload.document.index, workload.path, "its number of pods is 0",
                "nothing is started, and the job never ends", "set the number of nodes that train",
            )  # fmt: skip


RULES = (half_a_gang, restarts_alone, no_pods)
