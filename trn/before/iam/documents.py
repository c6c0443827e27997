"""From calls and resource types to policy documents that IAM takes."""

import importlib
import json
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from string import Formatter
from typing import Any, Protocol

import trn.aws
from facts.iam import Document
from facts.regions import partition
from facts.resources import ec2_network
from facts.resources.queries import Deletion, Leftover
from facts.resources.rights import ALWAYS, TAGGED, Rights, Scope
from facts.resources.table import TYPES
from trn.aws import dry_runs, ecr, objects
from trn.aws.api import Call
from trn.aws.block_purchase import SPENDING
from trn.aws.locks import LOCKING
from trn.cli.errors import CommandError

POLICY_LIMIT = 6144
"""Characters of one managed policy, blanks not counted (IAM quotas, 2026-11)."""
READING = ("Describe", "Get", "List", "Simulate")
Permissions = dict[Scope, set[str]]


def declared_calls() -> list[Call]:
    """Every call that `trn` can make: for types by facts/resources, for everything else from the modules that declare them."""
    modules = (importlib.import_module(f"trn.aws.{found.name}") for found in pkgutil.iter_modules(trn.aws.__path__))
    calls = {value for module in modules for value in vars(module).values() if isinstance(value, Call)} | set(objects.declared_calls())
    return sorted(calls, key=lambda call: (call.service, call.operation, [scope.resource for scope in call.scopes]))


class Recorded(Protocol):
    """A resource of a recorded stack."""

    @property
    def type(self) -> str:
        """Type token."""
        ...

    @property
    def inputs(self) -> Mapping[str, Any]:
        """Inputs, all known."""
        ...


def deployer_permissions(resources: Iterable[Recorded]) -> Permissions:
    """What `pulumi up` and `pulumi destroy` of these resources take, and `trn check` before them.

    Raises CommandError for a type whose actions are not known.
    """
    found: Permissions = {}
    for grant in ALWAYS:
        _add(found, grant.scopes, grant.actions)
    for resource in resources:
        rights = _rights(resource.type)
        names = rights.names(resource.inputs) if rights else {}
        for grant in rights.grants if rights else ():
            _add(found, [made for scope in grant.scopes for made in _named(scope, names)], grant.actions)
    # `trn destroy` is the deployer's, and holds the cluster's lock.
    return _with_calls(found, (call for call in declared_calls() if call.operation.startswith(READING) or call in LOCKING))


def operator_permissions(*, own_network: bool = True, image_repository: str | None = None) -> Permissions:
    """Permissions of every command of `trn`: reads, and the changes that sweep and scale make to the cluster's own objects.

    `own_network`: whether the stack makes its network. In one that others keep nothing of a network is made or deleted.
    `image_repository`: of others, which has no tag of the cluster; then none is made.
    """
    left_out = set() if own_network else {call.action for call in _of_own_networks()}
    pushing = [call.action for call in declared_calls() if image_repository is not None and call.service == "ecr" and call.scopes == TAGGED]
    if pushing:
        left_out |= {ecr.CREATE_REPOSITORY.action, ecr.WITH_TAGS.action, *pushing}
    found = _with_calls({}, (call for call in declared_calls() if call.action not in left_out and call not in SPENDING))
    if pushing:
        _add(found, [Scope(f"arn:{{partition}}:ecr:{{region}}:*:repository/{image_repository}")], pushing)
    return found


def buyer_permissions() -> Permissions:
    """What `trn capacity buy` takes beyond the operator's document: it spends money at once, so it is a document of its own."""
    return _with_calls({}, SPENDING)


def _of_own_networks() -> Iterator[Call]:
    """Calls that make or delete parts of a network: those of a sweep, and the dry runs of a check."""
    for item in ec2_network.TYPES:
        if isinstance(item.leftover, Leftover) and isinstance(item.deletion, Deletion):
            yield from objects.deleting_calls(item.deletion, item.leftover.scopes)
    yield from (dry_runs.CREATE_VPC, dry_runs.CREATE_INTERNET_GATEWAY, dry_runs.ALLOCATE_ADDRESS)


def _with_calls(permissions: Permissions, calls: Iterable[Call]) -> Permissions:
    for call in calls:
        _add(permissions, call.scopes, [call.action])
    return permissions


def _add(permissions: Permissions, scopes: Iterable[Scope], actions: Iterable[str]) -> None:
    for scope in scopes:
        permissions.setdefault(scope, set()).update(actions)


def _rights(resource_type: str) -> Rights | None:
    if not resource_type.startswith("aws:"):
        return None
    rights = TYPES[resource_type].rights if resource_type in TYPES else None
    if not isinstance(rights, Rights):
        raise CommandError(f"the actions of {resource_type} are not known", "add the type to facts/resources")
    return rights


_STACK = frozenset({"partition", "region", "cluster", "role_path"})
"""Names that are filled in for the whole stack."""


def _named(scope: Scope, names: Mapping[str, tuple[str, ...]]) -> Iterator[Scope]:
    """The scope for each of the names that it uses; none where the resource has no such name."""
    used = [field for _, field, _, _ in Formatter().parse(scope.resource) if field and field not in _STACK]
    for values in product(*(names.get(field, ()) for field in used)):
        filled = scope.resource
        for field, value in zip(used, values, strict=True):
            filled = filled.replace(f"{{{field}}}", value)
        yield Scope(filled, scope.condition)


def statements(permissions: Permissions, cluster: str, region: str, role_path: str = "/") -> list[Document]:
    """One statement for each scope, resources of the same actions and conditions together, in an order that never changes.

    `role_path`: path of the stack's roles.
    """
    values = {"partition": partition(region), "region": region, "cluster": cluster, "role_path": role_path.removeprefix("/")}
    joined: dict[tuple[tuple[tuple[str, str, str], ...], tuple[str, ...]], set[str]] = {}
    for scope, actions in permissions.items():
        made = _filled(scope, values)
        joined.setdefault((made.condition, tuple(sorted(actions))), set()).add(made.resource)
    found = [_statement(condition, actions, sorted(resources)) for (condition, actions), resources in joined.items()]
    return sorted(found, key=lambda statement: json.dumps([statement["Resource"], statement.get("Condition", {}), statement["Action"]]))


def _filled(scope: Scope, values: Mapping[str, str]) -> Scope:
    condition = tuple((operator, key.format(**values), value.format(**values)) for operator, key, value in scope.condition)
    return Scope(scope.resource.format(**values), condition)


def _statement(conditions: Iterable[tuple[str, str, str]], actions: Iterable[str], resources: list[str]) -> Document:
    made: Document = {"Effect": "Allow", "Action": list(actions), "Resource": resources[0] if len(resources) == 1 else resources}
    condition: dict[str, dict[str, str]] = {}
    for operator, key, value in conditions:
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
