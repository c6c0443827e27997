"""AMI releases: which one EKS takes by default, and whether a pinned one is there."""

from botocore.exceptions import ClientError

from facts.neuron_releases import RELEASE_PATTERN
from trn.aws.api import Api, Call
from trn.aws.errors import code_of

GET_PARAMETER = Call("ssm", "GetParameter")
DESCRIBE_IMAGES = Call("ec2", "DescribeImages")


def recommended_release(api: Api, kubernetes_version: str, variant: str) -> str | None:
    """Newest AMI release of AL2023 for `neuron` or `standard` nodes, None where AWS publishes none.

    Source: EKS user guide, retrieve-ami-id.
    """
    name = f"/aws/service/eks/optimized-ami/{kubernetes_version}/amazon-linux-2023/x86_64/{variant}/recommended/release_version"
    try:
        return api.call(GET_PARAMETER, Name=name)["Parameter"]["Value"]
    except ClientError as error:
        if code_of(error) == "ParameterNotFound":
            return None
        raise


def release_exists(api: Api, release_version: str, variant: str) -> bool:
    """Whether EKS's AMI of a release is public in the region. Raises ValueError for a text that is no release version."""
    match = RELEASE_PATTERN.fullmatch(release_version)
    if match is None:
        raise ValueError(f"{release_version!r} is no AMI release version")
    # awslabs/amazon-eks-ami release notes: `amazon-eks-node-al2023-x86_64-neuron-1.35-v20260505`.
    name = f"amazon-eks-node-al2023-x86_64-{variant}-{match['minor']}-v{match['date']}"
    return any(True for _ in api.pages(DESCRIBE_IMAGES, "Images", Owners=["amazon"], Filters=[{"Name": "name", "Values": [name]}]))
