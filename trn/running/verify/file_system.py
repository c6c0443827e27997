"""The file system from a pod: mounted, and as fast as it was bought."""

import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass

from facts.typed import typed
from training.job import SHARED_PATH
from training.plan import Mounted
from training.pod import Pod
from trn.aws.stack_file_system import file_systems
from trn.cli.findings import Finding, failed, passed, skipped, warned
from trn.kubernetes.client import Object
from trn.running.verify import throughput
from trn.running.verify.jobs import kubernetes_job
from trn.running.verify.stage import Stage, Trial, last_lines, phase, state, states

CHECK, TEST = "throughput", "trn-verify-throughput"
LIMIT_S, LIFE_S = 300, 420
FLOW_MB_PER_S = 625
"""What one flow between two instances carries, 5 Gbps outside a placement group (EC2 user guide, network bandwidth). One pod may be at one
server."""
FRACTION = 0.5
"""Below this share of the throughput that was bought it warns: other jobs use the file system too."""


@dataclass(frozen=True)
class Bought:
    """What the file system should give."""

    capacity_gib: int
    throughput_mb_per_s_per_tib: int

    @property
    def mb_per_s(self) -> float:
        """All servers together."""
        return self.capacity_gib / 1024 * self.throughput_mb_per_s_per_tib

    @property
    def expected_mb_per_s(self) -> float:
        """One pod."""
        return min(self.mb_per_s, FLOW_MB_PER_S)


def check(stage: Stage) -> Iterator[Finding | Trial]:
    """A pod mounts the claim, writes and reads."""
    lustre = stage.subject.settings.storage.lustre
    if not lustre.enabled:
        yield skipped(CHECK, "the file system is off in the configuration")
        return
    sizes = bought(stage)
    if not sizes:
        if lustre.existing is not None:
            yield skipped(CHECK, f"{lustre.existing.file_system_id} has no throughput by its size to compare with")
        else:
            yield failed(CHECK, "there is no Lustre file system with the cluster's tag to compare with", f"`{typed('pulumi up')}` makes it")
        return

    def shown(pods: list[Object]) -> Iterator[Finding]:
        if not _ended(pods):
            do = f"`kubectl -n {stage.namespace} describe pvc {lustre.claim_name}`; `kubectl -n kube-system logs -l app=fsx-csi-node`"
            yield failed(CHECK, f"no pod could write and read within {LIMIT_S} s: {states(pods)}", do)
        elif phase(pods[0]) == "Failed":
            do = "is the file system full, or its security group changed?"
            yield failed(CHECK, f"a pod could not write and read: {state(pods[0])}: {last_lines(stage.log(pods[0]))}", do)
        else:
            yield judged(stage.log(pods[0]), sizes[0])

    yield Trial(CHECK, job(stage), LIMIT_S, _ended, shown)


def _ended(pods: list[Object]) -> bool:
    """Whether the one pod has ended, either way."""
    return bool(pods) and phase(pods[0]) in ("Succeeded", "Failed")


def bought(stage: Stage) -> list[Bought]:
    """Sizes of the cluster's file systems, as FSx reports them: a user may have grown one."""
    return [
        Bought(entry["StorageCapacity"], entry["LustreConfiguration"]["PerUnitStorageThroughput"])
        for entry in file_systems(stage.subject.api, stage.subject.settings)
        if "PerUnitStorageThroughput" in entry.get("LustreConfiguration", {})
    ]


def job(stage: Stage) -> Object:
    """The Job: on a Neuron node where there is one, for that is where the file system is used. It asks for no device."""
    pod = Pod(
        image=stage.small_image,
        command=("python3", "-c", inspect.getsource(throughput), SHARED_PATH),
        life_s=LIFE_S,
        groups=stage.groups,
        cpu="1",
        memory="512Mi",
        mounts=(Mounted(stage.subject.settings.storage.lustre.claim_name, SHARED_PATH),),
    )
    return kubernetes_job(TEST, stage.namespace, stage.cluster, pod)


def judged(log: str, size: Bought) -> Finding:
    """What the pod measured, beside what was bought."""
    found = json.loads(log.strip().splitlines()[-1])
    if found["type"] != "lustre":
        return failed(
            CHECK, f"the claim mounts {found['type'] or 'nothing'}, not Lustre", "`kubectl get pv` shows what the claim is bound to"
        )
    write, read = found["write_mb_per_s"], found["read_mb_per_s"]
    of = f"{size.capacity_gib} GiB at {size.throughput_mb_per_s_per_tib} MB/s per TiB give {size.mb_per_s:.0f}"
    limit = f", one pod is expected to reach {size.expected_mb_per_s:.0f}" if size.expected_mb_per_s < size.mb_per_s else ""
    what = f"one pod wrote {write:.0f} and read {read:.0f} MB/s; {of}{limit}"
    if min(write, read) < FRACTION * size.expected_mb_per_s:
        do = "run it while no job uses the file system; CloudWatch has DataWriteBytes and DataReadBytes of AWS/FSx"
        return warned(CHECK, f"{what}: less than {FRACTION:.0%} of it", do)
    return passed(CHECK, what)
