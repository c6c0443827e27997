"""Calls that EC2 judges without making them: what simulation cannot know, such as an organisation's own policies."""

from collections.abc import Iterator

from botocore.exceptions import ClientError

from facts.resources.rights import IN_REGION
from trn.aws.api import Api, Call
from trn.aws.errors import DENIED, code_of

ALLOCATE_ADDRESS = Call("ec2", "AllocateAddress", IN_REGION)
CREATE_INTERNET_GATEWAY = Call("ec2", "CreateInternetGateway", IN_REGION)
CREATE_VPC = Call("ec2", "CreateVpc", IN_REGION)


def denied_dry_runs(api: Api, cidr: str) -> Iterator[str]:
    """Names of the calls that EC2 would refuse for want of permission.

    Any other refusal is raised: it says nothing about permissions.
    """
    tries = ((CREATE_VPC, {"CidrBlock": cidr}), (CREATE_INTERNET_GATEWAY, {}), (ALLOCATE_ADDRESS, {"Domain": "vpc"}))
    for call, parameters in tries:
        try:
            api.call(call, DryRun=True, **parameters)
        except ClientError as error:
            if code_of(error) in DENIED:
                yield call.action
            elif code_of(error) != "DryRunOperation":
                raise
