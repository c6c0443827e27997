"""A cluster that this program did not make, with all that belongs to it in the account: reads only."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from facts.external.network import NetworkDescription
from facts.names import control_plane_log_group
from facts.resources.rights import CLUSTER, part_of_cluster, role_of
from trn.aws.api import Api, Call, tags_of
from trn.aws.eks import described, node_group, node_group_names
from trn.aws.external_network import DESCRIBE_GROUPS, described_network
from trn.aws.fsx import DESCRIBE_FILE_SYSTEMS
from trn.aws.sighting import filters
from trn.cli.errors import CommandError

LIST_CLUSTERS = Call("eks", "ListClusters")
LIST_ADDONS = Call("eks", "ListAddons", CLUSTER)
DESCRIBE_ADDON = Call("eks", "DescribeAddon", part_of_cluster("addon"))
LIST_FARGATE = Call("eks", "ListFargateProfiles", CLUSTER)
LIST_ENTRIES = Call("eks", "ListAccessEntries", CLUSTER)
DESCRIBE_ENTRY = Call("eks", "DescribeAccessEntry", part_of_cluster("access-entry"))
LIST_POLICIES = Call("eks", "ListAssociatedAccessPolicies", part_of_cluster("access-entry"))
DESCRIBE_INSTANCES = Call("ec2", "DescribeInstances")
LIST_ROLES = Call("iam", "ListRoles")
LIST_ATTACHED = Call("iam", "ListAttachedRolePolicies")
LIST_INLINE = Call("iam", "ListRolePolicies")
DESCRIBE_STACKS = Call("cloudformation", "DescribeStacks")
DESCRIBE_LOG_GROUPS = Call("logs", "DescribeLogGroups")
EKSCTL_TAG = "alpha.eksctl.io/cluster-name"
"""On all that eksctl makes, its CloudFormation stacks among them (eksctl-io/eksctl pkg/apis/eksctl.io/v1alpha5/types.go, ClusterNameTag)."""
GROUP_TAG, KARPENTER_TAG = "eks:nodegroup-name", "karpenter.sh/nodepool"
"""On instances of managed groups, and of Karpenter."""
Entry = Mapping[str, Any]


@dataclass(frozen=True)
class OtherCluster:
    """What the account has of a cluster, as the services describe it."""

    region: str
    entry: Entry
    node_groups: tuple[Entry, ...]
    addons: tuple[Entry, ...]
    access_entries: tuple[Entry, ...]
    """With `policies`: what is associated with each."""
    network: NetworkDescription
    file_systems: tuple[Entry, ...]
    """FSx for Lustre in the cluster's VPC."""
    nodes: tuple[Entry, ...]
    """Instances that run, of all groups."""
    cluster_group: Entry
    """The security group that EKS made."""
    service_account_roles: tuple[str, ...]
    """Roles that service accounts take through the cluster's OIDC provider."""
    role_policies: tuple[str, ...]
    """ARNs of the policies that are attached to the control plane's role."""
    role_documents: tuple[str, ...]
    """Names of the policies that are written into it."""
    stacks: tuple[Entry, ...]
    """eksctl's CloudFormation stacks."""
    log_group: Entry | None
    """Of the control plane."""
    fargate_profiles: tuple[str, ...] = ()
    """Names of the profiles by which pods run on Fargate."""
    role_users: tuple[str, ...] = ()
    """Other clusters whose control plane has the same role; those of other regions with the region."""

    @property
    def name(self) -> str:
        """The cluster's name."""
        return str(self.entry["name"])

    @property
    def other_nodes(self) -> list[Entry]:
        """Nodes of no managed group: self-managed, or Karpenter's."""
        return [node for node in self.nodes if GROUP_TAG not in tags_of(node)]

    @property
    def role_path(self) -> str:
        """Path of the control plane's role: `/` where it has none."""
        return str(self.entry["roleArn"]).partition(":role")[2].removesuffix(role_of(self.entry["roleArn"]))

    @property
    def tags(self) -> dict[str, str]:
        """The cluster's tags."""
        return tags_of(self.entry, "tags")


def cluster_names(api: Api) -> list[str]:
    """Clusters of the region."""
    return sorted(api.pages(LIST_CLUSTERS, "clusters"))


def read_cluster(api: Api, name: str) -> OtherCluster | None:
    """The cluster of this name; None where the region has none.

    Raises CommandError where its network is deleted below it, and what botocore raises.
    """
    entry = described(api, name)
    if entry is None:
        return None
    vpc_id = entry["resourcesVpcConfig"]["vpcId"]
    network = described_network(api, vpc_id)
    if network is None:
        hint = "a cluster whose network is deleted cannot be repaired: delete it with the tool that made it"
        raise CommandError(f"EKS says that {name} is in {vpc_id}, and EC2 has no such VPC", hint)
    gone = [each for each in entry["resourcesVpcConfig"]["subnetIds"] if each not in network.subnets]
    if gone:
        hint = "give the control plane other subnets of the same zones first: `aws eks update-cluster-config`"
        raise CommandError(f"the control plane of {name} is in {', '.join(gone)}, and {vpc_id} has no such subnet", hint)
    role = role_of(entry["roleArn"])
    return OtherCluster(
        region=api.region,
        entry=entry,
        node_groups=tuple(node_group(api, name, each) for each in sorted(node_group_names(api, name))),
        addons=tuple(
            api.call(DESCRIBE_ADDON, clusterName=name, addonName=each)["addon"]
            for each in sorted(api.pages(LIST_ADDONS, "addons", clusterName=name))
        ),
        access_entries=tuple(_access_entries(api, entry)),
        network=network,
        file_systems=tuple(each for each in api.pages(DESCRIBE_FILE_SYSTEMS, "FileSystems") if _is_lustre_in(each, vpc_id)),
        nodes=tuple(_nodes(api, name)),
        cluster_group=next(iter(api.pages(DESCRIBE_GROUPS, "SecurityGroups", Filters=filters({"group-id": _own_group(entry)}))), {}),
        service_account_roles=tuple(_service_account_roles(api, entry)),
        role_policies=tuple(each["PolicyArn"] for each in api.pages(LIST_ATTACHED, "AttachedPolicies", RoleName=role)),
        role_documents=tuple(api.pages(LIST_INLINE, "PolicyNames", RoleName=role)),
        stacks=tuple(each for each in api.pages(DESCRIBE_STACKS, "Stacks") if tags_of(each).get(EKSCTL_TAG) == name),
        log_group=_log_group(api, name),
        fargate_profiles=tuple(sorted(api.pages(LIST_FARGATE, "fargateProfileNames", clusterName=name))),
        role_users=tuple(each for each in clusters_with_role(api, entry["roleArn"]) if each != name),
    )


def clusters_with_role(api: Api, arn: str) -> list[str]:
    """Clusters of the region whose control plane has this role; one that is registered from outside of EKS has none."""
    return [each for each in cluster_names(api) if (described(api, each) or {}).get("roleArn") == arn]


def _access_entries(api: Api, cluster: Entry) -> Iterator[Entry]:
    """None for a cluster that knows the config map aws-auth only: EKS refuses the question (EKS API, ListAccessEntries)."""
    name = cluster["name"]
    if authentication_mode(cluster) == "CONFIG_MAP":
        return
    for principal in sorted(api.pages(LIST_ENTRIES, "accessEntries", clusterName=name)):
        found = api.call(DESCRIBE_ENTRY, clusterName=name, principalArn=principal)["accessEntry"]
        policies = list(api.pages(LIST_POLICIES, "associatedAccessPolicies", clusterName=name, principalArn=principal))
        yield {**found, "policies": policies}


def authentication_mode(cluster: Entry) -> str:
    """Where the cluster finds its users. Clusters from before access entries say nothing, and have the config map."""
    return str((cluster.get("accessConfig") or {}).get("authenticationMode", "CONFIG_MAP"))


def _is_lustre_in(entry: Entry, vpc_id: str) -> bool:
    return entry.get("FileSystemType") == "LUSTRE" and entry.get("VpcId") == vpc_id


def _own_group(cluster: Entry) -> str:
    return str(cluster["resourcesVpcConfig"]["clusterSecurityGroupId"])


def _nodes(api: Api, name: str) -> Iterator[Entry]:
    wanted = filters({f"tag:kubernetes.io/cluster/{name}": "owned", "instance-state-name": ("pending", "running")})
    for reservation in api.pages(DESCRIBE_INSTANCES, "Reservations", Filters=wanted):
        yield from reservation["Instances"]


def _service_account_roles(api: Api, cluster: Entry) -> Iterator[str]:
    """Roles whose trust names the cluster's OIDC issuer."""
    issuer = str(((cluster.get("identity") or {}).get("oidc") or {}).get("issuer", "")).removeprefix("https://")
    for role in api.pages(LIST_ROLES, "Roles") if issuer else ():
        if issuer in _trust(role.get("AssumeRolePolicyDocument")):
            yield str(role["RoleName"])


def _trust(document: Any) -> str:
    """The text of a document, which boto3 gives as an object, and IAM with escapes."""
    return unquote(document) if isinstance(document, str) else json.dumps(document)


def _log_group(api: Api, name: str) -> Entry | None:
    wanted = control_plane_log_group(name)
    groups = api.pages(DESCRIBE_LOG_GROUPS, "logGroups", logGroupNamePrefix=wanted)
    return next((each for each in groups if each["logGroupName"] == wanted), None)
