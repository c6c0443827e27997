"""Volcano, the gang scheduler, and its queues."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_kubernetes as k8s

from addons.base import Addon, AddonArgs
from addons.declaration import Declaration
from addons.images import Values
from addons.versions import VOLCANO
from addons.webhook_retry import retry_on_webhook
from facts.names import GROUP_LABEL

NAMESPACE = "volcano-system"
"""Exempt from Volcano's own webhooks: no job may run here."""

DECLARATION = Declaration(
    key="volcano",
    title="Volcano",
    purpose="Gang scheduling: all pods of a job start together, or none",
    component="volcano",
    namespace=NAMESPACE,
    nodes="core",
    charts=(VOLCANO,),
    kinds=("scheduling.volcano.sh/v1beta1 Queue", "topology.volcano.sh/v1alpha1 HyperNode"),
)


@dataclass(frozen=True)
class QueueArgs:
    """One queue."""

    weight: int = 1
    reclaimable: bool = False
    capability: Mapping[str, int | str] = field(default_factory=dict)
    """Most that the queue may use, by resource; empty means all."""
    parent: str | None = None
    """Queue above this one."""
    deserved: Mapping[str, int | str] = field(default_factory=dict)
    """What it may claim back from its siblings, by resource; in a hierarchy only."""


@dataclass(frozen=True)
class VolcanoArgs(AddonArgs):
    """What Volcano is made from."""

    replicas: int = 2
    image_registry: str = "docker.io"
    autoscaled: bool = False
    """Whether an autoscaler adds nodes for waiting jobs."""
    queues: Mapping[str, QueueArgs] = field(default_factory=dict)
    networks: Sequence[str] = ()
    """Node groups that are one EFA network each."""


def volcano_values(args: VolcanoArgs) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    return {
        # Docker Hub with the chart's Always meets the pull limit at scale.
        "basic": {"image_registry": args.image_registry, "image_pull_policy": "IfNotPresent"},
        "custom": {
            # Without leader election two schedulers act at once (chart default: off).
            "leader_elect_enable": args.replicas > 1,
            "scheduler_replicas": args.replicas,
            "controller_replicas": args.replicas,
            # The webhooks fail closed: one replica on a drained node stops every new job (volcano-sh/volcano#3734).
            "admission_replicas": args.replicas,
            "scheduler_resources": {"requests": {"cpu": "200m", "memory": "256Mi"}},
            "controller_resources": {"requests": {"cpu": "100m", "memory": "256Mi"}},
            "admission_resources": {"requests": {"cpu": "50m", "memory": "128Mi"}},
            "scheduler_config_override": scheduler_configuration(
                autoscaled=args.autoscaled, hierarchy=is_hierarchy(args.queues), topology=bool(args.networks)
            ),
        },
    }


def is_hierarchy(queues: Mapping[str, QueueArgs]) -> bool:
    """Whether any queue stands below another."""
    return any(queue.parent is not None for queue in queues.values())


def scheduler_configuration(*, autoscaled: bool, hierarchy: bool = False, topology: bool = False) -> str:
    """Volcano's scheduler configuration, YAML.

    The `enqueue` action creates no pods until the cluster has room for the whole gang, so an autoscaler never sees them
    wait (volcano-sh/volcano#2558, #3910): it is left out where one is at work. Queues below queues are shared by the plug-in
    `capacity`, which takes the place of `proportion` (volcano-sh/volcano docs/user-guide/how_to_use_hierarchical_queue.md).
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
            *(["  - name: capacity", "    enableHierarchy: true"] if hierarchy else ["  - name: proportion"]),
            "  - name: nodeorder",
            "  - name: binpack",
            *(["  - name: network-topology-aware", "    arguments:", "      weight: 10"] if topology else []),
            "",
        ]
    )


def queue_spec(args: QueueArgs) -> Values:
    """`spec` of a Queue, scheduling.volcano.sh/v1beta1."""
    spec: Values = {"weight": args.weight, "reclaimable": args.reclaimable}
    if args.capability:
        spec["capability"] = dict(args.capability)
    if args.parent is not None:
        spec["parent"] = args.parent
    return {**spec, "deserved": dict(args.deserved)} if args.deserved else spec


def hyper_node_spec(node_group: str) -> Values:
    """`spec` of the HyperNode of one group, topology.volcano.sh/v1alpha1: tier 1, within which EFA reaches every node.

    By label, so that nodes that come later belong to it (volcano-sh/volcano how_to_use_network_topology_aware_scheduling.md).
    """
    return {"tier": 1, "members": [{"type": "Node", "selector": {"labelMatch": {"matchLabels": {GROUP_LABEL: node_group}}}}]}


def parents_first(queues: Mapping[str, QueueArgs]) -> list[str]:
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


class Volcano(Addon):
    """Starts when untainted nodes are there. Queues and HyperNodes go before the release: its webhook guards their deletion."""

    queues: list[k8s.apiextensions.CustomResource]

    def __init__(self, name: str, args: VolcanoArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("Volcano", name, args, opts)
        release = self.release(VOLCANO, namespace=NAMESPACE, values=volcano_values(args), timeout_s=600, after=[self.namespace(NAMESPACE)])
        hooks = retry_on_webhook(f"{name}-webhook")
        made: dict[str, k8s.apiextensions.CustomResource] = {}
        for queue in parents_first(args.queues):
            above = [made[parent] for parent in [args.queues[queue].parent] if parent in made]
            made[queue] = self.custom_resource(
                f"queue-{queue}",
                "scheduling.volcano.sh/v1beta1",
                "Queue",
                metadata={"name": queue},
                spec=queue_spec(args.queues[queue]),
                after=[release, *above],
                hooks=hooks,
            )
        for group in args.networks:
            self.custom_resource(
                f"network-{group}",
                "topology.volcano.sh/v1alpha1",
                "HyperNode",
                metadata={"name": group},
                spec=hyper_node_spec(group),
                after=[release],
                hooks=hooks,
            )
        self.queues = list(made.values())
        self.register_outputs({})
