"""What Cluster Autoscaler and Karpenter may do.

Sources: kubernetes/autoscaler cluster-autoscaler/cloudprovider/aws/README.md, 2025-12-11; aws/karpenter-provider-aws v1.14.0
getting-started cloudformation.yaml, 2026-07-10. The account is a wildcard: a document must not depend on where it is used.
"""

from collections.abc import Sequence

from facts.iam import Document, document

_AUTOSCALING_READS = ("AutoScalingGroups", "AutoScalingInstances", "LaunchConfigurations", "ScalingActivities")
_EC2_READS = ("DescribeImages", "DescribeInstanceTypes", "DescribeLaunchTemplateVersions", "GetInstanceTypesFromInstanceRequirements")
_KARPENTER_READS = (
    "CapacityReservations", "Images", "Instances", "InstanceStatus", "InstanceTypeOfferings", "InstanceTypes", "LaunchTemplates",
    "PlacementGroups", "SecurityGroups", "SpotPriceHistory", "Subnets",
)  # fmt: skip


def cluster_autoscaler_policy(cluster: str) -> Document:
    """Groups of this cluster only: upstream's example may resize every group of the account.

    The reads accept no narrower resource (service authorization reference).
    """
    reads = [*(f"autoscaling:Describe{what}" for what in _AUTOSCALING_READS), *(f"ec2:{call}" for call in _EC2_READS)]
    return document(
        {"Effect": "Allow", "Action": [*reads, "eks:DescribeNodegroup"], "Resource": "*"},
        {
            "Effect": "Allow",
            "Action": ["autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"],
            "Resource": "*",
            "Condition": {"StringEquals": {f"autoscaling:ResourceTag/kubernetes.io/cluster/{cluster}": "owned"}},
        },
    )


def karpenter_policies(partition: str, region: str, cluster: str, node_role: str, queue: str) -> dict[str, Document]:
    """The controller's documents by name: it makes and ends only what carries the cluster's tags."""
    return {
        "instances": _instances(partition, region, cluster),
        "profiles": _profiles(partition, region, cluster, node_role),
        "reads": _reads(partition, region),
        "cluster": document(
            {"Effect": "Allow", "Action": "eks:DescribeCluster", "Resource": f"arn:{partition}:eks:{region}:*:cluster/{cluster}"}
        ),
        "queue": document(
            {
                "Effect": "Allow",
                "Action": ["sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"],
                "Resource": f"arn:{partition}:sqs:{region}:*:{queue}",
            }
        ),
    }


def _instances(partition: str, region: str, cluster: str) -> Document:
    def arns(kinds: Sequence[str], account: str = "*") -> list[str]:
        return [f"arn:{partition}:ec2:{region}:{account}:{kind}/*" for kind in kinds]

    owned = {f"aws:ResourceTag/kubernetes.io/cluster/{cluster}": "owned"}
    asked = {f"aws:RequestTag/kubernetes.io/cluster/{cluster}": "owned", "aws:RequestTag/eks:eks-cluster-name": cluster}
    made = arns(("fleet", "instance", "volume", "network-interface", "launch-template", "spot-instances-request"))
    creations = ["RunInstances", "CreateFleet", "CreateLaunchTemplate"]
    used = arns(("security-group", "subnet", "capacity-reservation", "placement-group"))
    launch = ["ec2:RunInstances", "ec2:CreateFleet"]
    of_pool_made, of_pool_asked = {"aws:ResourceTag/karpenter.sh/nodepool": "*"}, {"aws:RequestTag/karpenter.sh/nodepool": "*"}
    return document(
        {"Effect": "Allow", "Action": launch, "Resource": [*arns(("image", "snapshot"), account=""), *used]},
        {
            "Effect": "Allow",
            "Action": launch,
            "Resource": arns(("launch-template",)),
            "Condition": {"StringEquals": owned, "StringLike": of_pool_made},
        },
        {
            "Effect": "Allow",
            "Action": [f"ec2:{creation}" for creation in creations],
            "Resource": made,
            "Condition": {"StringEquals": asked, "StringLike": of_pool_asked},
        },
        {
            "Effect": "Allow",
            "Action": "ec2:CreateTags",
            "Resource": made,
            "Condition": {"StringEquals": {**asked, "ec2:CreateAction": creations}, "StringLike": of_pool_asked},
        },
        {
            "Effect": "Allow",
            "Action": "ec2:CreateTags",
            "Resource": arns(("instance",)),
            "Condition": {
                "StringEquals": owned,
                "StringLike": of_pool_made,
                "StringEqualsIfExists": {"aws:RequestTag/eks:eks-cluster-name": cluster},
                "ForAllValues:StringEquals": {"aws:TagKeys": ["eks:eks-cluster-name", "karpenter.sh/nodeclaim", "Name"]},
            },
        },
        {
            "Effect": "Allow",
            "Action": ["ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"],
            "Resource": arns(("instance", "launch-template")),
            "Condition": {"StringEquals": owned, "StringLike": of_pool_made},
        },
    )


def _profiles(partition: str, region: str, cluster: str, node_role: str) -> Document:
    """Instance profiles, which Karpenter makes by itself for each node class."""
    profiles = f"arn:{partition}:iam::*:instance-profile/*"

    def tags(place: str) -> dict[str, str]:
        return {
            f"aws:{place}Tag/kubernetes.io/cluster/{cluster}": "owned",
            f"aws:{place}Tag/topology.kubernetes.io/region": region,
        }

    asked = {**tags("Request"), "aws:RequestTag/eks:eks-cluster-name": cluster}
    class_asked, class_made = (
        {"aws:RequestTag/karpenter.k8s.aws/ec2nodeclass": "*"},
        {"aws:ResourceTag/karpenter.k8s.aws/ec2nodeclass": "*"},
    )
    return document(
        {
            "Effect": "Allow",
            "Action": "iam:PassRole",
            "Resource": f"arn:{partition}:iam::*:role/{node_role}",
            "Condition": {"StringEquals": {"iam:PassedToService": ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"]}},
        },
        {
            "Effect": "Allow",
            "Action": "iam:CreateInstanceProfile",
            "Resource": profiles,
            "Condition": {"StringEquals": asked, "StringLike": class_asked},
        },
        {
            "Effect": "Allow",
            "Action": "iam:TagInstanceProfile",
            "Resource": profiles,
            "Condition": {"StringEquals": {**tags("Resource"), **asked}, "StringLike": {**class_made, **class_asked}},
        },
        {
            "Effect": "Allow",
            "Action": ["iam:AddRoleToInstanceProfile", "iam:RemoveRoleFromInstanceProfile", "iam:DeleteInstanceProfile"],
            "Resource": profiles,
            "Condition": {"StringEquals": tags("Resource"), "StringLike": class_made},
        },
        {"Effect": "Allow", "Action": "iam:GetInstanceProfile", "Resource": profiles},
        {"Effect": "Allow", "Action": "iam:ListInstanceProfiles", "Resource": "*"},
    )


def _reads(partition: str, region: str) -> Document:
    return document(
        {
            "Effect": "Allow",
            "Action": [f"ec2:Describe{what}" for what in _KARPENTER_READS],
            "Resource": "*",
            "Condition": {"StringEquals": {"aws:RequestedRegion": region}},
        },
        {"Effect": "Allow", "Action": "ssm:GetParameter", "Resource": f"arn:{partition}:ssm:{region}::parameter/aws/service/*"},
        {"Effect": "Allow", "Action": "pricing:GetProducts", "Resource": "*"},
    )
