"""Check of roles that others keep: each beside the role that the stack would have made in its place."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from facts.existing.role import untrusted
from facts.iam import Document
from facts.names import role_name
from facts.resources.rights import role_of
from operations.aws.given_roles import GivenRole, given_role
from operations.aws.identity import Caller, caller, denied_actions
from operations.cluster.check.account import as_documented
from operations.cluster.check.subject import Subject
from operations.findings import Finding, failed, passed
from operations.program import record_stack
from operations.stack_file import StackFile
from simulator.outputs import ACCOUNT as RECORDED_ACCOUNT
from simulator.recording import Recording
from stacks.settings import Settings

NAME = "given roles"
_KEY = "trn:iam"


@dataclass(frozen=True)
class WantedRole:
    """A role as the stack would have made it."""

    trust: Document
    managed: tuple[str, ...]
    """ARNs of AWS's policies."""
    inline: tuple[Document, ...]


def roles(subject: Subject) -> Iterator[Finding]:
    """Each role is there, trusts who uses it, and allows what the stack's own role would; nothing where none is given."""
    given = subject.settings.iam.roles
    if not given:
        return
    who, wanted = caller(subject.api), wanted_roles(_without_given(subject.stack_file), subject.settings)
    for purpose, arn in given.items():
        if purpose not in wanted:
            yield passed(NAME, f"{purpose}: nothing of this stack uses {arn}")
            continue
        lacking = list(_lacking(subject, who, arn, wanted[purpose]))
        if lacking:
            yield failed(NAME, f"{arn} {'; '.join(lacking)}", f"`iam.roles.{purpose}`: its owner adds it, or remove the key")
        else:
            yield passed(NAME, f"{purpose}: {arn} trusts and allows what the stack needs")


def wanted_roles(recording: Recording, settings: Settings) -> dict[str, WantedRole]:
    """By purpose, from what the stack without given roles registers."""
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


def _lacking(subject: Subject, who: Caller, arn: str, wanted: WantedRole) -> Iterator[str]:
    """What is wrong with a role, each as the rest of a sentence that begins with its ARN."""
    account = arn.split(":")[4]
    if account != who.account:
        yield f"is a role of account {account}, and this is {who.account}"
        return
    found = given_role(subject.api, role_of(arn))
    if found is None or found.arn != arn:
        yield f"is not there{f': the role of this name is {found.arn}' if found else ''}"
        return
    yield from _unlike(found, wanted)
    questions = [
        question
        for document in wanted.inline
        for statement in document["Statement"]
        if statement["Effect"] == "Allow"
        for question in as_documented(_of_account(statement, who), who)
    ]
    denied = sorted(set(denied_actions(subject.api, arn, questions)))
    if denied:
        yield f"does not allow {', '.join(denied)}"


def _of_account(statement: Document, who: Caller) -> Document:
    """A recorded statement with the account that is asked."""
    resources = [one.replace(f":{RECORDED_ACCOUNT}:", f":{who.account}:") for one in _listed(statement["Resource"])]
    return {**statement, "Action": _listed(statement["Action"]), "Resource": resources}


def _unlike(found: GivenRole, wanted: WantedRole) -> Iterator[str]:
    lost = untrusted(dict(found.trust), wanted.trust)
    if lost:
        (statement,) = wanted.trust["Statement"]
        yield f"does not let {statement['Principal']['Service']} do {', '.join(lost)} for this cluster"
    absent = sorted(arn.rpartition("/")[2] for arn in wanted.managed if arn not in found.attached)
    if absent:
        yield f"lacks the managed policies {', '.join(absent)}"


def _without_given(stack_file: StackFile) -> Recording:
    section = {key: value for key, value in stack_file.pairs[_KEY].items() if key != "roles"}
    return record_stack(StackFile(stack_file.root, stack_file.project, stack_file.stack, {**stack_file.pairs, _KEY: section}))


def _document(policy: Any) -> Document:
    return json.loads(policy) if isinstance(policy, str) else policy


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
