"""Which inputs of a type cannot change in place, so that a change makes a new resource.

Source: schemas of hashicorp/terraform-provider-aws and pulumi/pulumi-kubernetes provider/pkg/provider/diff.go, read
2026-11; paths use dots, list levels left out. Only inputs that the program sets are listed.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from simulator.kubernetes_objects import OBJECTS

_OBJECT = ("metadata.name", "metadata.namespace")
_RULE = ("securityGroupId",)

FORCES_REPLACEMENT: Mapping[str, tuple[str, ...]] = {
    "aws:ec2/vpc:Vpc": ("cidrBlock",),
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": ("cidrBlock", "vpcId"),
    "aws:ec2/subnet:Subnet": ("vpcId", "cidrBlock", "availabilityZoneId"),
    "aws:ec2/internetGateway:InternetGateway": (),
    "aws:ec2/eip:Eip": ("domain",),
    "aws:ec2/natGateway:NatGateway": ("allocationId", "subnetId"),
    "aws:ec2/routeTable:RouteTable": ("vpcId",),
    "aws:ec2/route:Route": ("routeTableId", "destinationCidrBlock"),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": ("subnetId",),
    "aws:ec2/vpcEndpoint:VpcEndpoint": ("vpcId", "serviceName", "vpcEndpointType"),
    "aws:ec2/securityGroup:SecurityGroup": ("name", "description", "vpcId"),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _RULE,
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _RULE,
    "aws:ec2/launchTemplate:LaunchTemplate": ("name",),
    "aws:ec2/placementGroup:PlacementGroup": ("name", "strategy"),
    "aws:iam/role:Role": ("name",),
    "aws:iam/rolePolicy:RolePolicy": ("name", "role"),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": ("role", "policyArn"),
    "aws:eks/cluster:Cluster": ("name", "roleArn", "bootstrapSelfManagedAddons", "accessConfig.bootstrapClusterCreatorAdminPermissions"),
    "aws:eks/nodeGroup:NodeGroup": (
        "clusterName", "nodeGroupName", "nodeRoleArn", "subnetIds", "amiType", "capacityType", "instanceTypes", "launchTemplate.id",
    ),
    "aws:eks/addon:Addon": ("addonName", "clusterName"),
    "aws:eks/accessEntry:AccessEntry": ("clusterName", "principalArn", "type"),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": ("clusterName", "principalArn", "policyArn", "accessScope"),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": ("clusterName", "namespace", "serviceAccount"),
    "aws:fsx/lustreFileSystem:LustreFileSystem": ("subnetIds", "securityGroupIds", "deploymentType", "storageType"),
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": ("dataRepositoryPath", "fileSystemId", "fileSystemPath"),
    "aws:kms/key:Key": (),
    "aws:kms/alias:Alias": ("name",),
    "aws:cloudwatch/logGroup:LogGroup": ("name",),
    "aws:autoscaling/tag:Tag": ("autoscalingGroupName", "tag.key"),
    "aws:amp/workspace:Workspace": (),
    "aws:sqs/queue:Queue": ("name",),
    "aws:sqs/queuePolicy:QueuePolicy": ("queueUrl",),
    "aws:cloudwatch/eventRule:EventRule": ("name",),
    "aws:cloudwatch/eventTarget:EventTarget": ("rule", "targetId"),
    # Of an environment that launches no instances; the provider's own list, eksConfiguration without accessEntry.
    "aws:batch/computeEnvironment:ComputeEnvironment": ("name", "type", "eksConfiguration"),
    "aws:batch/jobQueue:JobQueue": ("name",),
    # A change registers a new revision and takes the old one back.
    "aws:batch/jobDefinition:JobDefinition": ("name", "type"),
    **dict.fromkeys(OBJECTS, _OBJECT),
    "kubernetes:core/v1:Service": (*_OBJECT, "spec.clusterIP"),
    "kubernetes:core/v1:PersistentVolume": (*_OBJECT, "spec.csi"),
    "kubernetes:core/v1:PersistentVolumeClaim": (*_OBJECT, "spec.accessModes", "spec.storageClassName", "spec.volumeName"),
    "kubernetes:apps/v1:StatefulSet": (*_OBJECT, "spec.selector", "spec.serviceName", "spec.volumeClaimTemplates"),
    "kubernetes:storage.k8s.io/v1:StorageClass": (*_OBJECT, "provisioner", "parameters"),
    "kubernetes:apps/v1:DaemonSet": (*_OBJECT, "spec.selector"),
    # Data of a Secret, as of a ConfigMap, changes in place: the provider is told that they are mutable.
    "kubernetes:core/v1:Secret": (*_OBJECT, "type"),
    # The API refuses to change it (RBAC, roleRef).
    "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding": (*_OBJECT, "roleRef"),
    "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding": (*_OBJECT, "roleRef"),
    "kubernetes:apps/v1:Deployment": (*_OBJECT, "spec.selector"),
    "kubernetes:helm.sh/v3:Release": ("name", "namespace"),
}  # fmt: skip

_NAME_PROPERTY = {
    "aws:ec2/securityGroup:SecurityGroup": "name",
    "aws:ec2/launchTemplate:LaunchTemplate": "name",
    "aws:ec2/placementGroup:PlacementGroup": "name",
    "aws:iam/role:Role": "name",
    "aws:iam/rolePolicy:RolePolicy": "name",
    "aws:eks/cluster:Cluster": "name",
    "aws:eks/nodeGroup:NodeGroup": "nodeGroupName",
    "aws:kms/alias:Alias": "name",
    "aws:cloudwatch/logGroup:LogGroup": "name",
    "aws:sqs/queue:Queue": "name",
    "aws:cloudwatch/eventRule:EventRule": "name",
    "aws:cloudwatch/eventTarget:EventTarget": "targetId",
    "aws:batch/computeEnvironment:ComputeEnvironment": "name",
    "aws:batch/jobQueue:JobQueue": "name",
    "aws:batch/jobDefinition:JobDefinition": "name",
}
"""Where a name set by the program makes the provider delete first (pulumi/pulumi-terraform-bridge pkg/tfbridge/provider.go)."""


def changed_paths(old: Any, new: Any, path: str = "") -> list[str]:
    """Dotted paths at which two values differ; a list that differs counts as one path."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        found: list[str] = []
        for key in sorted({*old, *new}):
            if not str(key).startswith("__"):
                found += changed_paths(old.get(key), new.get(key), f"{path}.{key}" if path else str(key))
        return found
    return [] if old == new else [path]


def replacing_paths(resource_type: str, changed: Iterable[str], old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Those of the changed paths that force a replacement; KeyError for a type that the table does not have."""
    forcing = FORCES_REPLACEMENT[resource_type]
    depending = _DEPENDING.get(resource_type, {})
    return [
        path
        for path in changed
        if any(path == key or path.startswith(f"{key}.") for key in forcing)
        or any((path == key or path.startswith(f"{key}.")) and forces(old, new) for key, forces in depending.items())
    ]


def _goes_down(key: str) -> Callable[[Mapping[str, Any], Mapping[str, Any]], bool]:
    return lambda old, new: float(new.get(key) or 0) < float(old.get(key) or 0)


_DEPENDING: Mapping[str, Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], bool]]] = {
    "aws:fsx/lustreFileSystem:LustreFileSystem": {
        "storageCapacity": _goes_down("storageCapacity"),
        "fileSystemTypeVersion": _goes_down("fileSystemTypeVersion"),
    },
    "aws:eks/cluster:Cluster": {"encryptionConfig": lambda old, new: bool(old.get("encryptionConfig")) and not new.get("encryptionConfig")},
}
"""Inputs that can change in one direction only: (old, new) to whether the resource is replaced."""


def deletes_first(resource_type: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether a replacement deletes the old resource before it makes the new one."""
    if resource_type == "aws:iam/rolePolicyAttachment:RolePolicyAttachment":
        return True
    if resource_type == "kubernetes:helm.sh/v3:Release":
        return False
    if resource_type.startswith("kubernetes:"):
        names = [(item.get("metadata", {}).get("name"), item.get("metadata", {}).get("namespace")) for item in (old, new)]
        return names[0] == names[1]
    name = _NAME_PROPERTY.get(resource_type)
    return name is not None and new.get(name) is not None


_WITHOUT_TAGS = frozenset(
    {
        "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation", "aws:ec2/route:Route", "aws:iam/rolePolicy:RolePolicy",
        "aws:ec2/routeTableAssociation:RouteTableAssociation", "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        "aws:eks/accessPolicyAssociation:AccessPolicyAssociation", "aws:kms/alias:Alias", "aws:autoscaling/tag:Tag",
    }
)  # fmt: skip


def takes_tags(resource_type: str) -> bool:
    """Whether a type has tags of its own, and with them the provider's default tags."""
    return resource_type.startswith("aws:") and resource_type not in _WITHOUT_TAGS
