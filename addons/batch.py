"""AWS Batch on the stack's own Neuron nodes: a compute environment, a queue, and a job definition for each node group.

The environment is unmanaged. Of one that launches instances itself Batch picks the image, from standard and NVIDIA ones
(Batch API, Ec2Configuration); a Neuron image would need `userdataType: EKS_NODEADM`, which pulumi-aws 7.51 does not have.

Batch makes its own way into a cluster with API authentication: an access entry for its service-linked role, which nobody
else may make. RBAC objects for the user `aws-batch` are bypassed there; the right to the namespace is an access policy
(Batch user guide, eks-access-entries, 2026-10).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_aws as aws

from addons.base import NODE_SHARE, Addon, AddonArgs
from addons.declaration import Declaration
from facts import iam, regions
from facts.catalogue import InstanceType
from facts.names import BATCH_ROLE, NEURON_RESOURCE

NODE_LABEL = "batch.amazonaws.com/compute-environment-uuid"
"""By which an unmanaged environment knows its nodes (Batch user guide, create-compute-environment-unmanaged-eks)."""
NAMESPACE_POLICY = "AWSBatchNamespacePolicy"
MEBIBYTES = 1024
DECLARATION = Declaration(
    key="batch",
    title="AWS Batch",
    purpose="Batch's queue on the stack's own Neuron nodes, with a job definition for each node group",
    component="batch",
    namespace="the training namespace",
    nodes="neuron",
    needs=("neuron",),
    leaves=("the access entry of AWSServiceRoleForBatch, which Batch made: it may still look at the cluster, at no namespace",),
)


@dataclass(frozen=True)
class BatchArgs(AddonArgs):
    """What the compute environment, its queue and its job definitions are made from."""

    cluster_name: str
    region: str
    control_plane_name: pulumi.Input[str]
    control_plane_arn: pulumi.Output[str]
    namespace: str
    """Of the jobs' pods."""
    image: str | None = None
    """Without it no job definition is made."""
    instances: Mapping[str, InstanceType] = field(default_factory=dict)
    """Instance types by node group."""


def service_role_arn(region: str, account_id: str) -> str:
    """ARN of Batch's service-linked role, one for the account."""
    return f"arn:{regions.partition(region)}:iam::{account_id}:role/aws-service-role/batch.amazonaws.com/{BATCH_ROLE}"


def pod_properties(image: str, instance: InstanceType) -> dict[str, Any]:
    """`podProperties` of a job that takes a whole node.

    Asking for the device is also what lets its pod onto the tainted node: EKS adds the toleration. Batch's text names cpu,
    memory and nvidia.com/gpu; that other resources are handed on is inferred from the shape, which takes any name.
    """
    # Batch wants both limits and requests of memory alike, in whole Mi, and CPUs in quarters.
    whole = {"memory": f"{int(instance.memory_gib * NODE_SHARE * MEBIBYTES)}Mi", NEURON_RESOURCE: str(instance.chip_count)}
    return {
        # Batch's own default is the node's network, on which two jobs cannot open the same port.
        "host_network": False,
        "containers": [
            {
                "name": "train",
                "image": image,
                "resources": {"requests": {"cpu": str(int(instance.vcpu_count * NODE_SHARE)), **whole}, "limits": whole},
                "volume_mounts": [{"name": "shm", "mount_path": "/dev/shm"}],
            }
        ],
        "volumes": [{"name": "shm", "empty_dir": {"medium": "Memory", "size_limit": "64Gi"}}],
    }


class Batch(Addon):
    """The right to the namespace goes first, then the queue, the environment, and the namespace last.

    Batch keeps an environment that a queue names, and one whose namespace is gone is INVALID.
    """

    def __init__(self, name: str, args: BatchArgs, opts: pulumi.ResourceOptions | None = None, *, after: list[pulumi.Resource]) -> None:
        """`after`: the jobs' namespace."""
        super().__init__("Batch", name, args, opts)
        role_arn = args.control_plane_arn.apply(lambda arn: service_role_arn(args.region, arn.split(":")[4]))
        environment = aws.batch.ComputeEnvironment(
            name,
            name=args.cluster_name,
            type="UNMANAGED",
            # Batch makes and picks its role by itself for managed environments only.
            service_role=role_arn,
            eks_configuration={"eks_cluster_arn": args.control_plane_arn, "kubernetes_namespace": args.namespace},
            opts=self.child(*after),
        )
        with_it = pulumi.ResourceOptions(parent=self, replace_with=[environment])
        queue = aws.batch.JobQueue(
            name,
            name=args.cluster_name,
            state="ENABLED",
            priority=1,
            compute_environment_orders=[{"order": 1, "compute_environment": environment.arn}],
            # A queue that still names it keeps the old environment.
            opts=with_it,
        )
        aws.eks.AccessPolicyAssociation(
            name,
            cluster_name=args.control_plane_name,
            principal_arn=role_arn,
            policy_arn=iam.access_policy_arn(regions.partition(args.region), NAMESPACE_POLICY),
            access_scope={"type": "namespace", "namespaces": [args.namespace]},
            # Batch makes the entry with the environment. Old first: an association made over the old one goes with it.
            opts=pulumi.ResourceOptions(parent=self, depends_on=[environment], delete_before_replace=True),
        )
        if args.image is not None:
            for group, instance in args.instances.items():
                pod: Any = pod_properties(args.image, instance)
                aws.batch.JobDefinition(
                    f"{name}-{group}",
                    name=f"{args.cluster_name}-{group}",
                    type="container",
                    eks_properties={"pod_properties": pod},
                    opts=self.child(),
                )
        self.ready.append(queue)
        self.register_outputs({})
