"""Volcano with its queues and HyperNodes as a component."""

import pulumi_kubernetes as k8s

from addons.base import Addon
from addons.claimed import claimed_resources
from addons.site import Site
from addons.versions import VOLCANO
from addons.volcano import HYPER_NODE, NAMESPACE, QUEUE, VolcanoSettings
from addons.volcano.values import autoscales_neuron, hyper_node_spec, networks, parents_first, queue_spec, volcano_values


class Volcano(Addon):
    """Starts when untainted nodes are there. Queues and HyperNodes go before the release: its webhook guards their deletion."""

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("Volcano", name, site)
        settings = site.cluster.section(VolcanoSettings)
        groups = networks(settings, site.cluster)
        scaled, claims = autoscales_neuron(site.cluster), bool(claimed_resources(site.cluster))
        values = volcano_values(settings, autoscaled=scaled, topology=bool(groups), claims=claims)
        release = self.release(VOLCANO, namespace=NAMESPACE, values=values, timeout_s=600, after=[self.namespace(NAMESPACE)])
        hooks = self.retry_on_webhook(name)
        made: dict[str, k8s.apiextensions.CustomResource] = {}
        for queue in parents_first(settings.queues):
            above = [made[parent] for parent in [settings.queues[queue].parent] if parent in made]
            spec, after = queue_spec(settings.queues[queue]), [release, *above]
            made[queue] = self.custom_resource(
                f"queue-{queue}", *QUEUE.split(), metadata={"name": queue}, spec=spec, after=after, hooks=hooks
            )
        for group in groups:
            spec = hyper_node_spec(group)
            self.custom_resource(f"network-{group}", *HYPER_NODE.split(), metadata={"name": group}, spec=spec, after=[release], hooks=hooks)
        self.register_outputs({})


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return Volcano("volcano", site)
