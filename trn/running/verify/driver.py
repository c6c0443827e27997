"""The Neuron driver of every node, read on the node, against the runtime of the training image."""

import re
from collections.abc import Iterator, Mapping

from facts.neuron_releases import Version, version_text
from facts.toolchains import TOOLCHAINS, driver_conflict
from training.pod import Pod
from trn.cli.findings import Finding, failed, passed, skipped, warned
from trn.kubernetes.client import Object
from trn.running.subject import name_of
from trn.running.verify.jobs import TEST_LABEL, kubernetes_job
from trn.running.verify.stage import Stage, Trial, phase, states

CHECK, TEST = "driver", "trn-verify-driver"
LIMIT_S, LIFE_S = 180, 300
VERSION_FILE = "/sys/module/neuron/version"
"""Where the kernel module says its version; every container sees it, with or without a device."""


def check(stage: Stage) -> Iterator[Finding | Trial]:
    """One pod on every Neuron node prints the driver's version."""
    nodes = {name_of(node) for _, node in stage.subject.neuron_nodes}
    if not nodes:
        yield skipped(CHECK, "no Neuron node is up")
        return

    def shown(pods: list[Object]) -> Iterator[Finding]:
        said = {pod["spec"]["nodeName"]: stage.log(pod) for pod in pods if phase(pod) == "Succeeded"}
        late = sorted(nodes - said.keys())
        if late:
            do = "`kubectl describe node` of it; a node that runs no pod trains nothing"
            yield failed(CHECK, f"could not check {', '.join(late)} within {LIMIT_S} s: {states(pods)}", do)
        yield from judged(said, stage.subject.settings.training.toolchain)

    yield Trial(CHECK, job(stage, len(nodes)), LIMIT_S, lambda pods: _over([phase(pod) for pod in pods], len(nodes)), shown)


def _over(phases: list[str], count: int) -> bool:
    """Whether all have said it, or one cannot: Kubernetes then ends the Job."""
    return "Failed" in phases or phases == ["Succeeded"] * count


def job(stage: Stage, count: int) -> Object:
    """One pod for each node, never two on one. No device is asked for: it runs beside training."""
    pod = Pod(
        image=stage.small_image,
        command=("cat", VERSION_FILE),
        life_s=LIFE_S,
        apart=(TEST_LABEL, TEST),
        groups=stage.groups,
    )
    return kubernetes_job(TEST, stage.namespace, stage.cluster, pod, count)


def judged(said: Mapping[str, str], toolchain: str | None) -> Iterator[Finding]:
    """What the nodes said, beside what the SDK of the training image takes."""
    drivers: dict[Version, list[str]] = {}
    for node, text in sorted(said.items()):
        match = re.fullmatch(r"\d+(\.\d+)+", text.strip())
        if match is None:
            yield failed(
                CHECK, f"{node}: the Neuron driver is not loaded ({text.strip()[:80]!r})", "replace the node; its AMI must be a Neuron AMI"
            )
        else:
            drivers.setdefault(tuple(int(part) for part in match.group().split(".")), []).append(node)
    for driver, nodes in drivers.items():
        yield _against(driver, ", ".join(nodes), toolchain)


def _against(driver: Version, nodes: str, toolchain: str | None) -> Finding:
    has = f"{nodes}: driver {version_text(driver)}"
    if toolchain is None:
        return warned(CHECK, f"{has}; the toolchain of the jobs is not known", "set `training.toolchain` to have them compared")
    found = TOOLCHAINS[toolchain]
    runtime, conflict = version_text(found.sdk.runtime), driver_conflict(found, driver)
    if conflict:
        do = "pin `releaseVersion` of the node group; docs/hardware.md has the drivers"
        return failed(CHECK, f"{has} cannot run images of {toolchain}, runtime {runtime}: {conflict}", do)
    return passed(CHECK, f"{has} runs images of {toolchain}, runtime {runtime}")
