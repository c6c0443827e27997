"""cert-manager as a component."""

from addons.base import Addon
from addons.cert_manager import NAMESPACE
from addons.images import Values
from addons.plain import PlainChart
from addons.site import Site
from addons.versions import CERT_MANAGER


def cert_manager_values() -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    small = {"resources": {"requests": {"cpu": "20m", "memory": "64Mi"}}}
    return {
        # Off by default, and the controller crash-loops without; kept, they would stay when it is switched off.
        "crds": {"enabled": True, "keep": False},
        "global": {"leaderElection": {"namespace": NAMESPACE}},
        **small,
        # It fails closed on certificates: one replica is one drain away from that.
        "webhook": {"replicaCount": 2, **small},
        "cainjector": small,
    }


def make(site: Site) -> Addon:
    """The add-on of a cluster; the chart's own check proves its webhook."""
    return PlainChart("CertManager", "cert-manager", CERT_MANAGER, NAMESPACE, cert_manager_values(), site)
