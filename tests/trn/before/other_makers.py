"""The simulated account as other makers of clusters leave it: the original Terraform blueprint, and eksctl.

Sources: awslabs/data-on-eks ai-ml/trainium-inferentia, eks.tf, vpc.tf, addons.tf and fsx-for-lustre.tf, read at a32d9f25;
eksctl-io/eksctl pkg/cfn/builder, pkg/cfn/manager and pkg/apis/eksctl.io/v1alpha5/types.go, read 2026-11.
"""

import json
from collections.abc import Mapping
from typing import Any

from facts.external.network import ANYWHERE, NatGateway, NetworkDescription, Route, RouteTable, Subnet
from facts.names import control_plane_log_group
from facts.regions import dns_suffix, partition
from facts.resources import ec2_compute, eks, eks_access, eks_nodes, iam, logs
from simulator.account.external import put_network
from simulator.account.state import AccountState
from simulator.outputs import ACCOUNT, Context, answer
from simulator.recording import Registration

REGION, VPC = "us-west-2", "vpc-0b10e0b10e0b10e01"
BLUEPRINT, EKSCTL = "trainium-inferentia", "team-trn"
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/1b1e1b1e-0000-4000-8000-00000000b10e"
NAT, GATEWAY = "nat-0b10e0b10e0b10e01", "igw-0b10e0b10e0b10e01"
NODES = {"usw2-az4": "subnet-0b10e00000000a004", "usw2-az1": "subnet-0b10e00000000a001"}
"""Private subnets of the blueprint in 100.64.0.0/16: nodes, pods and the control plane."""
ROUTABLE = {"usw2-az4": "subnet-0b10e00000000b004", "usw2-az1": "subnet-0b10e00000000b001"}
PUBLIC = {"usw2-az4": "subnet-0b10e00000000c004", "usw2-az1": "subnet-0b10e00000000c001"}
CONTROL_PLANE_GROUP, NODE_GROUP = "sg-0b10e00000000c9", "sg-0b10e00000000d0"
"""Security groups that Terraform's module makes: for the control plane, and for nodes, which have no other."""
FILE_SYSTEM = "fs-0b10e0b10e0b10e01"


def blueprint_account(
    state: AccountState | None = None,
    *,
    version: str = "1.35",
    mode: str = "API_AND_CONFIG_MAP",
    role_path: str = "/",
    by_claim: bool = True,
    let_in: bool = True,
) -> AccountState:
    """The account after `install.sh` of the blueprint, and upgrades of Kubernetes since. `mode`: where the cluster finds its users; `by_claim`: whether
    a claim made the file system, as in the blueprint, or Terraform did, as in its successor; `let_in`: whether EKS's own
    security group lets the nodes' in, which the module does not see to."""
    made = Account(state or AccountState(), BLUEPRINT)
    put_network(made.state, _network(NODES, ROUTABLE, PUBLIC))
    tags = {"Blueprint": BLUEPRINT, "GithubRepo": "github.com/awslabs/data-on-eks"}
    role = f"{BLUEPRINT}-cluster-20240829101112131400000001"
    made.role(role, ("AmazonEKSClusterPolicy", "AmazonEKSVPCResourceController"), path=role_path)
    made.cluster(role, version, mode, list(NODES.values()), tags, path=role_path, encryptionConfig=_encryption(), public=["0.0.0.0/0"], groups=[CONTROL_PLANE_GROUP])  # fmt: skip
    made.security_group(NODE_GROUP if let_in else "")
    made.log_group(90)
    node_role = made.role("core-node-group-eks-node-group-20240829", ("AmazonEKSWorkerNodePolicy",))
    core = {"desiredSize": 3, "minSize": 3, "maxSize": 8}
    made.group("core-node-group-2024082910243513140000000c", node_role, "m5.xlarge", "AL2023_x86_64_STANDARD", list(NODES.values()), core, launchTemplate=made.template("core"))  # fmt: skip
    trn1 = {"desiredSize": 2, "minSize": 0, "maxSize": 2}
    labels = {"instance-type": "trn1-32xl", "provisioner": "cluster-autoscaler"}
    taints = [{"key": "aws.amazon.com/neuron", "value": "true", "effect": "NO_SCHEDULE"}]
    made.group(
        "trn1-32xl-ng1-2024082910243513140000000e", node_role, "trn1.32xlarge", "AL2_x86_64_GPU", [NODES["usw2-az4"]], trn1,
        labels=labels, taints=taints, launchTemplate=made.template("trn1"),
    )  # fmt: skip
    for addon in ("vpc-cni", "kube-proxy", "coredns", "eks-pod-identity-agent"):
        made.addon(addon)
    ebs = made.service_account_role(f"{BLUEPRINT}-ebs-csi-driver-20240829", "kube-system:ebs-csi-controller-sa")
    made.addon("aws-ebs-csi-driver", serviceAccountRoleArn=ebs)
    made.service_account_role("aws-fsx-csi-driver-20240829", "kube-system:fsx-csi-controller-sa")
    if mode != "CONFIG_MAP":
        made.entry(f"arn:aws:iam::{ACCOUNT}:role/{node_role}", "EC2_LINUX")
        made.entry(f"arn:aws:iam::{ACCOUNT}:role/deployer", "STANDARD", "AmazonEKSClusterAdminPolicy")
        made.entry(f"arn:aws:iam::{ACCOUNT}:role/platform-team", "STANDARD", "AmazonEKSViewPolicy")
    volume = {"CSIVolumeName": "pvc-0b10e", "kubernetes.io/created-for/pv/name": "pvc-0b10e"}
    made.file_system(ROUTABLE["usw2-az4"], volume if by_claim else {"Name": "static"})
    return made.state


def eksctl_account(state: AccountState | None = None, *, mode: str = "API_AND_CONFIG_MAP", version: str = "1.35") -> AccountState:
    """The account after `eksctl create cluster` with a managed Neuron group, a self-managed group and a role for a service account."""
    made = Account(state or AccountState(), EKSCTL)
    put_network(made.state, _network(ROUTABLE, {}, PUBLIC))
    tags = {
        "alpha.eksctl.io/cluster-name": EKSCTL,
        "eksctl.cluster.k8s.io/v1alpha1/cluster-name": EKSCTL,
        "alpha.eksctl.io/eksctl-version": "0.210.0",
        "aws:cloudformation:stack-name": f"eksctl-{EKSCTL}-cluster",
    }
    role = f"eksctl-{EKSCTL}-cluster-ServiceRole-0B10E0B10E0B"
    made.role(role, ("AmazonEKSClusterPolicy", "AmazonEKSVPCResourceController"))
    made.cluster(role, version, mode, [*ROUTABLE.values(), *PUBLIC.values()], tags, public=["198.18.0.0/24"])
    node_role = made.role(f"eksctl-{EKSCTL}-nodegroup-trn1-NodeInstanceRole-0B10E", ("AmazonEKSWorkerNodePolicy",))
    size = {"desiredSize": 1, "minSize": 0, "maxSize": 2}
    marks = {"alpha.eksctl.io/cluster-name": EKSCTL, "alpha.eksctl.io/nodegroup-name": "trn1"}
    made.group("trn1", node_role, "trn1.32xlarge", "AL2023_x86_64_NEURON", [ROUTABLE["usw2-az4"]], size, labels=marks)
    for addon in ("vpc-cni", "kube-proxy", "coredns", "metrics-server"):
        made.addon(addon)
    made.service_account_role(f"eksctl-{EKSCTL}-addon-iamserviceaccount-0B10E", "kube-system:cluster-autoscaler")
    if mode != "CONFIG_MAP":
        made.entry(f"arn:aws:iam::{ACCOUNT}:role/{node_role}", "EC2_LINUX")
        made.entry(f"arn:aws:iam::{ACCOUNT}:role/deployer", "STANDARD", "AmazonEKSClusterAdminPolicy")
    made.instance("i-0b10e0b10e0b10e01", "m5.large", ROUTABLE["usw2-az1"], {"alpha.eksctl.io/nodegroup-name": "old"})
    for part in ("cluster", "nodegroup-trn1", "nodegroup-old", "addon-iamserviceaccount-kube-system-cluster-autoscaler"):
        made.stack(f"eksctl-{EKSCTL}-{part}")
    return made.state


def _encryption() -> dict[str, Any]:
    return {"provider": {"keyArn": KEY}, "resources": ["secrets"]}


def _network(*roles: Mapping[str, str]) -> NetworkDescription:
    """Subnets with one NAT gateway for those that are private; the last role is public."""
    *private, public = roles
    subnets: dict[str, Subnet] = {}
    for number, (role, table) in enumerate([*((role, "rtb-0b10e1") for role in private), (public, "rtb-0b10e2")]):
        tag = "kubernetes.io/role/elb" if role is public else "kubernetes.io/role/internal-elb"
        for index, (zone_id, which) in enumerate(role.items()):
            block = f"10.1.{number * 64 + index * 32}.0/19"
            subnets[which] = Subnet(zone_id=zone_id, cidr=block, free_addresses=8000, route_table=table, tags={tag: "1"})
    tables = {
        "rtb-0b10e1": RouteTable(routes=(Route(destination=ANYWHERE, target=NAT),)),
        "rtb-0b10e2": RouteTable(routes=(Route(destination=ANYWHERE, target=GATEWAY),)),
        "rtb-0b10e3": RouteTable(main=True),
    }
    nats = {NAT: NatGateway(subnet=public["usw2-az4"])}
    return NetworkDescription(region=REGION, vpc_id=VPC, cidrs=("10.1.0.0/16",), subnets=subnets, route_tables=tables, nat_gateways=nats)


class Account:
    """Objects of one cluster, put into an account without a request."""

    def __init__(self, state: AccountState, cluster: str) -> None:
        self.state, self._name = state, cluster

    def _put(self, token: str, name: str, inputs: dict[str, Any]) -> Registration:
        urn = f"urn:pulumi:others::others::{token}::{name}"
        context = Context(0, urn, REGION, partition(REGION), dns_suffix(REGION))
        which, outputs = answer(context, token, name, inputs)
        made = Registration(urn, token, name, True, False, "", inputs, id=which, outputs=outputs)
        self.state.put(made)
        return made

    def role(self, name: str, policies: tuple[str, ...] = (), *, path: str = "/", trust: str = "{}") -> str:
        """A role with policies of AWS; its name."""
        plain = {"name": name, "assumeRolePolicy": trust, **({"path": path} if path != "/" else {})}
        self._put(iam.ROLE.token, name, plain)
        for policy in policies:
            self._put(iam.ROLE_ATTACHMENT.token, f"{name}-{policy}", {"role": name, "policyArn": f"arn:aws:iam::aws:policy/{policy}"})
        return name

    def service_account_role(self, name: str, account: str) -> str:
        """A role that a service account takes through the cluster's OIDC provider; its ARN."""
        (cluster,) = [item for item in self.state.ready(eks.CLUSTER_TYPE.token) if item.id == self._name]
        issuer = cluster.outputs["identities"][0]["oidcs"][0]["issuer"].removeprefix("https://")
        statement = {
            "Action": "sts:AssumeRoleWithWebIdentity",
            "Condition": {"StringEquals": {f"{issuer}:sub": f"system:serviceaccount:{account}"}},
        }
        arn = f"arn:aws:iam::{ACCOUNT}:role/{name}"
        trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        self.state.others.setdefault("role", {})[name] = {"Path": "/", "Arn": arn, "AssumeRolePolicyDocument": trust, "tags": {}}
        return arn

    def cluster(
        self,
        role: str,
        version: str,
        mode: str,
        subnets: list[str],
        tags: dict[str, str],
        *,
        public: list[str],
        path: str = "/",
        groups: list[str] | None = None,
        **more: Any,
    ) -> None:
        """The control plane."""
        self._put(
            eks.CLUSTER_TYPE.token,
            self._name,
            {
                "name": self._name,
                "roleArn": f"arn:aws:iam::{ACCOUNT}:role{path}{role}",
                "version": version,
                "accessConfig": {"authenticationMode": mode, "bootstrapClusterCreatorAdminPermissions": True},
                "enabledClusterLogTypes": ["api", "audit", "authenticator"] if more else [],
                "upgradePolicy": {"supportType": "EXTENDED"},
                "vpcConfig": {
                    "subnetIds": subnets,
                    "endpointPublicAccess": True,
                    "endpointPrivateAccess": bool(more),
                    "publicAccessCidrs": public,
                    **({"securityGroupIds": groups} if groups else {}),
                },
                "tags": tags,
                **more,
            },
        )

    def group(self, name: str, role: str, instance_type: str, ami: str, subnets: list[str], size: dict[str, int], **more: Any) -> None:
        """A managed node group."""
        inputs = {
            "clusterName": self._name,
            "nodeGroupName": name,
            "nodeRoleArn": f"arn:aws:iam::{ACCOUNT}:role/{role}",
            "subnetIds": subnets,
        }
        kind = {"amiType": ami, "capacityType": "ON_DEMAND", "instanceTypes": [instance_type], "version": "1.35"}
        self._put(eks_nodes.NODE_GROUP.token, name, {**inputs, **kind, "scalingConfig": size, **more})

    def template(self, name: str, **more: Any) -> dict[str, str]:
        """A launch template as Terraform's module makes one, whose nodes have its own security group only; as a group names it."""
        inputs = {"name": f"{self._name}-{name}-20240829", "vpcSecurityGroupIds": [NODE_GROUP], **more}
        made = self._put(ec2_compute.LAUNCH_TEMPLATE.token, name, inputs)
        return {"id": made.id, "version": "1"}

    def security_group(self, let_in: str) -> None:
        """The group that EKS made, which lets itself in, and another group where one is named."""
        (cluster,) = [item for item in self.state.ready(eks.CLUSTER_TYPE.token) if item.id == self._name]
        own = cluster.outputs["vpcConfig"]["clusterSecurityGroupId"]
        rules = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": which} for which in (own, let_in) if which]}]
        plain = {"GroupId": own, "GroupName": f"eks-cluster-sg-{self._name}", "Description": "EKS", "VpcId": VPC}
        self.state.others.setdefault("group", {})[own] = {**plain, "IpPermissions": rules, "IpPermissionsEgress": [], "Tags": []}

    def addon(self, name: str, **more: Any) -> None:
        """A managed add-on in a version of the past."""
        self._put(eks.ADDON.token, name, {"clusterName": self._name, "addonName": name, "addonVersion": "v1.0.0-eksbuild.1", **more})

    def entry(self, principal: str, kind: str, policy: str = "") -> None:
        """An access entry."""
        own = {"clusterName": self._name, "principalArn": principal}
        # The provider's own default: it is no difference to a program that leaves it out.
        self._put(eks_access.ACCESS_ENTRY.token, principal, {**own, **({"type": kind} if kind != "STANDARD" else {})})
        if policy:
            arn = f"arn:aws:eks::aws:cluster-access-policy/{policy}"
            self._put(
                eks_access.ACCESS_POLICY.token, principal, {**own, "policyArn": arn, "accessScope": {"type": "cluster", "namespaces": []}}
            )

    def log_group(self, days: int) -> None:
        """The control plane's log group."""
        name = control_plane_log_group(self._name)
        self._put(logs.LOG_GROUP.token, name, {"name": name, "retentionInDays": days})

    def file_system(self, subnet: str, tags: dict[str, str]) -> None:
        """A file system that the CSI driver made for a claim."""
        self.state.others.setdefault("fsx", {})[FILE_SYSTEM] = {
            "FileSystemId": FILE_SYSTEM, "FileSystemType": "LUSTRE", "VpcId": VPC, "SubnetIds": [subnet], "StorageCapacity": 1200,
            "FileSystemTypeVersion": "2.12", "Lifecycle": "AVAILABLE",
            "LustreConfiguration": {"DeploymentType": "PERSISTENT_1", "MountName": "fsxb10e", "PerUnitStorageThroughput": 200},
            "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
        }  # fmt: skip

    def instance(self, which: str, instance_type: str, subnet: str, tags: dict[str, str]) -> None:
        """A node of a self-managed group."""
        marks = {f"kubernetes.io/cluster/{self._name}": "owned", **tags}
        self.state.others.setdefault("instance", {})[which] = {
            "InstanceId": which, "InstanceType": instance_type, "SubnetId": subnet, "VpcId": VPC, "State": {"Name": "running"},
            "Tags": [{"Key": key, "Value": value} for key, value in marks.items()],
        }  # fmt: skip

    def stack(self, name: str) -> None:
        """A stack of CloudFormation."""
        self.state.others.setdefault("stack", {})[name] = {
            "StackName": name, "StackStatus": "CREATE_COMPLETE", "CreationTime": "2026-01-01T00:00:00Z", "EnableTerminationProtection": False,
            "Tags": [{"Key": "alpha.eksctl.io/cluster-name", "Value": self._name}],
        }  # fmt: skip
