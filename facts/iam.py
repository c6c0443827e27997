"""IAM documents of the cluster's identities, as plain dictionaries; every ARN carries its partition.

Sources: EKS user guide (pod-id-role, create-node-role); awslabs/amazon-eks-ami nodeadm, 2026-07-23;
kubernetes-sigs/aws-ebs-csi-driver docs/AmazonEBSCSIDriverPolicyV2, 2026-04-15; kubernetes-sigs/aws-fsx-csi-driver docs/install.md, 2026-04-21.
"""

import json
from typing import Any

from facts.names import CLUSTER_TAG

Document = dict[str, Any]

FSX_NETWORK_CALLS = ("DescribeRouteTables", "DescribeSecurityGroups", "DescribeSubnets", "DescribeVpcs", "GetSecurityGroupsForVpc")


SESSION_MANAGER_POLICY = "AmazonSSMManagedInstanceCore"
"""What the Systems Manager agent of a node needs; it includes reading every parameter (AWS managed policy reference, v2)."""


def to_json(document: Document) -> str:
    """The document as IAM wants it; sorted, so that no run shows a difference that is none."""
    return json.dumps(document, sort_keys=True)


def managed_policy_arn(partition: str, name: str) -> str:
    """ARN of an AWS managed policy."""
    return f"arn:{partition}:iam::aws:policy/{name}"


def access_policy_arn(partition: str, name: str) -> str:
    """ARN of an EKS access policy, such as `AmazonEKSClusterAdminPolicy`."""
    return f"arn:{partition}:eks::aws:cluster-access-policy/{name}"


def service_trust(service: str) -> Document:
    """Trust of a role that an AWS service takes on."""
    return document({"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"})


def ec2_trust(region_dns_suffix: str) -> Document:
    """Trust of the node role; China spells the service with its own suffix."""
    return service_trust(f"ec2.{region_dns_suffix}" if region_dns_suffix.endswith(".cn") else "ec2.amazonaws.com")


def pod_identity_trust(cluster: str, namespace: str, service_account: str) -> Document:
    """Trust of a role for one service account of one cluster.

    Without the conditions any association in the account could use the role.
    """
    return document(
        {
            "Effect": "Allow",
            "Principal": {"Service": "pods.eks.amazonaws.com"},
            "Action": ["sts:AssumeRole", "sts:TagSession"],
            "Condition": {
                "StringEquals": {
                    "aws:RequestTag/eks-cluster-name": cluster,
                    "aws:RequestTag/kubernetes-namespace": namespace,
                    "aws:RequestTag/kubernetes-service-account": service_account,
                }
            },
        }
    )


def node_boot_policy() -> Document:
    """What nodeadm of AL2023 asks EC2 at boot and the worker minimal policy lacks; without it the node never joins."""
    return document({"Effect": "Allow", "Action": ["ec2:DescribeInstances", "ec2:DescribeInstanceTypes"], "Resource": "*"})


def ebs_csi_policy(partition: str) -> Document:
    """Only volumes that the driver made itself: it marks them with `ebs.csi.aws.com/cluster`."""
    volumes, instances = f"arn:{partition}:ec2:*:*:volume/*", f"arn:{partition}:ec2:*:*:instance/*"
    describe = ["AvailabilityZones", "Instances", "InstanceTypes", "Snapshots", "Volumes", "VolumesModifications", "VolumeStatus"]
    return document(
        {"Effect": "Allow", "Action": [f"ec2:Describe{what}" for what in describe], "Resource": "*"},
        {
            "Effect": "Allow",
            "Action": "ec2:CreateVolume",
            "Resource": volumes,
            "Condition": {"StringEquals": {"aws:RequestTag/ebs.csi.aws.com/cluster": "true"}},
        },
        {
            "Effect": "Allow",
            "Action": "ec2:CreateTags",
            "Resource": volumes,
            "Condition": {"StringEquals": {"ec2:CreateAction": "CreateVolume"}},
        },
        {
            "Effect": "Allow",
            "Action": ["ec2:AttachVolume", "ec2:DeleteVolume", "ec2:DetachVolume", "ec2:ModifyVolume"],
            "Resource": volumes,
            "Condition": {"StringEquals": {"ec2:ResourceTag/ebs.csi.aws.com/cluster": "true"}},
        },
        {"Effect": "Allow", "Action": ["ec2:AttachVolume", "ec2:DetachVolume"], "Resource": instances},
    )


def fsx_csi_policy(partition: str, region: str, cluster: str) -> Document:
    """What claims of the dynamic storage class need; a static volume needs nothing.

    File systems are created and deleted only with the cluster's own tag, which the storage class sets.
    """
    file_systems = f"arn:{partition}:fsx:{region}:*:file-system/*"
    return document(
        {"Effect": "Allow", "Action": "fsx:DescribeFileSystems", "Resource": "*"},
        {
            "Effect": "Allow",
            "Action": ["fsx:CreateFileSystem", "fsx:TagResource"],
            "Resource": file_systems,
            "Condition": {"StringEquals": {f"aws:RequestTag/{CLUSTER_TAG}": cluster}},
        },
        {
            "Effect": "Allow",
            "Action": ["fsx:DeleteFileSystem", "fsx:UpdateFileSystem"],
            "Resource": file_systems,
            "Condition": {"StringEquals": {f"aws:ResourceTag/{CLUSTER_TAG}": cluster}},
        },
        {
            # FSx looks at the network in the caller's name (AmazonFSxFullAccess v13).
            "Effect": "Allow",
            "Action": [f"ec2:{call}" for call in FSX_NETWORK_CALLS],
            "Resource": "*",
            "Condition": {"ForAnyValue:StringEquals": {"aws:CalledVia": "fsx.amazonaws.com"}},
        },
        {
            "Effect": "Allow",
            "Action": "iam:CreateServiceLinkedRole",
            "Resource": f"arn:{partition}:iam::*:role/aws-service-role/fsx.amazonaws.com/*",
            "Condition": {"StringEquals": {"iam:AWSServiceName": "fsx.amazonaws.com"}},
        },
    )


def document(*statements: Document) -> Document:
    """A document of these statements."""
    return {"Version": "2012-10-17", "Statement": list(statements)}
