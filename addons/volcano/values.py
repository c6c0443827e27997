"""Volcano's Helm values, queues and HyperNodes, as plain data."""

from collections.abc import Mapping

from addons.cluster import Cluster
from addons.images import Values
from addons.karpenter import KarpenterSettings
from addons.volcano import Queue, VolcanoSettings
from facts.names import GROUP_LABEL


def volcano_values(settings: VolcanoSettings, *, autoscaled: bool = False, topology: bool = False, claims: bool = False) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart.

    `autoscaled`: whether an autoscaler adds nodes for waiting jobs; `topology`: whether there are HyperNodes; `claims`:
    whether devices are handed out by claims.
    """
    return {
        # Docker Hub with the chart's Always meets the pull limit at scale.
        "basic": {"image_registry": settings.image_registry, "image_pull_policy": "IfNotPresent"},
        "custom": {
            # Without leader election two schedulers act at once (chart default: off).
            "leader_elect_enable": settings.replicas > 1,
            "scheduler_replicas": settings.replicas,
            "controller_replicas": settings.replicas,
            # The webhooks fail closed: one replica on a drained node stops every new job (volcano-sh/volcano#3734).
            "admission_replicas": settings.replicas,
            "scheduler_resources": {"requests": {"cpu": "200m", "memory": "256Mi"}},
            "controller_resources": {"requests": {"cpu": "100m", "memory": "256Mi"}},
            "admission_resources": {"requests": {"cpu": "50m", "memory": "128Mi"}},
            "scheduler_config_override": scheduler_configuration(
                autoscaled=autoscaled, hierarchy=is_hierarchy(settings.queues), topology=topology, claims=claims
            ),
        },
    }


def autoscales_neuron(cluster: Cluster) -> bool:
    """Whether anything adds Neuron nodes for jobs that wait."""
    karpenter = cluster.section(KarpenterSettings)
    groups = any(group.autoscaled for group in cluster.node_groups.values())
    return groups or (karpenter.enabled and any(not pool.static for pool in karpenter.neuron_pools.values()))


def networks(settings: VolcanoSettings, cluster: Cluster) -> list[str]:
    """Node groups that get a HyperNode: each is one EFA network."""
    return [name for name, group in cluster.node_groups.items() if settings.topology and group.uses_efa]


def is_hierarchy(queues: Mapping[str, Queue]) -> bool:
    """Whether any queue has a parent queue."""
    return any(queue.parent is not None for queue in queues.values())


def scheduler_configuration(*, autoscaled: bool, hierarchy: bool = False, topology: bool = False, claims: bool = False) -> str:
    """Volcano's scheduler configuration, YAML.

    The `enqueue` action creates no pods until the cluster has room for the whole gang, so an autoscaler never sees them
    wait (volcano-sh/volcano#2558, #3910): it is left out where one is at work. Queues below queues are shared by the plug-in
    `capacity`, which takes the place of `proportion` (volcano-sh/volcano docs/user-guide/how_to_use_hierarchical_queue.md). It alone counts
    devices that are claimed: `proportion` sees none of them (docs/user-guide/how_to_use_dra_quota.md, from 1.15).
    """
    actions = "allocate, backfill" if autoscaled else "enqueue, allocate, backfill"
    return "\n".join(
        [
            f'actions: "{actions}"',
            "tiers:",
            "- plugins:",
            "  - name: priority",
            "  - name: gang",
            "    enablePreemptable: false",
            "  - name: conformance",
            "- plugins:",
            "  - name: drf",
            "    enablePreemptable: false",
            "  - name: predicates",
            *(["  - name: capacity"] if hierarchy or claims else ["  - name: proportion"]),
            *(["    enableHierarchy: true"] if hierarchy else []),
            *(["    arguments:", "      capacity.DynamicResourceAllocationEnable: true"] if claims else []),
            "  - name: nodeorder",
            "  - name: binpack",
            *(["  - name: network-topology-aware", "    arguments:", "      weight: 10"] if topology else []),
            "",
        ]
    )


def queue_spec(queue: Queue) -> Values:
    """`spec` of a Queue, scheduling.volcano.sh/v1beta1."""
    spec: Values = {"weight": queue.weight, "reclaimable": queue.reclaimable}
    if queue.capability:
        spec["capability"] = dict(queue.capability)
    if queue.parent is not None:
        spec["parent"] = queue.parent
    return {**spec, "deserved": dict(queue.deserved)} if queue.deserved else spec


def hyper_node_spec(node_group: str) -> Values:
    """`spec` of the HyperNode of one group, topology.volcano.sh/v1alpha1: tier 1, within which EFA reaches every node.

    By label, so that nodes that come later belong to it (volcano-sh/volcano how_to_use_network_topology_aware_scheduling.md).
    """
    return {"tier": 1, "members": [{"type": "Node", "selector": {"labelMatch": {"matchLabels": {GROUP_LABEL: node_group}}}}]}


def parents_first(queues: Mapping[str, Queue]) -> list[str]:
    """Names of the queues, each behind the one above it: the webhook refuses a child without its parent.

    Raises ValueError where queues stand above each other in a circle.
    """
    ordered: list[str] = []
    while len(ordered) < len(queues):
        free = [name for name, queue in queues.items() if name not in ordered and (queue.parent not in queues or queue.parent in ordered)]
        if not free:
            raise ValueError(f"queues above each other: {', '.join(sorted(set(queues) - set(ordered)))}")
        ordered += free
    return ordered
