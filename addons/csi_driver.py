"""A CSI driver by one of EKS's add-ons, for file systems and buckets that the stack does not make."""

from collections.abc import Mapping
from typing import Any

import pulumi

from addons.base import Addon
from addons.managed import ManagedAddon, ManagedAddonArgs
from addons.site import Site
from addons.versions import managed_addon_version
from components.identity import ServiceAccount


class CsiDriver(Addon):
    """Starts when untainted nodes are there: the controller is a Deployment."""

    def __init__(self, name: str, eks_name: str, account: ServiceAccount, configuration: Mapping[str, Any], site: Site) -> None:
        """`account` calls AWS; `configuration` is in the add-on's own schema."""
        super().__init__("CsiDriver", name, site)
        version = managed_addon_version(eks_name, site.cluster.kubernetes_version)
        managed = ManagedAddonArgs(eks_name, version, site.control_plane_name, account=account, configuration=configuration)
        ManagedAddon(eks_name, managed, after=[site.core], opts=pulumi.ResourceOptions(parent=self))
        self.register_outputs({})
