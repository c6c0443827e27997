"""The add-ons and images of one configuration, for `trn addons` and `trn images`."""

from collections.abc import Mapping

from addons import table
from addons.images import mirrored
from addons.table import MirroredImage, Row
from addons.versions import PYTHON_IMAGE
from facts.toolchains import Toolchain
from stacks.cluster import cluster_of
from stacks.images import job_toolchains
from stacks.settings import Settings

__all__ = ["MirroredImage", "Row", "addon_rows", "mirror_list", "mirror_values", "without_image"]


def addon_rows(settings: Settings) -> list[Row]:
    """All add-ons, in the registry's order."""
    return table.rows(cluster_of(settings))


def mirror_list(settings: Settings, registry: str) -> list[MirroredImage]:
    """Images that a mirror must hold for this configuration: of its add-ons, of tests and shells, and of jobs by each toolchain that its nodes run.

    Toolchains without a published image are not in it: `without_image` has them.
    """
    found = table.mirror_list(registry, cluster_of(settings))
    small = [] if PYTHON_IMAGE in {item.image for item in found} else [("verify", PYTHON_IMAGE)]
    training = [(f"training {toolchain.name}", toolchain.image) for toolchain in job_toolchains(settings) if toolchain.image]
    return [*found, *(MirroredImage(wanted_by, image, mirrored(image, registry)) for wanted_by, image in (*small, *training))]


def without_image(settings: Settings) -> list[Toolchain]:
    """Toolchains that the stack's nodes run and of which no image is published."""
    return [toolchain for toolchain in job_toolchains(settings) if toolchain.image is None]


def mirror_values(settings: Settings, registry: str) -> Mapping[str, Mapping[str, object]]:
    """Helm values that `addons.mirror` sets, by chart."""
    return table.mirror_values_by_chart(registry, cluster_of(settings))
