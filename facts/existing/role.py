"""Whether a role that others keep is trusted to those who are to use it: its trust beside the one that the program would have made. Pure.

Sources: IAM user guide, policy elements (Principal, Condition); EKS user guide, pod-id-role; read 2026-11.
"""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from facts.iam import Document

_LIKE = {"StringEquals": lambda value, allowed: value == allowed, "StringLike": fnmatchcase}


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
    return [found] if isinstance(found, Mapping) else list(found)


def _services(statement: Mapping[str, Any]) -> Iterator[str]:
    principal = statement.get("Principal", {})
    yield from _listed(principal.get("Service", ())) if isinstance(principal, Mapping) else ()


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
