"""ECR: the account's registry, its login, and the repository that holds a cluster's images."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass

from facts.names import CLUSTER_TAG
from facts.regions import dns_suffix
from facts.resources.rights import BEING_TAGGED, TAGGED
from trn.aws.api import Api, Call, Taken, tags_of
from trn.aws.errors import code_of

GET_LOGIN = Call("ecr", "GetAuthorizationToken")
DESCRIBE_REPOSITORIES = Call("ecr", "DescribeRepositories")
LIST_TAGS = Call("ecr", "ListTagsForResource")
CREATE_REPOSITORY = Call("ecr", "CreateRepository", BEING_TAGGED)
WITH_TAGS = Taken("ecr", "TagResource", BEING_TAGGED)
"""A repository is made with its tags."""
CHECK_LAYERS = Taken("ecr", "BatchCheckLayerAvailability", TAGGED)
BEGIN_LAYER = Taken("ecr", "InitiateLayerUpload", TAGGED)
SEND_LAYER = Taken("ecr", "UploadLayerPart", TAGGED)
END_LAYER = Taken("ecr", "CompleteLayerUpload", TAGGED)
PUT_IMAGE = Taken("ecr", "PutImage", TAGGED)
GET_IMAGE = Taken("ecr", "BatchGetImage", TAGGED)
MOUNT_LAYER = Taken("ecr", "GetDownloadUrlForLayer", TAGGED)
"""What a push by the registry's own protocol is judged by (ECR user guide, image push permissions; blob mounting)."""
_ABSENT = "RepositoryNotFoundException"


@dataclass(frozen=True)
class Repository:
    """One repository of the account's registry."""

    name: str
    tags: Mapping[str, str]


def registry_host(account: str, region: str) -> str:
    """Host of an account's registry in a region (ECR user guide, registry endpoints)."""
    return f"{account}.dkr.ecr.{region}.{dns_suffix(region)}"


def login(api: Api) -> tuple[str, str]:
    """User and password of the account's registry, for 12 hours. Raises what botocore raises."""
    token = api.call(GET_LOGIN)["authorizationData"][0]["authorizationToken"]
    user, _, password = base64.b64decode(token).decode().partition(":")
    return user, password


def repository(api: Api, name: str) -> Repository | None:
    """The repository of a name; None where there is none. Raises what botocore raises."""
    from botocore.exceptions import ClientError

    try:
        (entry,) = api.call(DESCRIBE_REPOSITORIES, repositoryNames=[name])["repositories"]
    except ClientError as error:
        if code_of(error) == _ABSENT:
            return None
        raise
    tags = tags_of(api.call(LIST_TAGS, resourceArn=entry["repositoryArn"]), "tags")
    return Repository(name, tags)


def make_repository(api: Api, name: str, tags: Mapping[str, str]) -> Repository:
    """A new repository whose tags stay with their images, scanned on push. Raises what botocore raises."""
    assert CLUSTER_TAG in tags, tags
    api.call(
        CREATE_REPOSITORY,
        repositoryName=name,
        tags=[{"Key": key, "Value": value} for key, value in tags.items()],
        imageTagMutability="IMMUTABLE",
        imageScanningConfiguration={"scanOnPush": True},
    )
    return Repository(name, dict(tags))
