"""The add-ons and images of one configuration, for `trn addons` and `trn images`."""

from collections.abc import Mapping

from addons import table
from addons.images import mirrored
from addons.table import MirroredImage, Row
from stacks.cluster import cluster_of
from stacks.images import started_images
from stacks.settings import Settings

__all__ = ["MirroredImage", "Row", "addon_rows", "mirror_list", "mirror_values"]


def addon_rows(settings: Settings) -> list[Row]:
    """All add-ons, in the registry's order."""
    return table.rows(cluster_of(settings))


def mirror_list(settings: Settings, registry: str) -> list[MirroredImage]:
    """Images that a mirror must hold for this configuration: of its add-ons, and of what `trn verify` and `trn shell` start."""
    found = table.mirror_list(registry, cluster_of(settings))
    more = [image for image in started_images(settings) if image not in {item.image for item in found}]
    return [*found, *(MirroredImage("verify", image, mirrored(image, registry)) for image in more)]


def mirror_values(settings: Settings, registry: str) -> Mapping[str, Mapping[str, object]]:
    """Helm values that `addons.mirror` sets, by chart."""
    return table.mirror_values_by_chart(registry, cluster_of(settings))
