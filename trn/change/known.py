"""What could not be read is Unknown, never empty."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from typing import Any, TypeVar

from trn.cli.errors import CommandError, OwnershipError

T = TypeVar("T")
_LEAVES = frozenset((str, int, float, bool, type(None), datetime))
"""Most of what a look saw; an account has a hundred thousand."""


@dataclass(frozen=True)
class Unknown:
    """Something that a look did not see."""

    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what} is not known: {self.why}"


def known(what: str, read: Callable[[], T]) -> T | Unknown:
    """What a read gives; Unknown where AWS, the API server or Pulumi gave no answer. What no user can cause is raised."""
    from trn.aws.errors import command_error

    try:
        return read()
    except OwnershipError:
        raise
    except Exception as error:
        understood = error if isinstance(error, CommandError) else command_error(error)
        if understood is None:
            raise
        return Unknown(what, str(understood.args[0]))


def unknowns(seen: Any) -> Iterator[Unknown]:
    """Every Unknown in what a look saw, however deep: no command can forget to name one."""
    rest: list[Any] = [seen]
    while rest:
        item = rest.pop()
        if type(item) in _LEAVES:
            continue
        if isinstance(item, Unknown):
            yield item
        elif isinstance(item, Mapping):
            rest.extend(reversed(list(item.values())))
        elif isinstance(item, tuple | list):
            rest.extend(reversed(item))
        elif isinstance(item, set | frozenset):
            rest.extend(item)
        elif is_dataclass(item):
            rest.extend(getattr(item, part.name) for part in reversed(fields(item)))
