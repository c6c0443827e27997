"""An exporter of EFA's hardware counters on every EFA node: traffic, retransmissions, failed work requests."""

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import PYTHON_IMAGE

NAME = "efa-exporter"


class EfaExporterSettings(AddonSettings):
    """Exporter of EFA's hardware counters."""

    enabled: bool = False
    """Metrics of EFA traffic on every EFA node."""


DECLARATION = Declaration(
    key="efaExporter",
    title="EFA exporter",
    purpose="Metrics of EFA traffic and its failures, which the node exporter does not read",
    component="efa-exporter",
    namespace=NAME,
    nodes="neuron",
    settings=EfaExporterSettings,
    images=(PYTHON_IMAGE,),
)
