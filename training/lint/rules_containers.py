"""What is in the containers: images and what they start on, variables, shared memory, processes."""

import re
from collections.abc import Iterator
from typing import Any

from facts.names import NEURON_CORE_RESOURCE, NEURON_RESOURCE
from facts.neuron_releases import (
    AMI_RELEASES,
    NEWEST_AMI_DATE,
    OLDEST_SDK,
    SDK_RELEASES,
    SdkRelease,
    ami_date,
    ami_driver,
    fitting_ami_dates,
    runtime_conflict,
    version_text,
)
from facts.toolchains import TOOLCHAINS, Toolchain, of_image
from training.lint.finding import Finding
from training.lint.placement import instance_of, nodes_for, types_of
from training.lint.workloads import Container, Workload
from training.site import Site

_XLA_ONLY = "only PyTorch/XLA reads it (pytorch/xla, torch_xla/csrc/dtype.cpp, up to 2.9)"
_DEAD_FROM = {"NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS": ((2, 31), "aws-neuron/aws-neuron-sdk, release notes 2.31")}
"""Variables of Neuron without effect from a release of the SDK on, with the source."""
FOREIGN_VARIABLES = re.compile(r"(NCCL(?!_DEBUG)|TORCH_NCCL|CUDA|PYTORCH_CUDA|NVIDIA|TPU)_[A-Z0-9_]+")
"""Of other accelerators; nothing on Neuron reads them. NCCL_DEBUG turns the log of Neuron's collectives on (aws-neuron/aws-neuron-sdk, training
troubleshooting)."""
CACHE_VARIABLE = "NEURON_COMPILE_CACHE_URL"
SHARE_STORE = "TORCH_DISABLE_SHARE_RDZV_TCP_STORE"
_CACHE_FLAG = re.compile(r"--cache_dir[= ]([^\s\"']+)")
_PROCESSES = re.compile(r"--nproc[_-]per[_-]node[= ]\s*\"?([0-9]+)")
_SEVERAL = re.compile(r"--nproc[_-]per[_-]node[= ]\s*\"?[${]|\b(?:mpirun|mpiexec)\b")
"""A number of processes that the manifest leaves to something else."""
_RESTARTS = re.compile(r"--max[_-]restarts[= ]\s*\"?([0-9]+)")
_SDK = re.compile(r"neuronx[^:]*:.*-sdk(?P<sdk>[0-9]+\.[0-9]+)")
_IDLE = re.compile(r"(?:^|[\s;&/])sleep\s+(?:infinity|[0-9]+)")
_INDEX, _MASTER = "JOB_COMPLETION_INDEX", "MASTER_ADDR"
_OF_ONE_POD = {"localhost", "127.0.0.1", "::1", "$(POD_IP)", "$(HOSTNAME)", "$(POD_NAME)"}
_LEAST_PROCESSORS = 1
"""Processors for each worker: it traces graphs, feeds data and drives its core, each in Python."""


def unpinned_image(found: list[Workload], _: Site | None) -> Iterator[Finding]:
    """An image whose content may be another one tomorrow."""
    for workload, container in _on_neuron(found):
        image = container.image
        if image is None or "$" in image or "{{" in image:
            continue
        tag = image.rpartition("/")[2].partition("@")[0].partition(":")[2]
        if "@" not in image and tag in ("", "latest"):
            yield Finding(
                "unpinned-image", workload.document.index, (*container.path, "image"), f"the image `{image}` is not pinned",
                "a run that is resumed may get another image than the one it began with", "name a tag other than `latest`, or a digest",
            )  # fmt: skip


def driver(found: list[Workload], site: Site | None) -> Iterator[Finding]:
    """An image whose runtime does not start on the driver of the nodes that the pod may be placed on."""
    for workload, container in _on_neuron(found):
        sdk = _sdk(container)
        if sdk is None:
            continue
        for where, release_version in _drivers_of(workload, site):
            try:
                has = ami_driver(release_version)
            except ValueError:
                continue  # the stack's own check reports it
            release = SDK_RELEASES.get(".".join(map(str, sdk)))
            if release is None and sdk > OLDEST_SDK.number:
                continue
            # Of a release before the table the runtime is older than the oldest that it has.
            conflict = runtime_conflict(has, release.runtime if release is not None else OLDEST_SDK.runtime)
            if conflict is None:
                continue
            name = ".".join(map(str, sdk))
            age = "" if release is not None else f", which is older than {OLDEST_SDK.name}, the oldest known here,"
            # Without a cluster the nodes are not known: those of another stack may have what the image needs.
            else_where = "" if site is not None else "; `--stack NAME` looks at the nodes of a stack in place of the newest"
            fix = f"{_fitting_release(release)}, or take" if release is not None else "take"
            yield Finding(
                "image-and-driver", workload.document.index, (*container.path, "image"),
                f"the image of SDK {name}{age} does not start on {where}: driver {version_text(has)}", conflict,
                f"{fix} an image of SDK 2.31 or later{else_where}",
            )  # fmt: skip


def _sdk(container: Container) -> tuple[int, ...] | None:
    """Release of the Neuron SDK in one of AWS's images, by its tag."""
    match = _SDK.search(container.image or "")
    return tuple(map(int, match["sdk"].split("."))) if match else None


def _drivers_of(workload: Workload, site: Site | None) -> list[tuple[str, str | None]]:
    """Nodes that the pod may be placed on, with their AMI release; without a cluster the newest."""
    if site is None:
        return [(f"AMI releases from {NEWEST_AMI_DATE} on", None)]
    return [(f"nodes of {nodes.name}", nodes.release_version) for nodes in nodes_for(workload, site)]


def _fitting_release(release: SdkRelease) -> str:
    """What the nodes need for a release's runtime, with an AMI release that has it where one is known."""
    first, after = fitting_ami_dates(release.runtime)
    bounds = [f"from {first} on"] if first.strip("0") else []
    bounds += [f"before {after}"] if after is not None else []
    fits = [name for name in AMI_RELEASES.values() if first <= ami_date(name) < (after or "9")]
    such_as = f", such as `releaseVersion: {'`, `'.join(fits)}` by the cluster's Kubernetes" if fits else ""
    return f"give the nodes an AMI release {' and '.join(bounds)}{such_as}"


def variables(found: list[Workload], _: Site | None) -> Iterator[Finding]:
    """Variables without effect in the image that they are set for; of an image that is not known nothing is said."""
    for workload, container in _on_neuron(found):
        toolchain, sdk = of_image(container.image or ""), _sdk(container)
        for name, (_value, path) in container.environment.items():
            since, source = _DEAD_FROM.get(name, (None, ""))
            if since is not None and sdk is not None and sdk >= since:
                yield Finding(
                    "dead-variable", workload.document.index, path, f"`{name}` has no effect since SDK {'.'.join(map(str, since))}", source, "delete it",
                )  # fmt: skip
            elif name in ("XLA_USE_BF16", "XLA_DOWNCAST_BF16") and toolchain is not None and toolchain.framework != "torch-xla":
                yield Finding(
                    "dead-variable", workload.document.index, path, f"`{name}` has no effect with {toolchain.name}", _XLA_ONLY,
                    "delete it, and choose the precision in the script",
                )  # fmt: skip
            elif FOREIGN_VARIABLES.fullmatch(name):
                yield Finding(
                    "foreign-variable", workload.document.index, path, f"`{name}` has no effect on Neuron",
                    "it is of another accelerator", "delete it",
                )  # fmt: skip


def shared_memory(found: list[Workload], _: Site | None) -> Iterator[Finding]:
    """Several processes of one node share memory; Kubernetes gives 64 MiB."""
    for workload, container in _on_neuron(found):
        if workload.pod is None or not _has_several_processes(container):
            continue
        mounts = container.value.get("volumeMounts")
        if isinstance(mounts, list) and any(isinstance(mount, dict) and mount.get("mountPath") == "/dev/shm" for mount in mounts):
            continue
        yield Finding(
            "small-shared-memory", workload.document.index, container.path, "nothing is mounted at /dev/shm",
            "Kubernetes gives 64 MiB: data loaders and collectives of many processes end with a bus error",
            "mount an emptyDir with `medium: Memory` at /dev/shm",
        )  # fmt: skip


def shared_cache(found: list[Workload], _: Site | None) -> Iterator[Finding]:
    """One compile cache for two jobs."""
    first: dict[str, Workload] = {}
    for workload, container in _on_neuron(found):
        flags = _CACHE_FLAG.search(f"{container.environment.get('NEURON_CC_FLAGS', ('', ()))[0] or ''} {container.text}")
        value, path = container.environment.get(CACHE_VARIABLE, (None, container.path))
        # The flag wins over the variable (aws-neuron/aws-neuron-sdk, persistent cache).
        cache = flags[1] if flags else value
        if cache is None:
            continue
        other = first.setdefault(cache, workload)
        if other.document is not workload.document:
            yield Finding(
                "shared-cache", workload.document.index, path, f"{other.document.kind} {other.document.name} writes into the compile cache `{cache}` too",
                "each waits for the other's locks, and a lock that a killed job left blocks both", "give each job a folder of its own",
            )  # fmt: skip


def processes(found: list[Workload], site: Site | None) -> Iterator[Finding]:
    """A number of processes that the hardware cannot run."""
    for workload, container in _on_neuron(found):
        count, instance = _processes(container), instance_of(workload, site)
        toolchain = of_image(container.image or "")
        if count is None or workload.asks(NEURON_CORE_RESOURCE):
            continue
        allowed = _allowed(toolchain, [each.name for each in types_of(workload, site)])
        if allowed and count not in allowed:
            where = instance.name if instance is not None else "any Trainium instance"
            with_what = f" with {toolchain.name}" if toolchain is not None else ""
            yield Finding(
                "worker-count", workload.document.index, _processes_path(container), f"{count} processes for each node do not run on {where}{with_what}",
                "the runtime starts only certain numbers of processes on the cores of a node", f"take one of {', '.join(map(str, sorted(allowed)))}",
            )  # fmt: skip


def restarts(found: list[Workload], _: Site | None) -> Iterator[Finding]:
    """torchrun that restarts workers which share its store."""
    for workload, container in _on_neuron(found):
        match = _RESTARTS.search(container.text)
        if match and int(match[1]) and SHARE_STORE not in container.environment and "--standalone" not in container.text:
            yield Finding(
                "shared-rendezvous-store", workload.document.index, container.path, f"torchrun restarts workers, and `{SHARE_STORE}` is not set",
                "new workers read the addresses of dead ones from the agent's store (pytorch/pytorch#135712)", f'set `{SHARE_STORE}: "1"`',
            )  # fmt: skip


def idle_cores(found: list[Workload], site: Site | None) -> Iterator[Finding]:
    """torchrun with fewer processes than the pod has cores, each of which drives one."""
    for workload, container in _on_neuron(found):
        count, instance, asked = _processes(container), instance_of(workload, site), workload.asks(NEURON_RESOURCE)
        given = {"NEURON_RT_NUM_CORES", "NEURON_RT_VISIBLE_CORES", "NEURON_RT_VIRTUAL_CORE_SIZE"} & container.environment.keys()
        if count is None or count < 2 or instance is None or asked is None or given or not _PROCESSES.search(container.text):
            continue
        sizes = {nodes.logical_core_size for nodes in nodes_for(workload, site)} or {None}
        cores = min(instance.cores_at(size) for size in sizes) * asked[0] // instance.chip_count
        if count < cores:
            yield Finding(
                "idle-cores", workload.document.index, _processes_path(container), f"{count} processes, and {asked[0]} chips of {instance.name} have {cores} cores",
                "torchrun's workers drive one core each (aws-neuron/aws-neuron-sdk, torch-neuronx): the others are paid for and idle",
                f"run {cores} processes, or ask for {max(1, count * instance.chip_count // instance.cores_at(max(sizes, key=lambda size: size or 0)))} chips",
            )  # fmt: skip


def few_processors(found: list[Workload], _: Site | None) -> Iterator[Finding]:
    """A limit of processors that all workers of a pod share."""
    for workload, container in _on_neuron(found):
        count, limits = _processes(container), (container.value.get("resources") or {})
        limits = limits.get("limits") if isinstance(limits, dict) else None
        given = str(limits.get("cpu", "")) if isinstance(limits, dict) else ""
        cpus = (
            float(given[:-1]) / 1000
            if re.fullmatch(r"[0-9]+m", given)
            else float(given)
            if re.fullmatch(r"[0-9]+(\.[0-9]+)?", given)
            else None
        )
        if count is not None and cpus is not None and cpus < count * _LEAST_PROCESSORS:
            yield Finding(
                "few-processors", workload.document.index, (*container.path, "resources", "limits", "cpu"), f"{given} CPUs for {count} processes",
                "each traces graphs, reads data and drives its core: throttled, all cores wait for the slowest", f"set {count} or more, or no limit",
            )  # fmt: skip


def own_master(found: list[Workload], _: Site | None) -> Iterator[Finding]:
    """Every pod that is its own master: as many trainings of one node as there are pods."""
    for workload, container in _on_neuron(found):
        if workload.gang_size < 2 or _MASTER not in container.environment:
            continue
        value, path = container.environment[_MASTER]
        entry: Any = next((each for each in container.value.get("env") or () if isinstance(each, dict) and each.get("name") == _MASTER), {})
        for key in ("valueFrom", "fieldRef", "fieldPath"):
            entry = entry.get(key) if isinstance(entry, dict) else None
        if value in _OF_ONE_POD or entry in ("status.podIP", "metadata.name", "status.hostIP"):
            yield Finding(
                "own-master", workload.document.index, path, f"`{_MASTER}` of each of {workload.gang_size} pods is the pod itself",
                "each waits for others that never come, or trains alone", "name the first pod by its stable name, such as `JOB-0.SERVICE`",
            )  # fmt: skip


def index_of_none(found: list[Workload], _: Site | None) -> Iterator[Finding]:
    """A Job that reads its pods' index and gives none."""
    for workload, container in _on_neuron(found):
        document, spec = workload.document, workload.document.value.get("spec")
        if document.kind != "Job" or document.value.get("apiVersion") != "batch/v1" or not isinstance(spec, dict):
            continue
        if spec.get("completionMode") != "Indexed" and _INDEX in f"{container.text} {container.value.get('env')}":
            yield Finding(
                "no-completion-index", document.index, ("spec", "completionMode"), f"`{_INDEX}` is read, and the Job is not indexed",
                "Kubernetes sets it with `completionMode: Indexed` only (Kubernetes, Indexed Job): every pod takes an empty rank",
                "set `completionMode: Indexed`",
            )  # fmt: skip


def _on_neuron(found: list[Workload]) -> Iterator[tuple[Workload, Container]]:
    for workload in found:
        container = workload.on_neuron
        if container is not None:
            yield workload, container


def _has_several_processes(container: Container) -> bool:
    """Whether it is sure to start more than one process that trains."""
    count = _processes(container)
    return count > 1 if count is not None else bool(_SEVERAL.search(container.text)) and not _IDLE.search(container.text)


def _processes(container: Container) -> int | None:
    given = container.value.get("numProcPerNode")
    if isinstance(given, int):
        return given
    match = _PROCESSES.search(container.text)
    return int(match[1]) if match else None


def _processes_path(container: Container) -> tuple[str | int, ...]:
    if "numProcPerNode" in container.value:
        return (*container.path, "numProcPerNode")
    key = "args" if _PROCESSES.search(" ".join(map(str, container.value.get("args") or ()))) else "command"
    return (*container.path, key)


def _allowed(toolchain: Toolchain | None, types: list[str]) -> set[int]:
    """Numbers of processes that one of the types runs, by the image's toolchain, or by any where the image does not say."""
    chosen = [toolchain] if toolchain is not None else list(TOOLCHAINS.values())
    return {count for each in chosen for name in types for count in each.workers.get(name, ())}


RULES = (
    unpinned_image, driver, variables, shared_memory, shared_cache, processes, restarts, idle_cores, few_processors, own_master, index_of_none,
)  # fmt: skip
