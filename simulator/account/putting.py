"""Everything of a description put into an account: neighbours that the program uses and never makes."""

from facts.external.description import Description
from facts.external.role import Role
from facts.external.workspace import Workspace, workspace_id
from facts.iam import to_json
from facts.resources.rights import passed_role, role_of
from simulator.account.external import put_network
from simulator.account.external_file_system import put_file_system
from simulator.account.state import AccountState
from simulator.outputs import CREATED_AT


def put_existing(state: AccountState, found: Description) -> None:
    """Put what is described into the account."""
    if found.network is not None:
        put_network(state, found.network)
    if found.file_system is not None:
        put_file_system(state, found.file_system)
    if found.workspace is not None:
        _put_workspace(state, found.workspace)
    for role in found.roles:
        put_role(state, role)


def put_role(state: AccountState, found: Role) -> None:
    """Put a role into the account as IAM describes it."""
    name = role_of(found.arn)
    state.others.setdefault("role", {})[name] = {
        "RoleName": name,
        "Arn": found.arn,
        "Path": f"/{passed_role(found.arn)[: -len(name)]}",
        "RoleId": "AROAEXAMPLEEXAMPLE01",
        "CreateDate": CREATED_AT,
        "AssumeRolePolicyDocument": to_json(found.trust),
        "attached": list(found.attached),
        "tags": {},
    }


def _put_workspace(state: AccountState, found: Workspace) -> None:
    which = workspace_id(found.arn)
    entry = {"workspaceId": which, "arn": found.arn, "status": {"statusCode": found.state}, "createdAt": CREATED_AT, "tags": {}}
    state.others.setdefault("workspace", {})[which] = entry
