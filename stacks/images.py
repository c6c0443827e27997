"""Images of the pods that `trn` starts on a stack: of tests, of a shell, and of training jobs."""

from collections.abc import Iterator

from addons.images import mirrored
from addons.karpenter import KarpenterSettings
from addons.versions import PYTHON_IMAGE
from facts.catalogue import NEURON_TYPES
from facts.neuron_releases import ami_driver
from facts.toolchains import TOOLCHAINS, Toolchain, startable_on
from stacks.settings import Settings


def job_toolchains(settings: Settings) -> list[Toolchain]:
    """Toolchains whose jobs the stack's Neuron nodes can run, by hardware and by the driver of their AMI; the stack's own is among them."""
    found = {toolchain.name for each in _on_nodes(settings) for toolchain in each} | {settings.training.toolchain}
    return [toolchain for name, toolchain in TOOLCHAINS.items() if name in found]


def _on_nodes(settings: Settings) -> Iterator[list[Toolchain]]:
    for group in settings.node_groups.values():
        yield startable_on(NEURON_TYPES[group.instance_type], ami_driver(group.release_version))
    karpenter = settings.addons.of(KarpenterSettings)
    if karpenter.enabled:
        driver = ami_driver(f"{settings.control_plane.kubernetes_version}.0-{karpenter.ami_version[1:]}")
        for pool in karpenter.neuron_pools.values():
            yield startable_on(NEURON_TYPES[pool.instance_type], driver)


def small_image(settings: Settings) -> str:
    """A shell and Python, from the mirror where there is one."""
    return mirrored(PYTHON_IMAGE, settings.addons.mirror)


def training_image(settings: Settings) -> str | None:
    """AWS's training image of `training.toolchain`, from the mirror where there is one; None where none is known, or the key is not set."""
    name = settings.training.toolchain
    image = TOOLCHAINS[name].image if name is not None else None
    return mirrored(image, settings.addons.mirror) if image is not None else None
