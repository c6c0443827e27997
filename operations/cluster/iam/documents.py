"""From calls and resource types to policy documents that IAM takes."""

import importlib
import json
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import operations.aws
from facts.iam import Document
from facts.regions import partition
from operations.aws.api import Call, Scope
from operations.cluster.iam.program import ALWAYS, PROGRAM
from operations.errors import CommandError

POLICY_LIMIT = 6144
"""Characters of one managed policy, blanks not counted (IAM quotas, 2026-11)."""
READING = ("Describe", "Get", "List", "Simulate")
Permissions = dict[Scope, set[str]]


def declared_calls() -> list[Call]:
    """Every call that `trn` can make, from the modules that declare them."""
    modules = (importlib.import_module(f"operations.aws.{found.name}") for found in pkgutil.iter_modules(operations.aws.__path__))
    calls = {value for module in modules for value in vars(module).values() if isinstance(value, Call)}
    return sorted(calls, key=lambda call: (call.service, call.operation))


def deployer_permissions(resource_types: Iterable[str]) -> Permissions:
    """What `pulumi up` and `pulumi destroy` of these types take, and `trn check` before them.

    Raises CommandError for a type whose actions are not known.
    """
    found: Permissions = {}
    for grant in (*ALWAYS, *(grant for resource_type in sorted(set(resource_types)) for grant in _grants(resource_type))):
        for scope in grant.scopes:
            found.setdefault(scope, set()).update(grant.actions)
    return _with_calls(found, (call for call in declared_calls() if call.operation.startswith(READING)))


def operator_permissions() -> Permissions:
    """What every command of `trn` takes: reads, and the changes that sweep and scale make to the cluster's own things."""
    return _with_calls({}, declared_calls())


def _with_calls(permissions: Permissions, calls: Iterable[Call]) -> Permissions:
    for call in calls:
        for scope in call.scopes:
            permissions.setdefault(scope, set()).add(call.action)
    return permissions


def _grants(resource_type: str) -> Iterator[Any]:
    if not resource_type.startswith("aws:"):
        return
    if resource_type not in PROGRAM:
        raise CommandError(f"the actions of {resource_type} are not known", "add the type to operations/cluster/iam/program.py")
    yield from PROGRAM[resource_type]


def statements(permissions: Permissions, cluster: str, region: str) -> list[Document]:
    """One statement for each scope, in an order that never changes."""
    values = {"partition": partition(region), "region": region, "cluster": cluster}
    made = [_statement(_filled(scope, values), actions) for scope, actions in permissions.items()]
    return sorted(made, key=lambda statement: json.dumps([statement["Resource"], statement.get("Condition", {}), statement["Action"]]))


def _filled(scope: Scope, values: Mapping[str, str]) -> Scope:
    condition = tuple((operator, key.format(**values), value.format(**values)) for operator, key, value in scope.condition)
    return Scope(scope.resource.format(**values), condition)


def _statement(scope: Scope, actions: Iterable[str]) -> Document:
    made: Document = {"Effect": "Allow", "Action": sorted(actions), "Resource": scope.resource}
    condition: dict[str, dict[str, str]] = {}
    for operator, key, value in scope.condition:
        condition.setdefault(operator, {})[key] = value
    return {**made, "Condition": condition} if condition else made


def documents(found: Iterable[Document]) -> list[Document]:
    """The statements in as few managed policies as they take in this order; a statement too long for one is split."""
    packed: list[list[Document]] = [[]]
    for statement in found:
        for part in _split(statement):
            if _size([*packed[-1], part]) > POLICY_LIMIT:
                packed.append([])
            packed[-1].append(part)
    return [_document(part) for part in packed]


def _split(statement: Document) -> Iterator[Document]:
    if _size([statement]) <= POLICY_LIMIT:
        yield statement
        return
    middle = len(statement["Action"]) // 2
    for actions in (statement["Action"][:middle], statement["Action"][middle:]):
        yield from _split({**statement, "Action": actions})


def _size(found: list[Document]) -> int:
    return len(json.dumps(_document(found), separators=(",", ":")))


def _document(found: list[Document]) -> Document:
    return {"Version": "2012-10-17", "Statement": found}
