"""AWS Batch on the stack's node groups as a component.

In a cluster with API authentication Batch makes its own access entry, for its service-linked role; no other caller may
make it. RBAC objects for the user `aws-batch` are bypassed there; the right to the namespace is an access policy
(Batch user guide, eks-access-entries, 2026-10).
"""

from typing import Any

import pulumi
import pulumi_aws as aws

from addons.base import Addon
from addons.batch import BatchSettings
from addons.cluster import Cluster
from addons.site import Site
from facts import iam, regions
from facts.catalogue import InstanceType
from facts.names import BATCH_ROLE, NEURON_RESOURCE, job_definition_name
from facts.node_resources import job_share

NAMESPACE_POLICY = "AWSBatchNamespacePolicy"


def service_role_arn(region: str, account_id: str) -> str:
    """ARN of Batch's service-linked role, one for the account."""
    return f"arn:{regions.partition(region)}:iam::{account_id}:role/aws-service-role/batch.amazonaws.com/{BATCH_ROLE}"


def pod_properties(image: str, instance: InstanceType, *, efa: bool) -> dict[str, Any]:
    """`podProperties` of a job that takes a whole node. `efa`: whether the node has EFA interfaces, whose driver takes memory.

    Asking for the device is also what lets its pod onto the tainted node: EKS adds the toleration. Batch's text names cpu,
    memory and nvidia.com/gpu; that other resources are passed on is inferred from the shape, which takes any name.
    """
    # Batch wants both limits and requests of memory alike, in whole Mi, and CPUs in quarters.
    share = job_share(instance, instance.chip_count, efa=efa)
    whole = {"memory": f"{share.memory_mib}Mi", NEURON_RESOURCE: str(instance.chip_count)}
    return {
        # Batch's own default is the node's network, on which two jobs cannot open the same port.
        "host_network": False,
        "containers": [
            {
                "name": "train",
                "image": image,
                "resources": {"requests": {"cpu": str(share.cpu_millis // 1000), **whole}, "limits": whole},
                "volume_mounts": [{"name": "shm", "mount_path": "/dev/shm"}],
            }
        ],
        "volumes": [{"name": "shm", "empty_dir": {"medium": "Memory", "size_limit": "64Gi"}}],
    }


class Batch(Addon):
    """Deleted in this order: the right to the namespace, the queue, the environment, the namespace.

    Batch keeps an environment that a queue names, and one whose namespace is gone is INVALID.
    """

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("Batch", name, site)
        cluster = site.cluster
        settings, namespace = cluster.section(BatchSettings), cluster.training_namespace
        role_arn = site.control_plane_arn.apply(lambda arn: service_role_arn(cluster.region, arn.split(":")[4]))
        environment = aws.batch.ComputeEnvironment(
            self.named(name),
            name=cluster.name,
            type="UNMANAGED",
            # Batch makes and picks its role by itself for managed environments only.
            service_role=role_arn,
            eks_configuration={"eks_cluster_arn": site.control_plane_arn, "kubernetes_namespace": namespace},
            opts=self.child(site.namespace),
        )
        with_it = pulumi.ResourceOptions(parent=self, replace_with=[environment])
        queue = aws.batch.JobQueue(
            self.named(name),
            name=cluster.name,
            state="ENABLED",
            priority=1,
            compute_environment_orders=[{"order": 1, "compute_environment": environment.arn}],
            # A queue that still names it keeps the old environment.
            opts=with_it,
        )
        aws.eks.AccessPolicyAssociation(
            self.named(name),
            cluster_name=site.control_plane_name,
            principal_arn=role_arn,
            policy_arn=iam.access_policy_arn(regions.partition(cluster.region), NAMESPACE_POLICY),
            access_scope={"type": "namespace", "namespaces": [namespace]},
            # Batch makes the entry with the environment. Old first: an association made over the old one is deleted with it.
            opts=pulumi.ResourceOptions(parent=self, depends_on=[environment], delete_before_replace=True),
        )
        if settings.image is not None:
            for group in settings.node_groups:
                self._definition(name, group, settings.image, cluster)
        self.ready.append(queue)
        self.register_outputs({})

    def _definition(self, name: str, group: str, image: str, cluster: Cluster) -> None:
        nodes = cluster.node_groups[group]
        pod: Any = pod_properties(image, nodes.instance, efa=nodes.uses_efa)
        aws.batch.JobDefinition(
            self.named(f"{name}-{group}"),
            name=job_definition_name(cluster.name, group),
            type="container",
            eks_properties={"pod_properties": pod},
            opts=self.child(),
        )


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return Batch("batch", site)
