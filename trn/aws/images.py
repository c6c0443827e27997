"""Images in ECR: whether the one that a job names is there."""

import re

from trn.aws.api import Api, Call
from trn.aws.errors import DENIED, code_of

DESCRIBE_IMAGES = Call("ecr", "DescribeImages")
_PRIVATE = re.compile(
    r"(?P<account>[0-9]{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.(?:com|com\.cn|eu)/(?P<name>[^:@]+)(?::(?P<tag>[^@]+))?(?:@(?P<digest>.+))?"
)
"""A private repository (ECR user guide, registry endpoints)."""
_ABSENT = ("ImageNotFoundException", "RepositoryNotFoundException")


def has_image(api: Api, image: str) -> bool | None:
    """Whether a private repository of the region holds an image; None for an image of elsewhere, and where the caller may not ask.

    Raises what botocore raises.
    """
    from botocore.exceptions import ClientError

    found = _PRIVATE.fullmatch(image)
    if found is None or found["region"] != api.region:
        return None
    which = {"imageDigest": found["digest"]} if found["digest"] else {"imageTag": found["tag"]}
    try:
        api.call(DESCRIBE_IMAGES, registryId=found["account"], repositoryName=found["name"], imageIds=[which])
    except ClientError as error:
        if code_of(error) in DENIED:
            return None
        if code_of(error) in _ABSENT:
            return False
        raise
    return True
