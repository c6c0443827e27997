"""Commands that sentences name, as they are typed where the reader is: on AWS as they stand in the code, in practice as practice has them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_WAY: ContextVar[Callable[[str], str] | None] = ContextVar("how commands are typed", default=None)


def typed(line: str) -> str:
    """A command line of `pulumi` or `trn`, as it is typed on AWS, as the reader types it. It is whole: no sentence is looked through for one."""
    way = _WAY.get()
    return line if way is None else way(line)


@contextmanager
def typed_as(way: Callable[[str], str]) -> Iterator[None]:
    """Commands in sentences made inside the block are typed this way."""
    token = _WAY.set(way)
    try:
        yield
    finally:
        _WAY.reset(token)


def made_again(urn: str) -> str:
    """The run that replaces a resource, whatever else has changed."""
    return typed(f"pulumi up --replace '{urn}'")
