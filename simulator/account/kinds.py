"""Type tokens that the world's rules speak of, and what a token tells about a Kubernetes object."""

VPC = "aws:ec2/vpc:Vpc"
POD_BLOCK = "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation"
SUBNET = "aws:ec2/subnet:Subnet"
INTERNET_GATEWAY = "aws:ec2/internetGateway:InternetGateway"
ADDRESS = "aws:ec2/eip:Eip"
NAT_GATEWAY = "aws:ec2/natGateway:NatGateway"
ROUTE_TABLE = "aws:ec2/routeTable:RouteTable"
ROUTE = "aws:ec2/route:Route"
ROUTE_TABLE_ASSOCIATION = "aws:ec2/routeTableAssociation:RouteTableAssociation"
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
EGRESS = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
PLACEMENT_GROUP = "aws:ec2/placementGroup:PlacementGroup"
ROLE = "aws:iam/role:Role"
ROLE_POLICY = "aws:iam/rolePolicy:RolePolicy"
ROLE_ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
CLUSTER = "aws:eks/cluster:Cluster"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
ADDON = "aws:eks/addon:Addon"
POD_IDENTITY = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
ACCESS_ENTRY = "aws:eks/accessEntry:AccessEntry"
ACCESS_POLICY = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
COMPUTE_ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment"
JOB_QUEUE = "aws:batch/jobQueue:JobQueue"
FILE_SYSTEM = "aws:fsx/lustreFileSystem:LustreFileSystem"
KEY = "aws:kms/key:Key"
LOG_GROUP = "aws:cloudwatch/logGroup:LogGroup"
RELEASE = "kubernetes:helm.sh/v3:Release"
NAMESPACE = "kubernetes:core/v1:Namespace"
SERVICE = "kubernetes:core/v1:Service"
VOLUME = "kubernetes:core/v1:PersistentVolume"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
STATEFUL_SET = "kubernetes:apps/v1:StatefulSet"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
CUSTOM_RESOURCE_DEFINITION = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
VALIDATING_WEBHOOKS = "kubernetes:admissionregistration.k8s.io/v1:ValidatingWebhookConfiguration"
MUTATING_WEBHOOKS = "kubernetes:admissionregistration.k8s.io/v1:MutatingWebhookConfiguration"
QUEUE = "kubernetes:scheduling.volcano.sh/v1beta1:Queue"
NODE_POOL = "kubernetes:karpenter.sh/v1:NodePool"
IN_KUBERNETES = "kubernetes:*"


def is_kubernetes(resource_type: str) -> bool:
    """Whether it lives behind the API server of the cluster."""
    return resource_type.startswith("kubernetes:")


def object_kind(resource_type: str) -> str:
    """`group/Kind` of a Kubernetes type, without its version: `scheduling.volcano.sh/Queue`, `v1/Service` of the core group."""
    _, middle, kind = resource_type.split(":")
    group = middle.split("/")[0]
    return f"{'v1' if group == 'core' else group}/{kind}"


def is_custom_resource(resource_type: str) -> bool:
    """Whether the API server knows the kind only through a CustomResourceDefinition; a Helm release is no object at all."""
    group = object_kind(resource_type).split("/")[0]
    return "." in group and not group.endswith(".k8s.io") and group != "helm.sh"
