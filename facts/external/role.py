"""Whether a role that others keep is trusted to those who are to use it: its trust beside the one that the program would have made. Pure.

Sources: IAM user guide, policy elements (Principal, Condition); EKS user guide, pod-id-role; read 2026-11.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Any

from pydantic import Field

from facts.external.network import AGAIN
from facts.iam import Document, to_json
from facts.problems import Problem
from facts.section import Formed, Section
from facts.text_formats import ROLE_ARN

PATH = "iam.roles"
_LIKE = {
    "StringEquals": lambda value, allowed: value == allowed,
    "StringLike": fnmatchcase,
    "ArnLike": fnmatchcase,
    "ArnEquals": fnmatchcase,
}


class Role(Section):
    """A role that others keep. What its own documents allow is not described: `trn check` asks IAM."""

    arn: Annotated[str, Formed(ROLE_ARN)]
    trust: dict[str, Any] = Field(default_factory=dict)
    """Its trust policy."""
    attached: tuple[str, ...] = ()
    """ARNs of the managed policies that are attached."""


@dataclass(frozen=True)
class WantedRole:
    """A role as the stack would have made it."""

    trust: Document
    managed: tuple[str, ...]
    """ARNs of AWS's policies."""
    inline: tuple[Document, ...]


def lacking(found: Role, wanted: WantedRole) -> list[str]:
    """What a role does not have, each as the rest of a sentence that begins with its ARN."""
    said: list[str] = []
    # The stack does not know its account, and says `*` in its own trust; a role says its own.
    lost = untrusted(found.trust, json.loads(to_json(wanted.trust).replace(":*:", f":{found.arn.split(':')[4]}:")))
    if lost:
        (statement,) = wanted.trust["Statement"]
        said.append(f"does not let {statement['Principal']['Service']} do {', '.join(lost)} for this cluster")
    absent = sorted(arn.rpartition("/")[2] for arn in wanted.managed if arn not in found.attached)
    if absent:
        said.append(f"lacks the managed policies {', '.join(absent)}")
    return said


def problems(found: Iterable[Role], given: Mapping[str, str], wanted: Mapping[str, WantedRole]) -> Iterator[Problem]:
    """What keeps a stack from working with the roles that it is given. By purpose: `given` ARNs, and the roles `wanted` in their place."""
    there = {role.arn: role for role in found}
    for purpose, arn in given.items():
        path = f"{PATH}.{purpose}"
        if arn not in there:
            yield Problem(path, arn, "the description has no such role", ", ".join(there), AGAIN)
        elif purpose in wanted and (wrong := lacking(there[arn], wanted[purpose])):
            yield Problem(path, arn, f"a role that {'; '.join(wrong)}", hint="its owner adds it, or remove the key")


def untrusted(given: Document, wanted: Document) -> list[str]:
    """Actions that the wanted trust lets a service do and the given one does not, such as `sts:TagSession`."""
    return [
        action for statement in _statements(wanted) for action in _listed(statement["Action"]) if not _is_allowed(given, statement, action)
    ]


def _is_allowed(given: Document, wanted: Mapping[str, Any], action: str) -> bool:
    services = set(_services(wanted))
    allowing = [
        statement
        for statement in _statements(given)
        if statement.get("Effect") == "Allow"
        and any(fnmatchcase(action, pattern) for pattern in _listed(statement.get("Action", ())))
        and services <= set(_services(statement))
        and _holds(statement.get("Condition", {}), wanted.get("Condition", {}))
    ]
    return bool(allowing)


def _holds(asked: Mapping[str, Mapping[str, Any]], met: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether every condition of a statement holds for a call of which these values are known. One that is not understood does not."""
    if not isinstance(asked, Mapping) or not all(isinstance(pairs, Mapping) for pairs in asked.values()):
        return False
    values = {key.lower(): value for pairs in met.values() for key, value in pairs.items()}
    for operator, pairs in asked.items():
        fits = _LIKE.get(operator)
        for key, allowed in pairs.items():
            value = values.get(key.lower())
            if fits is None or value is None or not any(fits(value, one) for one in _listed(allowed)):
                return False
    return True


def _statements(document: Document) -> list[Mapping[str, Any]]:
    found = document.get("Statement", ())
    return [found] if isinstance(found, Mapping) else [each for each in _listed(found) if isinstance(each, Mapping)]


def _services(statement: Mapping[str, Any]) -> Iterator[str]:
    principal = statement.get("Principal", {})
    yield from _listed(principal.get("Service", ())) if isinstance(principal, Mapping) else ()


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value) if isinstance(value, (list, tuple)) else []
