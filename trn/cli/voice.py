"""Where a command runs: on AWS, or in practice, as what it is given says; that of none is AWS."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

from facts.typed import typed_as


class Voice(Protocol):
    """What output asks of the account that a command acts on."""

    @property
    def is_practice(self) -> bool:
        """Whether an account on disk is used in place of AWS."""
        ...

    def announce(self, *, on_standard_error: bool) -> None:
        """Say once, before the first line of output, that it is practice; nothing where it is not."""
        ...

    def typed(self, line: str, /) -> str:
        """A command line as it is typed here."""
        ...


Given = TypeVar("Given", bound=Voice)
_CURRENT: ContextVar[Voice | None] = ContextVar("voice", default=None)


def current() -> Voice | None:
    """What the command that runs was given; None without `--practice`."""
    return _CURRENT.get()


def announce(*, on_standard_error: bool) -> None:
    """Say where the command runs, where that is not AWS."""
    voice = current()
    if voice is not None:
        voice.announce(on_standard_error=on_standard_error)


@contextmanager
def using(given: Given) -> Iterator[Given]:
    """Every call inside the block uses this one."""
    token = _CURRENT.set(given)
    try:
        with typed_as(given.typed):
            yield given
    finally:
        _CURRENT.reset(token)
