"""Which devices of a cluster are handed out by claims of dynamic resource allocation."""

from addons.cluster import Cluster
from addons.efa import EfaSettings
from addons.neuron import NeuronSettings
from facts.names import EFA_RESOURCE, NEURON_RESOURCE


def claimed_resources(cluster: Cluster) -> tuple[str, ...]:
    """Resources whose devices are handed out by claims."""
    sections = {NEURON_RESOURCE: cluster.section(NeuronSettings), EFA_RESOURCE: cluster.section(EfaSettings)}
    return tuple(name for name, section in sections.items() if section.enabled and section.devices == "dra")
