"""What is in the containers: images and what they start on, variables, shared memory, processes."""

import re
from collections.abc import Iterator

from facts.catalogue import NEURON_TYPES
from facts.names import NEURON_CORE_RESOURCE
from facts.neuron_releases import (
    AMI_RELEASES,
    NEWEST_AMI_DATE,
    NEWEST_DRIVER,
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
from training.lint.rules_hardware import instance_of, nodes_of
from training.lint.workloads import Container, Workload
from training.site import Site

DEAD_VARIABLES = {
    "NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS": "Neuron SDK 2.31 made it without effect (aws-neuron/aws-neuron-sdk, release notes 2.31)",
    "XLA_USE_BF16": "PyTorch/XLA 2.6 removed it (pytorch/xla, release notes)",
    "XLA_DOWNCAST_BF16": "PyTorch/XLA 2.6 removed it (pytorch/xla, release notes)",
}
"""Variables that once did something on Neuron, with since when they do not."""
FOREIGN_VARIABLES = re.compile(r"(NCCL|TORCH_NCCL|CUDA|PYTORCH_CUDA|NVIDIA|TPU)_[A-Z0-9_]+")
"""Of other accelerators; nothing on Neuron reads them."""
CACHE_VARIABLE = "NEURON_COMPILE_CACHE_URL"
SHARE_STORE = "TORCH_DISABLE_SHARE_RDZV_TCP_STORE"
_CACHE_FLAG = re.compile(r"--cache_dir[= ]([^\s\"']+)")
_PROCESSES = re.compile(r"--nproc[_-]per[_-]node[= ]\s*\"?([0-9]+)")
_RESTARTS = re.compile(r"--max[_-]restarts[= ]\s*\"?([0-9]+)")
_SDK = re.compile(r"neuronx[^:]*:.*-sdk(?P<sdk>[0-9]+\.[0-9]+)")


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
    """An image whose runtime does not start on the node's driver."""
    for workload, container in _on_neuron(found):
        match = _SDK.search(container.image or "")
        release = SDK_RELEASES.get(match["sdk"]) if match else None
        if release is None:
            continue
        nodes = nodes_of(workload, site)
        try:
            has = ami_driver(nodes.release_version) if nodes is not None else NEWEST_DRIVER
        except ValueError:
            continue  # the stack's own check reports it
        conflict = runtime_conflict(has, release.runtime)
        if conflict is not None:
            where = f"nodes of {nodes.name}" if nodes is not None else f"AMI releases from {NEWEST_AMI_DATE} on"
            # Without a cluster the nodes are not known: those of another stack may have what the image needs.
            else_where = "" if nodes is not None else "; `--stack NAME` looks at the nodes of a stack in place of the newest"
            yield Finding(
                "image-and-driver", workload.document.index, (*container.path, "image"),
                f"the image of SDK {release.name} does not start on {where}: driver {version_text(has)}", conflict,
                f"{_fitting_release(release)}, or take an image of SDK 2.31 or later{else_where}",
            )  # fmt: skip


def _fitting_release(release: SdkRelease) -> str:
    """What the nodes need for a release's runtime, with an AMI release that has it where one is known."""
    first, after = fitting_ami_dates(release.runtime)
    bounds = [f"from {first} on"] if first.strip("0") else []
    bounds += [f"before {after}"] if after is not None else []
    fits = [name for name in AMI_RELEASES.values() if first <= ami_date(name) < (after or "9")]
    such_as = f", such as `releaseVersion: {'`, `'.join(fits)}` by the cluster's Kubernetes" if fits else ""
    return f"give the nodes an AMI release {' and '.join(bounds)}{such_as}"


def variables(found: list[Workload], _: Site | None) -> Iterator[Finding]:
    """Variables without effect."""
    for workload, container in _on_neuron(found):
        for name, (_value, path) in container.environment.items():
            if name in DEAD_VARIABLES:
                yield Finding("dead-variable", workload.document.index, path, f"`{name}` has no effect", DEAD_VARIABLES[name], "delete it")
            elif FOREIGN_VARIABLES.fullmatch(name):
                yield Finding(
                    "foreign-variable", workload.document.index, path, f"`{name}` has no effect on Neuron",
                    "it is of another accelerator", "delete it",
                )  # fmt: skip


def efa_variables(found: list[Workload], _: Site | None) -> Iterator[Finding]:
    """EFA asked for, and libfabric free to take TCP."""
    for workload, container in _on_neuron(found):
        if workload.pod is not None and workload.interface_count and "FI_PROVIDER" not in container.environment:
            yield Finding(
                "efa-not-forced", workload.document.index, container.path, "`FI_PROVIDER` is not set beside EFA interfaces",
                "libfabric falls back to TCP without a message where EFA does not work", "set `FI_PROVIDER: efa` and `FI_EFA_USE_DEVICE_RDMA: \"1\"`",
            )  # fmt: skip


def shared_memory(found: list[Workload], site: Site | None) -> Iterator[Finding]:
    """Ranks of one node share memory; Kubernetes gives 64 MiB."""
    for workload, container in _on_neuron(found):
        if workload.pod is None or _processes(container) == 1:
            continue
        mounts = container.value.get("volumeMounts")
        if isinstance(mounts, list) and any(isinstance(mount, dict) and mount.get("mountPath") == "/dev/shm" for mount in mounts):
            continue
        asked = next(iter(workload.devices.values()), (1, ()))
        instance = instance_of(workload, site)
        if asked[0] < 2 and (instance is None or instance.chip_count == 1):
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
        allowed = _allowed(toolchain, [instance.name] if instance is not None else list(NEURON_TYPES))
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


def _on_neuron(found: list[Workload]) -> Iterator[tuple[Workload, Container]]:
    for workload in found:
        container = workload.on_neuron
        if container is not None:
            yield workload, container


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


RULES = (unpinned_image, driver, variables, efa_variables, shared_memory, shared_cache, processes, restarts)
