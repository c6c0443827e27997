"""What `trn addons` and `trn images` tell of one configuration."""

from collections.abc import Mapping

from addons import table
from addons.images import mirrored
from addons.registry import SWITCHED
from addons.table import MirroredImage, Row
from stacks.addons import is_on
from stacks.images import started_images
from stacks.settings import Settings

__all__ = ["MirroredImage", "Row", "addon_rows", "mirror_list", "mirror_values", "switched_addons", "with_needs"]


def addon_rows(settings: Settings) -> list[Row]:
    """All add-ons, in the registry's order."""
    return table.rows(settings.control_plane.kubernetes_version, lambda key: is_on(settings, key))


def mirror_list(settings: Settings, registry: str) -> list[MirroredImage]:
    """Images that a mirror must hold for this configuration: of its add-ons, and of what `trn verify` and `trn shell` start."""
    found = table.mirror_list(registry, lambda key: is_on(settings, key))
    more = [image for image in started_images(settings) if image not in {item.image for item in found}]
    return [*found, *(MirroredImage("verify", image, mirrored(image, registry)) for image in more)]


def mirror_values(settings: Settings, registry: str) -> Mapping[str, Mapping[str, object]]:
    """Helm values that `addons.mirror` sets, by chart."""
    return table.mirror_chart_values(registry, lambda key: is_on(settings, key))


def switched_addons() -> list[str]:
    """Keys below `addons` that have a switch of their own."""
    return list(SWITCHED)


def with_needs(key: str) -> list[str]:
    """The add-on's key behind those of all that it needs."""
    needed = [other for need in SWITCHED[key].needs for other in with_needs(need)]
    return [*dict.fromkeys(needed), key]
