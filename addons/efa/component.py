"""The EFA device plug-in, or the DRA driver in its place, as a component."""

from addons.base import Addon
from addons.efa import NAMESPACE, EfaSettings, efa_instance_types
from addons.efa.values import efa_values
from addons.plain import PlainChart
from addons.site import Site
from addons.versions import AWS_DRANET, EFA_DEVICE_PLUGIN


def make(site: Site) -> Addon:
    """The add-on of a cluster. Needs the API server only: its pods are a DaemonSet that follows the nodes."""
    chart = AWS_DRANET if site.cluster.section(EfaSettings).devices == "dra" else EFA_DEVICE_PLUGIN
    return PlainChart("Efa", "efa", chart, NAMESPACE, efa_values(efa_instance_types(site.cluster)), site)
