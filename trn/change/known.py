"""What could not be read is Unknown, never empty."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar

from trn.cli.errors import CommandError, OwnershipError

T = TypeVar("T")


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
        if isinstance(item, Unknown):
            yield item
        elif (inside := _inside(type(item))) is not None:
            rest.extend(inside(item))


@cache
def _inside(kind: type) -> Callable[[Any], Iterable[Any]] | None:
    """How to come to what a value of a type holds, the last first; None where it holds nothing.

    Once for each type: an account has a hundred thousand values.
    """
    if issubclass(kind, Mapping):
        return lambda item: reversed(list(item.values()))
    if issubclass(kind, tuple | list):
        return reversed
    if issubclass(kind, set | frozenset):
        return iter
    if is_dataclass(kind):
        names = [part.name for part in reversed(fields(kind))]
        return lambda item: [getattr(item, name) for name in names]
    return None
