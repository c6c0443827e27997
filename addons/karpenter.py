"""Karpenter: makes instances for pods. Its CRDs, controller, queue of interruptions, node role, classes and pools."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws

from addons.base import Addon, AddonArgs
from addons.declaration import Declaration
from addons.images import Values
from addons.karpenter_pools import (
    NeuronPoolArgs,
    NodeClassArgs,
    general_node_class_spec,
    general_node_pool_spec,
    neuron_node_class_spec,
    neuron_node_pool_spec,
)
from addons.versions import KARPENTER, KARPENTER_CRD
from components.identity import ServiceAccount, node_role
from components.interruption_queue import InterruptionQueue
from facts import names, regions
from facts.policies.scaling import karpenter_policies

NAMESPACE = "kube-system"
SERVICE_ACCOUNT = "karpenter"
NODE_PURPOSE = "karpenter-node"
GENERAL = "general"
DECLARATION = Declaration(
    key="karpenter",
    title="Karpenter",
    purpose="Makes instances for pods that have no place, without node groups",
    component="karpenter",
    namespace=NAMESPACE,
    nodes="core",
    charts=(KARPENTER_CRD, KARPENTER),
    identities=(f"{NAMESPACE}/{SERVICE_ACCOUNT}",),
    kinds=("karpenter.k8s.aws/v1 EC2NodeClass", "karpenter.sh/v1 NodePool"),
    leaves=("Lease of the leader election in kube-system",),
)
POOL_DELETE = "45m"
"""A pool goes when its last instance has gone: drained for up to 30 minutes, then shut down."""


@dataclass(frozen=True)
class GeneralPoolArgs:
    """The pool of ordinary nodes."""

    max_vcpu: int
    spot: bool
    subnet_ids: Sequence[pulumi.Input[str]]


@dataclass(frozen=True)
class KarpenterArgs(AddonArgs):
    """What Karpenter is made from."""

    cluster_name: str
    region: str
    ami_version: str
    control_plane_name: pulumi.Input[str]
    security_group_ids: Sequence[pulumi.Input[str]]
    tags: Mapping[str, str]
    neuron_pools: Mapping[str, NeuronPoolArgs] = field(default_factory=dict)
    general_pool: GeneralPoolArgs | None = None

    @property
    def queue_name(self) -> str:
        """Name of the interruption queue."""
        return f"{self.cluster_name}-karpenter"

    @property
    def node_role_name(self) -> str:
        """Name of the nodes' role."""
        return names.role_name(self.cluster_name, self.region, NODE_PURPOSE)


def karpenter_values(args: KarpenterArgs) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    return {
        "settings": {
            "clusterName": args.cluster_name,
            "interruptionQueue": args.queue_name,
            # Static pools are behind a gate in 1.14.
            "featureGates": {"staticCapacity": any(pool.static for pool in args.neuron_pools.values())},
        },
        "serviceAccount": {"name": SERVICE_ACCOUNT},
        # The chart spreads its two replicas over nodes and zones and has no requests of its own.
        "controller": {"resources": {"requests": {"cpu": "250m", "memory": "512Mi"}, "limits": {"memory": "1Gi"}}},
    }


def karpenter_account(args: KarpenterArgs) -> ServiceAccount:
    """The controller's service account and what it may do."""
    policies = karpenter_policies(regions.partition(args.region), args.region, args.cluster_name, args.node_role_name, args.queue_name)
    return ServiceAccount(args.cluster_name, args.region, NAMESPACE, SERVICE_ACCOUNT, "karpenter", policies=policies)


class Karpenter(Addon):
    """Pools go before their classes, classes before the controller, the controller before its CRDs.

    In any other order instances run on that nothing tracks.
    """

    def __init__(self, name: str, args: KarpenterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("Karpenter", name, args, opts)
        queue = InterruptionQueue(f"{name}-interruptions", queue_name=args.queue_name, opts=pulumi.ResourceOptions(parent=self))
        nodes = node_role(f"{name}-nodes", args.cluster_name, args.region, pulumi.ResourceOptions(parent=self), purpose=NODE_PURPOSE)
        # Managed groups let their role in by themselves; for instances of Karpenter nobody does.
        entry = aws.eks.AccessEntry(
            f"{name}-nodes", cluster_name=args.control_plane_name, principal_arn=nodes.arn, type="EC2_LINUX", opts=self.child()
        )
        identity = self.identity(karpenter_account(args), args.control_plane_name)
        crds = self.release(KARPENTER_CRD, namespace=NAMESPACE, values={"additionalAnnotations": {}}, timeout_s=300)
        controller = self.release(
            KARPENTER,
            namespace=NAMESPACE,
            values=karpenter_values(args),
            timeout_s=300,
            after=[crds, identity.association, *queue.ready],
        )
        self._after: list[pulumi.Resource] = [controller, entry, *nodes.grants]
        shared = NodeClassArgs(args.node_role_name, args.ami_version, args.security_group_ids, args.tags)
        for key, pool in args.neuron_pools.items():
            mode = "static" if pool.static else "dynamic"
            self._pool(key, neuron_node_class_spec(shared, pool), neuron_node_pool_spec(key, pool), mode)
        if args.general_pool is not None:
            general = args.general_pool
            pool_spec = general_node_pool_spec(GENERAL, max_vcpu=general.max_vcpu, spot=general.spot)
            self._pool(GENERAL, general_node_class_spec(shared, general.subnet_ids), pool_spec)
        self.register_outputs({})

    def _pool(self, key: str, class_spec: Values, pool_spec: Values, mode: str = "dynamic") -> None:
        # A class is gone when the instances of its pools are, and is looked at again every ten minutes only.
        node_class = self.custom_resource(
            f"node-class-{key}",
            "karpenter.k8s.aws/v1",
            "EC2NodeClass",
            metadata={"name": key},
            spec=class_spec,
            after=self._after,
            delete_timeout="15m",
        )
        self.custom_resource(
            f"node-pool-{key}",
            "karpenter.sh/v1",
            "NodePool",
            metadata={"name": key},
            spec=pool_spec,
            after=[node_class],
            delete_timeout=POOL_DELETE,
            # Its CRD lets no pool change between them: the other mode is another pool, of the same name.
            delete_before_replace=True,
            replacement_trigger=mode,
        )
