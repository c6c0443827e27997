"""An exporter of how full the shared file system is: the FSx CSI driver gives kubelet no figures of its volumes."""

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import PYTHON_IMAGE

NAME = "lustre-exporter"


class LustreExporterSettings(AddonSettings):
    """Exporter of the shared file system's size and free space."""

    enabled: bool = False
    """Metrics of how full the shared file system is, from one pod that mounts its claim. Nothing is made without `storage.lustre`."""


DECLARATION = Declaration(
    key="lustreExporter",
    title="Lustre exporter",
    purpose="Metrics of how full the shared file system is, which kubelet does not get from the FSx driver",
    component="lustre-exporter",
    namespace=None,
    nodes="core",
    settings=LustreExporterSettings,
    applies=lambda cluster: cluster.claim_name is not None,
    images=(PYTHON_IMAGE,),
)
