"""EKS's node monitoring agent as a component."""

import pulumi

from addons.base import Addon
from addons.managed import ManagedAddon, ManagedAddonArgs
from addons.node_monitoring import EKS_NAME
from addons.site import Site
from addons.versions import managed_addon_version


class NodeMonitoring(Addon):
    """Needs the API server only: a DaemonSet that tolerates every taint."""

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("NodeMonitoring", name, site)
        version = managed_addon_version(EKS_NAME, site.cluster.kubernetes_version)
        ManagedAddon(EKS_NAME, ManagedAddonArgs(EKS_NAME, version, site.control_plane_name), opts=pulumi.ResourceOptions(parent=self))
        self.register_outputs({})


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return NodeMonitoring("node-monitoring", site)
