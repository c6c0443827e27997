"""The section `addons` of the configuration: a section for each add-on of the registry, put together from their folders."""

from typing import Any

from pydantic import Field, create_model

from addons.core import CoreDnsSettings
from addons.registry import SWITCHED
from addons.section import AddonSections, attribute

_FIELDS: dict[str, Any] = {
    attribute(key): (declaration.settings, Field(default=declaration.settings(), alias=key, description=f"{declaration.title}."))
    for key, declaration in SWITCHED.items()
    if declaration.settings is not None
}
_Switched: type[AddonSections] = create_model("_Switched", __base__=AddonSections, **_FIELDS)


class Addons(_Switched):
    """What is installed in the cluster besides the core."""

    core_dns: CoreDnsSettings = CoreDnsSettings()
    """CoreDNS, which is always there."""
