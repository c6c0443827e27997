"""Short names for the type tokens that the account's rules use, and what a token says about a Kubernetes object."""

from functools import cache

from facts.resources import (
    batch,
    ec2_compute,
    ec2_network,
    ec2_security,
    eks,
    eks_access,
    eks_nodes,
    fsx,
    iam,
    kms,
    kubernetes,
    logs,
    scheduler,
)
from facts.resources.queries import Deletion
from facts.resources.table import TYPES

VPC = ec2_network.VPC.token
POD_BLOCK = ec2_network.POD_BLOCK.token
SUBNET = ec2_network.SUBNET.token
INTERNET_GATEWAY = ec2_network.INTERNET_GATEWAY.token
ADDRESS = ec2_network.ADDRESS.token
NAT_GATEWAY = ec2_network.NAT_GATEWAY.token
ROUTE_TABLE = ec2_network.ROUTE_TABLE.token
ROUTE = ec2_network.ROUTE.token
ROUTE_TABLE_ASSOCIATION = ec2_network.ROUTE_TABLE_ASSOCIATION.token
ENDPOINT = ec2_network.ENDPOINT.token
SECURITY_GROUP = ec2_security.SECURITY_GROUP.token
INGRESS = ec2_security.INGRESS.token
EGRESS = ec2_security.EGRESS.token
LAUNCH_TEMPLATE = ec2_compute.LAUNCH_TEMPLATE.token
PLACEMENT_GROUP = ec2_compute.PLACEMENT_GROUP.token
ROLE = iam.ROLE.token
ROLE_POLICY = iam.ROLE_POLICY.token
ROLE_ATTACHMENT = iam.ROLE_ATTACHMENT.token
CLUSTER = eks.CLUSTER_TYPE.token
SCHEDULE_GROUP = scheduler.GROUP.token
SCHEDULE = scheduler.SCHEDULE.token
NODE_GROUP = eks_nodes.NODE_GROUP.token
ADDON = eks.ADDON.token
POD_IDENTITY = eks.POD_IDENTITY.token
ACCESS_ENTRY = eks_access.ACCESS_ENTRY.token
ACCESS_POLICY = eks_access.ACCESS_POLICY.token
COMPUTE_ENVIRONMENT = batch.COMPUTE_ENVIRONMENT.token
JOB_QUEUE = batch.JOB_QUEUE.token
FILE_SYSTEM = fsx.FILE_SYSTEM.token
KEY = kms.KEY.token
ALIAS = kms.ALIAS.token
LOG_GROUP = logs.LOG_GROUP.token
RELEASE = kubernetes.RELEASE.token
NAMESPACE = kubernetes.NAMESPACE.token
SERVICE = kubernetes.SERVICE.token
VOLUME = kubernetes.VOLUME.token
CLAIM = kubernetes.CLAIM.token
STATEFUL_SET = kubernetes.STATEFUL_SET.token
DEPLOYMENT = kubernetes.DEPLOYMENT.token
DAEMON_SET = kubernetes.DAEMON_SET.token
CUSTOM_RESOURCE_DEFINITION = kubernetes.DEFINITION.token
VALIDATING_WEBHOOKS = kubernetes.VALIDATING_WEBHOOKS.token
MUTATING_WEBHOOKS = "kubernetes:admissionregistration.k8s.io/v1:MutatingWebhookConfiguration"
QUEUE = kubernetes.QUEUE.token
NODE = "kubernetes:core/v1:Node"
NODE_POOL = kubernetes.NODE_POOL.token
NODE_CLASS = kubernetes.NODE_CLASS.token
IN_KUBERNETES = "kubernetes:*"


def waits(resource_type: str) -> bool:
    """Whether a deletion only schedules it: the object is there for some more days."""
    known = TYPES.get(resource_type)
    return known is not None and isinstance(known.deletion, Deletion) and known.deletion.waits


def is_kubernetes(resource_type: str) -> bool:
    """Whether it lives behind the API server of the cluster."""
    return resource_type.startswith("kubernetes:")


@cache
def object_kind(resource_type: str) -> str:
    """`group/Kind` of a Kubernetes type, without its version: `scheduling.volcano.sh/Queue`, `v1/Service` of the core group."""
    _, middle, kind = resource_type.split(":")
    group = middle.split("/")[0]
    return f"{'v1' if group == 'core' else group}/{kind}"


def is_custom_resource(resource_type: str) -> bool:
    """Whether the API server knows the kind only through a CustomResourceDefinition; a Helm release is no object at all."""
    group = object_kind(resource_type).split("/")[0]
    return "." in group and not group.endswith(".k8s.io") and group != "helm.sh"
