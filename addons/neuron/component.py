"""Neuron's chart as a component."""

import pulumi

from addons.base import Addon
from addons.neuron import HEALTH_ACCOUNT, HEALTH_NAMESPACE, NAMESPACE, NeuronSettings
from addons.neuron.values import neuron_values
from addons.site import Site
from addons.versions import NEURON
from components.identity import ServiceAccount
from facts.policies.watching import node_recovery_policy


class Neuron(Addon):
    """Needs the API server only: its pods are DaemonSets that follow the nodes."""

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("Neuron", name, site)
        cluster = site.cluster
        settings = cluster.section(NeuronSettings)
        after: list[pulumi.Resource] = [self.namespace(HEALTH_NAMESPACE)] if settings.node_problem_detector else []
        if settings.node_recovery:
            policy = node_recovery_policy(cluster.name)
            account = ServiceAccount(cluster.name, cluster.region, HEALTH_NAMESPACE, HEALTH_ACCOUNT, "node-recovery", policy=policy)
            after.append(self.identity(account, site.control_plane_name).association)
        values = neuron_values(settings, cluster.kubernetes_version)
        self.release(NEURON, namespace=NAMESPACE, values=values, timeout_s=300, after=after)
        self.register_outputs({})


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return Neuron("neuron", site)
