"""What a stack uses of others, read from the account."""

from collections.abc import Iterable

from facts.external import judge_file_system, workspace
from facts.external.description import Asked, Description
from facts.resources.rights import role_of
from trn.aws.api import Api
from trn.aws.external_file_system import described_file_system
from trn.aws.external_network import described_network
from trn.aws.external_workspace import described_workspace
from trn.aws.given_roles import given_role
from trn.cli.errors import CommandError


def described_existing(api: Api, asked: Asked, roles: Iterable[str] = ()) -> Description:
    """Everything that is asked for, and the roles of these ARNs, as it is; without what the account does not have. Reads only."""
    given = [given_role(api, role_of(arn)) for arn in roles]
    network, file_system = asked.network, asked.file_system
    return Description(
        network=described_network(api, network.vpc_id) if network is not None else None,
        file_system=described_file_system(api, file_system.id, file_system.client_group) if file_system is not None else None,
        workspace=described_workspace(api, asked.workspace.arn) if asked.workspace is not None else None,
        roles=tuple(role for role in given if role is not None),
    )


def absent(found: Description, asked: Asked) -> list[tuple[str, str, str]]:
    """(Key path, what is not there, hint) of all that the account does not have."""
    said: list[tuple[str, str, str]] = []
    if asked.network is not None and found.network is None:
        path, hint = "network.existing.vpcId", "`aws ec2 describe-vpcs` lists those of the region"
        said.append((path, f"there is no VPC {asked.network.vpc_id} in {asked.network.region}", hint))
    if asked.file_system is not None and found.file_system is None:
        path, hint = f"{judge_file_system.PATH}.fileSystemId", "`aws fsx describe-file-systems` lists those of the region"
        said.append((path, f"there is no file system {asked.file_system.id} in {asked.file_system.region}", hint))
    if asked.workspace is not None and found.workspace is None:
        said.append((workspace.PATH, no_workspace(asked.workspace.arn), "`aws amp list-workspaces` lists those of the caller's account"))
    return said


def no_workspace(arn: str) -> str:
    """What is said of a workspace that the caller does not see."""
    _, _, _, region, account, which = arn.split(":", 5)
    return f"there is no {which} of account {account} in {region}, or it is another account's"


def refuse_absent(found: Description, asked: Asked) -> None:
    """Raises CommandError for the first thing that the account does not have."""
    for path, wrong, hint in absent(found, asked):
        raise CommandError(wrong, f"`{path}`: {hint}")
