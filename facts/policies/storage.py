"""What the EFS and the Mountpoint S3 driver may do.

Sources: kubernetes-sigs/aws-efs-csi-driver docs/iam-policy-example.json, 2026-04-07, its EFS part; EKS user guide s3-csi.
"""

from collections.abc import Sequence

from facts.iam import Document, document

_EFS_MARK = "efs.csi.aws.com/cluster"
"""Tag that the driver puts on each access point it makes."""


def efs_csi_policy(partition: str, region: str) -> Document:
    """Access points that the driver made itself."""
    file_systems, points = (f"arn:{partition}:elasticfilesystem:{region}:*:{kind}/*" for kind in ("file-system", "access-point"))
    reads = [f"elasticfilesystem:Describe{what}" for what in ("AccessPoints", "FileSystems", "MountTargets")]
    return document(
        {"Effect": "Allow", "Action": [*reads, "ec2:DescribeAvailabilityZones"], "Resource": "*"},
        {
            "Effect": "Allow",
            "Action": ["elasticfilesystem:CreateAccessPoint", "elasticfilesystem:TagResource"],
            "Resource": [file_systems, points],
            "Condition": {"StringLike": {f"aws:RequestTag/{_EFS_MARK}": "true"}},
        },
        {
            "Effect": "Allow",
            "Action": "elasticfilesystem:DeleteAccessPoint",
            "Resource": points,
            "Condition": {"StringEquals": {f"aws:ResourceTag/{_EFS_MARK}": "true"}},
        },
    )


def mountpoint_s3_policy(partition: str, buckets: Sequence[str], *, writable: bool) -> Document:
    """Objects of the named buckets; without `writable` they are only read."""
    arns = [f"arn:{partition}:s3:::{bucket}" for bucket in buckets]
    writes = ["s3:PutObject", "s3:AbortMultipartUpload", "s3:DeleteObject"] if writable else []
    return document(
        {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": arns},
        {"Effect": "Allow", "Action": ["s3:GetObject", *writes], "Resource": [f"{arn}/*" for arn in arns]},
    )
