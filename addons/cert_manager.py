"""cert-manager: certificates for webhooks and services inside the cluster."""

import pulumi

from addons.base import Addon, AddonArgs
from addons.declaration import Declaration
from addons.images import Values
from addons.versions import CERT_MANAGER

NAMESPACE = "cert-manager"
DECLARATION = Declaration(
    key="certManager",
    title="cert-manager",
    purpose="Makes and renews certificates inside the cluster",
    component="cert-manager",
    namespace=NAMESPACE,
    nodes="core",
    charts=(CERT_MANAGER,),
    leaves=("Secrets with the certificates it made",),
)


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


class CertManager(Addon):
    """Starts when untainted nodes are there; the chart's own check proves its webhook."""

    def __init__(self, name: str, args: AddonArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("CertManager", name, args, opts)
        self.release(CERT_MANAGER, namespace=NAMESPACE, values=cert_manager_values(), timeout_s=300, after=[self.namespace(NAMESPACE)])
        self.register_outputs({})
