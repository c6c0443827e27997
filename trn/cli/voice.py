"""How commands are named to whoever reads: as on AWS, or as in practice. What a command is given says it; the voice of none is AWS's."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar


class Voice(Protocol):
    """What output asks of the account that a command acts on."""

    def announce(self, *, on_standard_error: bool) -> None:
        """Say once, before the first line of output, that it is practice; nothing where it is not."""
        ...

    def words(self, text: str, /) -> str:
        """A text for the user, with the commands that it names as they are typed here."""
        ...


Given = TypeVar("Given", bound=Voice)
_CURRENT: ContextVar[Voice | None] = ContextVar("voice", default=None)


def current() -> Voice | None:
    """What the command that runs was given; None without `--practice`."""
    return _CURRENT.get()


def words(text: str) -> str:
    """A text with its commands as they are typed where the command runs."""
    voice = current()
    return text if voice is None else voice.words(text)


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
        yield given
    finally:
        _CURRENT.reset(token)
