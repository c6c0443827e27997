"""What a stack uses of others: read from the account or from the file of `trn network describe`, and judged before anything is made with it."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from facts.external import description, judge_file_system, role, workspace
from facts.external.description import Asked, Description
from facts.external.role import WantedRole
from facts.iam import Document
from facts.mistakes import File, problems_of
from facts.names import role_name
from facts.resources.rights import role_of
from facts.yaml_text import write_yaml
from simulator.recording import Recording
from stacks.external import asked_of
from stacks.settings import Settings
from stacks.stack_yaml import YamlError, read_yaml
from trn.aws.api import Api
from trn.aws.external_network import described_network
from trn.aws.external_services import described_file_system, described_workspace, given_role
from trn.cli.errors import MISUSE, CommandError, CompleteError
from trn.cli.text_files import read_text
from trn.engine.program import record_stack
from trn.engine.stack_file import StackFile

_KEY = "trn:iam"


def wanted_roles(stack_file: StackFile, settings: Settings) -> dict[str, WantedRole]:
    """By purpose, from what the stack without given roles registers."""
    recording = _without_given(stack_file)
    start = role_name(settings.name, settings.region, "")
    found: dict[str, WantedRole] = {}
    for item in recording.of_type("aws:iam/role:Role"):
        inline = [each.inputs["policy"] for each in recording.of_type("aws:iam/rolePolicy:RolePolicy") if each.inputs["role"] == item.id]
        managed = [
            each.inputs["policyArn"]
            for each in recording.of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
            if each.inputs["role"] == item.id
        ]
        trust = _document(item.inputs["assumeRolePolicy"])
        found[item.inputs["name"].removeprefix(start)] = WantedRole(trust, tuple(managed), tuple(map(_document, inline)))
    return found


def _without_given(stack_file: StackFile) -> Recording:
    section = {key: value for key, value in stack_file.pairs[_KEY].items() if key != "roles"}
    return record_stack(StackFile(stack_file.root, stack_file.project, stack_file.stack, {**stack_file.pairs, _KEY: section}))


def _document(policy: Any) -> Document:
    return json.loads(policy) if isinstance(policy, str) else policy


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


MAX_BYTES = 1_000_000
"""Largest description; a VPC of 200 subnets, the most that a VPC has by default, has some hundred kilobytes."""
_HINT = "name a file that `trn network describe NAME --output FILE` wrote"
_FILE = File(Description, page="docs/existing.md")


def as_yaml(found: Description) -> str:
    """The text of the file. What is as by default is left out."""
    return write_yaml(found.model_dump(by_alias=True, mode="json", exclude_defaults=True), width=160)


def read_description(path: Path) -> Description:
    """What a file describes. Raises CommandError, or CompleteError with every mistake in it."""
    text = read_text(path, MAX_BYTES, _HINT)
    try:
        loaded = read_yaml(text)
    except YamlError as error:
        raise CommandError(f"{path}: {error}", _HINT, code=MISUSE) from error
    if not isinstance(loaded, dict):
        raise CommandError(f"{path} describes nothing that exists", _HINT, code=MISUSE)
    try:
        return Description.model_validate(loaded)
    except ValidationError as error:
        said = "\n\n".join(str(problem) for problem in problems_of(error, _FILE))
        raise CompleteError(f"{path} describes nothing that exists\n\n{said}", code=MISUSE) from error


NOTHING_USED = "set `network.existing`, or another key of docs/existing.md"


def refuse_unfit(settings: Settings, found: Description, stack_file: StackFile) -> list[str]:
    """What should be known of what fits. Raises CompleteError with all that does not fit, each with its fix."""
    asked, given, stack = asked_of(settings), settings.iam.roles, stack_file.stack
    if asked.is_nothing and not given:
        raise CommandError(f"stack `{stack}` uses nothing that exists", f"leave --existing out, or {NOTHING_USED}", code=MISUSE)
    problems = description.problems(found, asked)
    problems += role.problems(found.roles, given, wanted_roles(stack_file, settings)) if given else ()
    if problems:
        count = "1 mistake" if len(problems) == 1 else f"{len(problems)} mistakes"
        said = "\n\n".join(str(problem) for problem in problems)
        raise CompleteError(f"{count} in how stack `{stack}` and what exists fit; nothing was created\n\n{said}")
    return description.notes(found, asked)
