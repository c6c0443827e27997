"""What fits together to train on Neuron: framework, image, runtime, driver, hardware, as one named toolchain each.

Sources: release notes and documentation of aws-neuron/aws-neuron-sdk, 2.30 to 2.33, read 2026-08 to 2026-11;
aws-neuron/deep-learning-containers, 2026-08-17. What is not established is in `marks`, by field, and is nowhere treated as known.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from facts.catalogue import NEURON_TYPES, InstanceType
from facts.neuron_releases import SDK_RELEASES, SdkRelease, Version, fitting_ami_dates, runtime_conflict

Framework = Literal["torch-xla", "jax", "torch"]
Start = Literal["torchrun", "jax", "tensorflow", "none"]
"""How the processes of a node find each other: torchrun starts them, `jax.distributed` or TF_CONFIG is set for them, or nothing is done."""
State = Literal["current", "beta", "frozen"]


@dataclass(frozen=True)
class Toolchain:
    """One set of versions that a training image brings, and what it runs on."""

    name: str
    sdk: SdkRelease
    """Release of the Neuron SDK in the image: its runtime decides on which drivers it starts."""
    state: State
    """`frozen`: the vendor publishes nothing newer of this kind, and fixes nothing."""
    framework: Framework
    start: Start
    python: str
    """Minor in the image."""
    versions: Mapping[str, str]
    """Packages of the image that decide what a script may use."""
    image: str | None
    """Exact name and tag; None where none is known."""
    build_from: str
    """What to build an image from where there is none; empty where there is one."""
    workers: Mapping[str, tuple[int, ...]]
    """Processes that one whole node can run, by instance type; a type that is not here cannot run it."""
    process_per: Literal["core", "node"]
    """What one process has without another word: a logical core, or all cores of its node."""
    marks: Mapping[str, str] = field(default_factory=dict)
    """Fields that are not established, or only in part, with what is missing."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Where fields that the module's own sources do not cover are from."""

    @property
    def ami_dates(self) -> tuple[str, str | None]:
        """First and last date of AMI releases whose driver starts it; None as the last where the newest does."""
        return fitting_ami_dates(self.sdk.runtime)

    def default_workers(self, allowed: tuple[int, ...]) -> int:
        """Processes of a node where a job does not say, of the counts that the node can run."""
        return max(allowed) if self.process_per == "core" else min(allowed)


_NEURON = "public.ecr.aws/neuron"
_XLA_WORKERS = {
    "trn1.2xlarge": (1, 2),
    "trn1.32xlarge": (1, 2, 8, 32),
    "trn1n.32xlarge": (1, 2, 8, 32),
    "trn2.3xlarge": (4,),
    "trn2.48xlarge": (64,),
    "trn2u.48xlarge": (64,),
}
_XLA_MARKS = {
    "workers": "1, 2, 8 and 32 are published for trn1.32xlarge, 1 and 2 for trn1.2xlarge; trn1n as trn1 is inferred; on trn2 only one process"
    " for each logical core is documented",
    "state": "PyTorch/XLA training is out of support since SDK 2.30",
}
_XLA_SOURCES = {
    "workers": "aws-neuron/aws-neuron-sdk, torch-neuronx release notes, number of data parallel training workers on one Trn1 instance; BERT tutorial (archive)",
    "image": "aws-neuron/deep-learning-containers README, 2026-08-17; pytorch/training/2.9.0/Dockerfile.neuronx",
}

TOOLCHAINS: Mapping[str, Toolchain] = {
    toolchain.name: toolchain
    for toolchain in (
        Toolchain(
            name="xla-2.28", sdk=SDK_RELEASES["2.28"], state="frozen", framework="torch-xla", start="torchrun", python="3.12",
            versions={"torch": "2.9.0", "torch-neuronx": "2.9.0.2.12.22436", "neuronx-distributed-training": "1.7.0"},
            image=f"{_NEURON}/pytorch-training-neuronx:2.9.0-neuronx-py312-sdk2.28.0-ubuntu24.04", build_from="",
            workers=_XLA_WORKERS, process_per="core", marks=_XLA_MARKS, sources=_XLA_SOURCES,
        ),
        Toolchain(
            name="xla-2.30", sdk=SDK_RELEASES["2.30"], state="frozen", framework="torch-xla", start="torchrun", python="3.12",
            versions={
                "torch": "2.9.1", "torch-neuronx": "2.9.0.2.14.27725", "neuronx-cc": "2.25.3371.0", "neuronx-distributed": "0.19.28093",
                "neuronx-distributed-training": "1.7.0",
            },
            image=f"{_NEURON}/pytorch-training-neuronx:2.9.0-neuronx-py312-sdk2.30.0-ubuntu24.04", build_from="",
            workers=_XLA_WORKERS, process_per="core", marks=_XLA_MARKS, sources=_XLA_SOURCES,
        ),
        Toolchain(
            name="jax-2.32", sdk=SDK_RELEASES["2.32"], state="current", framework="jax", start="jax", python="3.13",
            versions={"jax": "0.10.0", "jax-neuronx": "0.10.0.1.0.11459", "libneuronxla": "3.0.5356.0", "neuronx-cc": "2.27.5334.0"},
            image=f"{_NEURON}/jax-training-neuronx:0.10.0-neuronx-py313-sdk2.32.0-ubuntu24.04", build_from="",
            workers={
                "trn1.2xlarge": (1, 2),
                "trn1.32xlarge": (1, 2, 8, 32),
                "trn1n.32xlarge": (1, 2, 8, 32),
                "trn2.3xlarge": (1, 4),
                "trn2.48xlarge": (1, 64),
                "trn2u.48xlarge": (1, 64),
                "inf2.xlarge": (1, 2),
                "inf2.8xlarge": (1, 2),
                "inf2.24xlarge": (1, 12),
                "inf2.48xlarge": (1, 24),
            },
            process_per="node",
            marks={
                "workers": "public examples run one process for each node with all its cores; the other counts follow from the runtime's"
                " limits of trn1, or are one process for each logical core (inferred); AWS lists inf2 for the image, and publishes no training on it",
                "state": "AWS marks JAX NeuronX as beta; how well it trains BERT-large on trn1 is not established",
                "driver": "the oldest driver that runtime 2.34 starts on is not published; drivers up to 2.26 are refused from runtime 2.32 on",
            },
            sources={"image": "aws-neuron/deep-learning-containers jax/training/0.10.0/Dockerfile.neuronx, 2026-08-17"},
        ),
        Toolchain(
            name="torch-2.33", sdk=SDK_RELEASES["2.33"], state="beta", framework="torch", start="torchrun", python="3.14",
            versions={"torch": "2.14.0", "torch-neuronx": "2.14.3.0", "torchtitan-neuron": "0.2.2"},
            image=None,
            build_from="Ubuntu 26.04 with Python 3.14 and torch-neuronx 2.14.3.0 of AWS's own package index, and name it under `image`",
            workers={
                "trn2.3xlarge": (1, 2, 4),
                "trn2.48xlarge": (1, 2, 4, 64),
                "trn2u.48xlarge": (1, 2, 4, 64),
            },
            process_per="core",
            marks={
                "image": "a training image exists since 2.33.0, its exact name and tag are not established",
                "workers": "one process for each logical core is documented; fewer, within one chip, are inferred",
                "driver": "driver 2.31 came with it; the oldest driver that runtime 2.35 starts on is not established, nor an AMI with 2.31",
                "python": "3.12 to 3.14 by the documentation; which wheels are published for which system is reported in two ways",
            },
            sources={"workers": "aws-neuron/aws-neuron-sdk, training best practices, 2026-10: 64 ranks on trn2.48xlarge, one for each logical core"},
        ),
    )
}  # fmt: skip
"""By name: framework and SDK release."""
DEFAULT_TOOLCHAIN = "xla-2.30"
"""Of new stacks: the only one for which AWS published figures of a training on trn1. Its AMI must be pinned."""

_DLC = re.compile(r"(?:^|/)(?P<kind>[a-z]+)-(?P<purpose>training|inference)-neuronx:(?P<tag>.+)$")
"""Name of AWS's Deep Learning Containers for Neuron, in any registry that keeps it."""
_DLC_SDK = re.compile(r"-sdk(?P<sdk>[0-9]+\.[0-9]+)\.")
_KINDS: Mapping[Framework, tuple[str, str]] = {"torch-xla": ("pytorch", "PyTorch"), "jax": ("jax", "JAX"), "torch": ("pytorch", "PyTorch")}


def running_on(instance: InstanceType) -> list[str]:
    """Names of the toolchains that run on an instance type."""
    return [name for name, toolchain in TOOLCHAINS.items() if instance.name in toolchain.workers]


def startable_on(instance: InstanceType, driver: Version) -> list[Toolchain]:
    """Toolchains that run on an instance type and start on a driver."""
    return [TOOLCHAINS[name] for name in running_on(instance) if driver_conflict(TOOLCHAINS[name], driver) is None]


def hardware_conflict(toolchain: Toolchain, instance: InstanceType) -> str | None:
    """Why a toolchain does not run on an instance type; None where it does."""
    if instance.name in toolchain.workers:
        return None
    return f"{toolchain.name} runs on {', '.join(toolchain.workers)}, not on {instance.name}"


def driver_conflict(toolchain: Toolchain, driver: Version) -> str | None:
    """Why a toolchain's image does not start on a driver; None where nothing is known against it."""
    return runtime_conflict(driver, toolchain.sdk.runtime)


def allowed_workers(toolchain: Toolchain, instance: InstanceType, chip_count: int, logical_core_size: int | None = None) -> tuple[int, ...]:
    """Processes that one node can run with `chip_count` of its chips, fewest first; none for a type that cannot run the toolchain."""
    counts = toolchain.workers.get(instance.name, ())
    if not counts:
        return ()
    cores = instance.cores_at(logical_core_size) * chip_count // instance.chip_count
    # Where logical cores have a choice of sizes, as on Trainium2, one process for each holds for parts of a node as well; Trainium's counts are fixed.
    each_core = {cores} if instance.chip is not None and instance.chip.has_logical_cores else set[int]()
    return tuple(sorted({count for count in counts if count <= cores} | each_core))


def workers_conflict(
    toolchain: Toolchain, instance: InstanceType, workers: int, chip_count: int, logical_core_size: int | None = None
) -> str | None:
    """Why a node cannot run so many processes; None where it can."""
    allowed = allowed_workers(toolchain, instance, chip_count, logical_core_size)
    if workers in allowed:
        return None
    chips = "" if chip_count == instance.chip_count else f" with {chip_count} of its chips"
    return f"{toolchain.name} on {instance.name}{chips} runs {', '.join(map(str, allowed)) or 'no'} processes, not {workers}"


def of_image(image: str) -> Toolchain | None:
    """The toolchain that one of AWS's own images brings, by its name; None for any other image."""
    found = _DLC.search(image)
    sdk = _DLC_SDK.search(found["tag"]) if found is not None and found["purpose"] == "training" else None
    if found is None or sdk is None:
        return None
    brings = (each for each in TOOLCHAINS.values() if each.sdk.name == sdk["sdk"] and _KINDS[each.framework][0] == found["kind"])
    return next(brings, None)


def image_conflict(toolchain: Toolchain, image: str) -> str | None:
    """Why an image is not of a toolchain, as far as its name says: one of AWS's own names framework and SDK. None for any other."""
    found = _DLC.search(image)
    if found is None:
        return None
    kind, title = _KINDS[toolchain.framework]
    if found["purpose"] == "inference":
        return f"it is an image for inference, {toolchain.name} trains"
    if found["kind"] != kind:
        return f"it is an image of {found['kind']}, {toolchain.name} needs one of {title}"
    sdk = _DLC_SDK.search(found["tag"])
    if sdk is not None and sdk["sdk"] != toolchain.sdk.name:
        return f"it brings SDK {sdk['sdk']}, {toolchain.name} has {toolchain.sdk.name}"
    return None


assert all(name in NEURON_TYPES for toolchain in TOOLCHAINS.values() for name in toolchain.workers)
