"""cert-manager: certificates for webhooks and services inside the cluster."""

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import CERT_MANAGER

NAMESPACE = "cert-manager"


class CertManagerSettings(AddonSettings):
    """cert-manager."""

    enabled: bool = False
    """Certificates inside the cluster."""


DECLARATION = Declaration(
    key="certManager",
    title="cert-manager",
    purpose="Makes and renews certificates inside the cluster",
    component="cert-manager",
    namespace=NAMESPACE,
    nodes="core",
    settings=CertManagerSettings,
    charts=(CERT_MANAGER,),
    leaves=("Secrets with the certificates it made",),
)
