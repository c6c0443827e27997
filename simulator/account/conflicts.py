"""How services word it that an object is there already. What counts as the same object stands in `identity`.

Codes: the services' API references; texts as met by the sources named.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Conflict:
    """What a service says of one object too many."""

    fields: tuple[str, ...]
    """Inputs, with dots, that the text names."""
    code: str
    text: str
    """With the last part of each of these inputs in braces."""


_EKS = "ResourceInUseException"  # EKS API, errors of the Create actions
_OBJECT = ("metadata.namespace", "metadata.name")


def _kubernetes(resource: str) -> Conflict:
    # Kubernetes apimachinery, api/errors NewAlreadyExists; measured against 1.35.
    return Conflict(_OBJECT, "AlreadyExists", f'{resource} "{{name}}" already exists')


CONFLICTS: Mapping[str, Conflict] = {
    # terraform-aws-modules/terraform-aws-eks#1262, #1191, #3293
    "aws:eks/cluster:Cluster": Conflict(("name",), _EKS, "Cluster already exists with name: {name}"),
    "aws:eks/nodeGroup:NodeGroup": Conflict(
        ("clusterName", "nodeGroupName"), _EKS, "NodeGroup already exists with name {nodeGroupName} and cluster name {clusterName}"
    ),
    "aws:eks/accessEntry:AccessEntry": Conflict(
        ("clusterName", "principalArn"), _EKS, "The specified access entry resource is already in use on this cluster."
    ),
    "aws:eks/addon:Addon": Conflict(("clusterName", "addonName"), _EKS, "Addon already exists."),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": Conflict(
        ("clusterName", "namespace", "serviceAccount"), _EKS, "Association already exists for {namespace}/{serviceAccount}"
    ),
    # IAM API, CreateRole
    "aws:iam/role:Role": Conflict(("name",), "EntityAlreadyExists", "Role with name {name} already exists."),
    # EC2 API, client error codes
    "aws:ec2/securityGroup:SecurityGroup": Conflict(
        ("vpcId", "name"), "InvalidGroup.Duplicate", "The security group '{name}' already exists for VPC '{vpcId}'"
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": Conflict(
        # github-aws-runners/terraform-aws-github-runner#1382
        ("name",),
        "InvalidLaunchTemplateName.AlreadyExistsException",
        "Launch template name already in use.",
    ),
    "aws:ec2/placementGroup:PlacementGroup": Conflict(
        ("name",), "InvalidPlacementGroup.Duplicate", "The Placement Group '{name}' already exists."
    ),
    "aws:ec2/subnet:Subnet": Conflict(
        ("vpcId", "cidrBlock"), "InvalidSubnet.Conflict", "The CIDR '{cidrBlock}' conflicts with another subnet"
    ),
    "aws:ec2/route:Route": Conflict(
        ("routeTableId", "destinationCidrBlock"), "RouteAlreadyExists", "The route identified by {destinationCidrBlock} already exists."
    ),
    # KMS API, CreateAlias
    "aws:kms/alias:Alias": Conflict(("name",), "AlreadyExistsException", "An alias with the name {name} already exists"),
    # CloudWatch Logs API, CreateLogGroup
    "aws:cloudwatch/logGroup:LogGroup": Conflict(("name",), "ResourceAlreadyExistsException", "The specified log group already exists"),
    "kubernetes:core/v1:Namespace": _kubernetes("namespaces"),
    "kubernetes:core/v1:Service": _kubernetes("services"),
    "kubernetes:core/v1:PersistentVolume": _kubernetes("persistentvolumes"),
    "kubernetes:core/v1:PersistentVolumeClaim": _kubernetes("persistentvolumeclaims"),
    "kubernetes:apps/v1:StatefulSet": _kubernetes("statefulsets.apps"),
    "kubernetes:storage.k8s.io/v1:StorageClass": _kubernetes("storageclasses.storage.k8s.io"),
    "kubernetes:scheduling.volcano.sh/v1beta1:Queue": _kubernetes("queues.scheduling.volcano.sh"),
    # Helm, pkg/action/install.go availableName
    "kubernetes:helm.sh/v3:Release": Conflict(
        ("namespace", "name"), "AlreadyExists", "release {name} failed: cannot re-use a name that is still in use"
    ),
}


def wording(resource_type: str, inputs: Mapping[str, Any]) -> tuple[str, str] | None:
    """Code and text for a new object where one of its name, or in its place, is there; None for a type that has no such words."""
    found = CONFLICTS.get(resource_type)
    if found is None:
        return None
    return found.code, found.text.format(**{path.rsplit(".", 1)[-1]: _at(inputs, path) for path in found.fields})


def _at(inputs: Mapping[str, Any], path: str) -> Any:
    value: Any = inputs
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
