"""Each key with a form refuses what has none, and says key, value, what is allowed and how to fix it."""

from typing import Any

import pytest

from stacks.config import parse_settings
from stacks.problems import ConfigurationError
from tests.support import dev_configuration, merged

UUID = "1f0e8d3c-5a2b-4c6d-8e9f-0a1b2c3d4e5f"


def queue(**section: Any) -> dict[str, Any]:
    """Changes that give the queue `training` amounts."""
    return {"addons": {"volcano": {"queues": {"training": section}}}}


MALFORMED: dict[str, tuple[dict[str, Any], str]] = {
    "controlPlane.accessEntries.team.principalArn": (
        {"controlPlane": {"accessEntries": {"team": {"principalArn": "arn:aws:iam::123456789012:role/a b"}}}},
        "not a valid ARN of an IAM role or user",
    ),
    "controlPlane.encryptionKeyArn": (
        {"controlPlane": {"encryptionKeyArn": "arn:aws:kms:us-west-2:123456789012:key/1"}},
        "not a valid ARN of a KMS key",
    ),
    "controlPlane.roleName": ({"controlPlane": {"roleName": "eks/role"}}, "not a valid name of an IAM role"),
    "storage.lustre.dataRepository.s3Uri": (
        {"storage": {"lustre": {"dataRepository": {"s3Uri": "s3://my..bucket"}}}},
        "not a valid S3 URI",
    ),
    "storage.lustre.dataRepository.path": (
        {"storage": {"lustre": {"dataRepository": {"s3Uri": "s3://corpus", "path": "data"}}}},
        "not a valid path of a file system",
    ),
    "network.existing.nodes.usw2-az1": (
        {"network": {"existing": {"vpcId": "vpc-0123456789abcdef0", "nodes": {"usw2-az1": "my-subnet"}}}},
        "not a valid id of a subnet",
    ),
    "storage.lustre.existing.fileSystemId": (
        {"storage": {"lustre": {"existing": {"fileSystemId": "fs-shared", "mountName": "abcdefgh"}}}},
        "not a valid id of a file system",
    ),
    "storage.lustre.existing.mountName": (
        {"storage": {"lustre": {"existing": {"fileSystemId": "fs-0123456789abcdef0", "mountName": "/abcdefgh"}}}},
        "not a valid mount name of a Lustre file system",
    ),
    "storage.lustre.existing.clientSecurityGroupId": (
        {
            "storage": {
                "lustre": {"existing": {"fileSystemId": "fs-0123456789abcdef0", "mountName": "abcdefgh", "clientSecurityGroupId": "lustre"}}
            }
        },
        "not a valid id of a security group",
    ),
    "training.imageRepository": ({"training": {"imageRepository": "Company/Training"}}, "not a valid name of an ECR repository"),
    "iam.roles.node": ({"iam": {"roles": {"node": "nodes"}}}, "not a valid ARN of an IAM role"),
    "iam.path": ({"iam": {"path": "teams"}}, "not a valid path of IAM roles"),
    "addons.managedPrometheus.workspaceArn": (
        {"addons": {"managedPrometheus": {"workspaceArn": "ws-0123abcd"}}},
        "not a valid ARN of a workspace of Amazon Managed Prometheus",
    ),
    "iam.permissionsBoundary": (
        {"iam": {"permissionsBoundary": "arn:aws:iam::123456789012:role/boundary"}},
        "not a valid ARN of an IAM policy",
    ),
    "addons.mirror": ({"addons": {"mirror": "mirror"}}, "not a valid registry"),
    "addons.volcano.imageRegistry": ({"addons": {"volcano": {"imageRegistry": "https://docker.io"}}}, "not a valid registry"),
    "addons.trainer.images.xla-2.30": ({"addons": {"trainer": {"images": {"xla-2.30": "Train:1"}}}}, "not a valid image reference"),
    "addons.batch.image": ({"addons": {"batch": {"image": "train:"}}}, "not a valid image reference"),
    "addons.fluentBit.s3Bucket": ({"addons": {"fluentBit": {"s3Bucket": "192.168.0.1"}}}, "not a valid name of an S3 bucket"),
    "addons.mountpointS3.buckets[0]": ({"addons": {"mountpointS3": {"buckets": ["a..b"]}}}, "not a valid name of an S3 bucket"),
    "addons.karpenter.amiVersion": ({"addons": {"karpenter": {"amiVersion": "v20260230"}}}, "not a valid AMI release of Karpenter"),
    "coreNodes.releaseVersion": ({"coreNodes": {"releaseVersion": "1.35.4-20261305"}}, "no AMI release of Kubernetes 1.35"),
    "nodeGroups.trn1-32xl.labels.a..b/c": ({"nodeGroups": {"trn1-32xl": {"labels": {"a..b/c": "x"}}}}, "not a label that EKS takes"),
    "addons.volcano.queues.training.capability.neuron": (queue(capability={"neuron": 16}), "`neuron` is no resource of Kubernetes"),
    "addons.volcano.queues.training.capability.cpu": (queue(capability={"cpu": "4 cores"}), "not a quantity of Kubernetes"),
    "addons.volcano.queues.training.capability.memory": (queue(capability={"memory": "1e30"}), "not a quantity of Kubernetes"),
    "addons.volcano.queues.training.capability.aws.amazon.com/neuron": (
        queue(capability={"aws.amazon.com/neuron": "500m"}),
        "devices are counted whole",
    ),
}


@pytest.mark.parametrize("path", MALFORMED)
def test_a_malformed_value_is_refused_with_key_value_what_is_allowed_and_a_fix(path: str):
    """AWS's own error comes half-way through an up, and names a parameter that no one wrote."""
    changes, wrong = MALFORMED[path]
    with pytest.raises(ConfigurationError) as refused:
        parse_settings(merged(dev_configuration(), **changes), "dev", rehearsal=True)
    (problem,) = refused.value.problems
    assert (problem.path, problem.wrong) == (path, wrong)
    assert problem.allowed
    assert problem.hint
    assert f"`{path}` is `" in str(problem)


@pytest.mark.parametrize(
    ("resource", "quantity"),
    [
        ("cpu", "500m"),
        ("cpu", "1e3"),
        ("cpu", "2.5"),
        ("cpu", ".5"),
        ("memory", "64Gi"),
        ("memory", "1E"),
        ("aws.amazon.com/neuron", "1k"),
        ("pods", 110),
    ],
)
def test_quantities_of_kubernetes_pass(resource: str, quantity: int | str):
    """Whoever copies one from a pod expects that it is taken."""
    parse_settings(merged(dev_configuration(), **queue(capability={resource: quantity})), "dev", rehearsal=True)
