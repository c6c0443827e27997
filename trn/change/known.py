"""What could not be read is Unknown, never empty."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
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
    if isinstance(seen, Unknown):
        yield seen
        return
    parts: Any = ()
    if is_dataclass(seen):
        parts = [getattr(seen, part.name) for part in fields(seen)]
    elif isinstance(seen, Mapping):
        parts = seen.values()
    elif isinstance(seen, tuple | list | set | frozenset):
        parts = seen
    for part in parts:
        yield from unknowns(part)
