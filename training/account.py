"""What of the stack's AWS account a job needs that runs outside of its cluster, in the same network: ids that only `pulumi up` makes.

YAML spells the keys in camelCase. Nothing in it is secret.
"""

import json
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field, ValidationError

from facts import text_formats
from facts.mistakes import File, problems_of
from facts.problems import Problem, missing
from facts.section import Formed, Section
from training.job import JobFileError
from training.site import Site

_ROLE = r"^arn:aws[a-z-]*:iam::[0-9]{12}:role/[\w+=,.@/-]+$"


class Account(Section):
    """Ids by what they are for. `pulumi stack output` prints some; docs/jobs.md says where the others are."""

    subnet_id: str = Field(pattern=r"^subnet-([0-9a-f]{8}|[0-9a-f]{17})$")
    """Private subnet in the zone of the file system and of the Neuron nodes."""
    security_group_ids: tuple[Annotated[str, Field(pattern=r"^sg-([0-9a-f]{8}|[0-9a-f]{17})$")], ...] = Field(min_length=1, max_length=5)
    """Those of the Neuron nodes: EFA needs one that lets itself in and out, FSx the one that its own lets in."""
    file_system_id: str | None = Field(default=None, pattern=r"^fs-[0-9a-f]{17}$")
    """Output `fileSystemId`. None mounts nothing."""
    file_system_mount_name: str | None = Field(default=None, pattern=r"^[a-z0-9]{1,8}$")
    """Output `fileSystemMountName`; with the file system."""
    cluster_arn: str | None = Field(default=None, pattern=r"^arn:aws[a-z-]*:eks:[a-z0-9-]+:[0-9]{12}:cluster/[A-Za-z0-9_-]+$")
    """Output `clusterArn`, of which HyperPod's nodes become nodes."""
    role_arn: str | None = Field(default=None, pattern=_ROLE)
    """Role that SageMaker takes on; the stack makes none."""
    s3_uri: Annotated[str, Formed(text_formats.S3_URI)] | None = None
    """Where SageMaker writes what a job leaves, and where HyperPod finds its life-cycle scripts; the stack makes none."""
    ami_id: str | None = Field(default=None, pattern=r"^ami-([0-9a-f]{8}|[0-9a-f]{17})$")
    """AMI of ParallelCluster's compute nodes, made by `pcluster build-image` with the Neuron driver: ParallelCluster's own have none."""
    key_name: str | None = Field(default=None, min_length=1, max_length=255)
    """EC2 key pair for the head node of a ParallelCluster. None leaves Session Manager."""
    placement_group: str | None = Field(default=None, min_length=1, max_length=255)
    """Placement group of the Neuron nodes. None lets ParallelCluster make one."""


ACCOUNT_FILE = File(Account, page="docs/jobs.md")
"""How its mistakes are worded."""


def parse_account(values: Any, where: str = "the account file") -> Account:
    """The ids from plain values, as YAML gives them; raises JobFileError with every mistake."""
    try:
        return Account.model_validate_json(json.dumps(values, default=str), strict=True)
    except ValidationError as error:
        raise JobFileError(problems_of(error, ACCOUNT_FILE), where) from None


def needed(site: Site, title: str, *keys: str) -> Iterator[Problem]:
    """What a launcher needs of the account and does not find; keys as YAML spells them."""
    if site.account is None:
        wrong = f"{title} runs outside of the cluster, and the ids of its network are not known"
        yield missing("--account", wrong, hint="name a file with them: `--account account.yaml`; docs/jobs.md has its keys")
        return
    given = site.account.model_dump(by_alias=True)
    for key in keys:
        if given[key] is None:
            yield missing(f"{key} (of the account)", f"{title} needs `{key}`", hint=f"add `{key}` to the file of `--account`")
