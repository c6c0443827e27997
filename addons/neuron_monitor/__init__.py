"""neuron-monitor on every Neuron node: cores, device memory, executions, memory errors, for Prometheus."""

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import NEURON_MONITOR_IMAGE

NAME = "neuron-monitor"
PORT = 8000


class NeuronMonitorSettings(AddonSettings):
    """neuron-monitor."""

    enabled: bool = False
    """Metrics of NeuronCores and device memory on every Neuron node."""


DECLARATION = Declaration(
    key="neuronMonitor",
    title="neuron-monitor",
    purpose="Metrics of NeuronCores, device memory and executions on every Neuron node",
    component="neuron-monitor",
    namespace=NAME,
    nodes="neuron",
    settings=NeuronMonitorSettings,
    images=(NEURON_MONITOR_IMAGE,),
)
