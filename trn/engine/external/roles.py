"""Roles that a stack would have made in the place of those that it is given."""

import json
from typing import Any

from facts.external.role import WantedRole
from facts.iam import Document
from facts.names import role_name
from simulator.recording import Recording
from stacks.settings import Settings
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
