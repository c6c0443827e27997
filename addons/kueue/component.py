"""Kueue as a component, with flavors and queues."""

from collections.abc import Collection

from addons.base import Addon
from addons.claimed import claimed_resources
from addons.images import Values
from addons.kueue import API_VERSION, NAMESPACE, KueueSettings
from addons.kueue.objects import cluster_queue_spec, flavor_spec, flavors, kueue_configuration
from addons.site import Site
from addons.versions import KUEUE

QUEUE = "training"


def kueue_values(namespace: str, claimed: Collection[str] = ()) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart. `namespace`: where the jobs are; `claimed`: resources by claims."""
    resources = {"requests": {"cpu": "200m", "memory": "512Mi"}, "limits": {"memory": "1Gi"}}
    return {
        "controllerManager": {"replicas": 2, "podDisruptionBudget": {"enabled": True}, "manager": {"resources": resources}},
        "managerConfig": {"controllerManagerConfigYaml": kueue_configuration(namespace, claimed)},
    }


class Kueue(Addon):
    """Installed after all other releases and deleted before them.

    Queues are deleted before flavors, and both before the release, whose controller removes their finalizers.
    """

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("Kueue", name, site)
        cluster = site.cluster
        own = cluster.section(KueueSettings).namespace
        system = self.namespace(NAMESPACE)
        namespace = own or cluster.training_namespace
        jobs = [self.namespace(own)] if own is not None else []
        after = [system, *site.ready(*site.made), site.namespace]
        release = self.release(
            KUEUE, namespace=NAMESPACE, values=kueue_values(namespace, claimed_resources(cluster)), timeout_s=600, after=after
        )
        hooks = self.retry_on_webhook(name)
        of = flavors(cluster)
        made = [
            self.custom_resource(
                f"flavor-{name}",
                API_VERSION,
                "ResourceFlavor",
                metadata={"name": name},
                spec=flavor_spec(flavor),
                after=[release],
                hooks=hooks,
            )
            for name, flavor in of.items()
        ]
        if made:
            spec = cluster_queue_spec(namespace, of)
            queue = self.custom_resource(
                "cluster-queue", API_VERSION, "ClusterQueue", metadata={"name": QUEUE}, spec=spec, after=made, hooks=hooks
            )
            metadata, spec = {"name": QUEUE, "namespace": namespace}, {"clusterQueue": QUEUE}
            self.custom_resource("local-queue", API_VERSION, "LocalQueue", metadata=metadata, spec=spec, after=[queue, *jobs], hooks=hooks)
        self.register_outputs({})


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return Kueue("kueue", site)
