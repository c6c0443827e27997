"""Karpenter as a component: its CRDs, controller, queue of interruptions, node role, classes and pools."""

import pulumi
import pulumi_aws as aws

from addons.base import Addon
from addons.cluster import Cluster
from addons.images import Values
from addons.karpenter import NAMESPACE, NODE_CLASS, NODE_POOL, SERVICE_ACCOUNT, KarpenterSettings
from addons.karpenter.pools import (
    NodeClassArgs,
    general_node_class_spec,
    general_node_pool_spec,
    neuron_node_class_spec,
    neuron_node_pool_spec,
)
from addons.site import Site
from addons.versions import KARPENTER, KARPENTER_CRD
from components.identity import ServiceAccount, node_role
from components.interruption_queue import InterruptionQueue
from facts import names, regions
from facts.policies.scaling import karpenter_policies
from facts.resources.rights import passed_role

NODE_PURPOSE = "karpenter-node"
GENERAL = "general"
POOL_DELETE = "45m"
"""A pool is deleted when its last instance has ended: drained for up to 30 minutes, then shut down."""


def queue_name(cluster: Cluster) -> str:
    """Name of the interruption queue."""
    return names.interruption_queue_name(cluster.name)


def node_role_name(cluster: Cluster) -> str:
    """Name of the nodes' role."""
    return names.role_name(cluster.name, cluster.region, NODE_PURPOSE)


def karpenter_values(cluster: Cluster) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    pools = cluster.section(KarpenterSettings).neuron_pools
    return {
        "settings": {
            "clusterName": cluster.name,
            "interruptionQueue": queue_name(cluster),
            # Static pools are behind a gate in 1.14.
            "featureGates": {"staticCapacity": any(pool.static for pool in pools.values())},
        },
        "serviceAccount": {"name": SERVICE_ACCOUNT},
        # The chart spreads its two replicas over nodes and zones and has no requests of its own.
        "controller": {"resources": {"requests": {"cpu": "250m", "memory": "512Mi"}, "limits": {"memory": "1Gi"}}},
    }


def karpenter_account(cluster: Cluster, node_role: str | None = None) -> ServiceAccount:
    """The controller's service account and what it may do. `node_role`: path and name of the nodes' role, where the path is not /."""
    partition = regions.partition(cluster.region)
    policies = karpenter_policies(partition, cluster.region, cluster.name, node_role or node_role_name(cluster), queue_name(cluster))
    return ServiceAccount(cluster.name, cluster.region, NAMESPACE, SERVICE_ACCOUNT, "karpenter", policies=policies)


class Karpenter(Addon):
    """Pools go before their classes, classes before the controller, the controller before its CRDs.

    In any other order instances run on that nothing tracks.
    """

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("Karpenter", name, site)
        cluster = site.cluster
        settings = cluster.section(KarpenterSettings)
        below = pulumi.ResourceOptions(parent=self)
        queue = InterruptionQueue(f"{name}-interruptions", queue_name=queue_name(cluster), opts=below)
        nodes = node_role(
            f"{name}-nodes", cluster.name, cluster.region, below, purpose=NODE_PURPOSE, session_manager=cluster.session_manager
        )
        # EKS makes the access entry for the role of a managed group; for Karpenter's instances the program must make it.
        entry = aws.eks.AccessEntry(
            self.named(f"{name}-nodes"), cluster_name=site.control_plane_name, principal_arn=nodes.arn, type="EC2_LINUX", opts=self.child()
        )
        given = self.role_rules.given.get(NODE_PURPOSE)
        role = passed_role(given) if given is not None else f"{self.role_rules.path[1:]}{node_role_name(cluster)}"
        identity = self.identity(karpenter_account(cluster, role), site.control_plane_name)
        crds = self.release(KARPENTER_CRD, namespace=NAMESPACE, values={"additionalAnnotations": {}}, timeout_s=300)
        rights = [identity.association, *queue.ready]
        values = karpenter_values(cluster)
        controller = self.release(KARPENTER, namespace=NAMESPACE, values=values, timeout_s=300, after=[crds, *rights])
        self._after: list[pulumi.Resource] = [controller, entry, *nodes.grants]
        shared = NodeClassArgs(role.rpartition("/")[2], settings.ami_version, site.node_security_group_ids, site.tags)
        for key, pool in settings.neuron_pools.items():
            zone_id = pool.zone_id or cluster.zones[0]
            class_spec = neuron_node_class_spec(shared, pool, site.node_subnets[zone_id])
            self._pool(key, class_spec, neuron_node_pool_spec(key, pool, zone_id), "static" if pool.static else "dynamic")
        if settings.general_pool.enabled:
            class_spec = general_node_class_spec(shared, list(site.node_subnets.values()))
            self._pool(GENERAL, class_spec, general_node_pool_spec(GENERAL, settings.general_pool))
        self.register_outputs({})

    def _pool(self, key: str, class_spec: Values, pool_spec: Values, mode: str = "dynamic") -> None:
        # A class is gone when the instances of its pools are, and is looked at again every ten minutes only.
        node_class = self.custom_resource(
            f"node-class-{key}", *NODE_CLASS.split(), metadata={"name": key}, spec=class_spec, after=self._after, delete_timeout="15m"
        )
        self.custom_resource(
            f"node-pool-{key}",
            *NODE_POOL.split(),
            metadata={"name": key},
            spec=pool_spec,
            after=[node_class],
            delete_timeout=POOL_DELETE,
            # Its CRD lets no pool change between them: the other mode is another pool, of the same name.
            delete_before_replace=True,
            replacement_trigger=mode,
        )


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return Karpenter("karpenter", site)
