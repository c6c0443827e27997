"""The error with which a command stops: one line that says what is wrong, one hint how to fix it."""

from collections.abc import Callable
from contextvars import ContextVar

MISUSE = 2
"""Exit code of misuse: a mistake in the command line, the configuration, the credentials, or a cluster that is not there."""
INTERRUPTED = 130
"""Exit code of a command that Ctrl-C, or the end of a pipeline, stopped: 128 and the number of SIGINT, as shells have it."""

INTERRUPTION = "interrupted: what was done is listed above, and the command can be run again\n"
"""All that a command says of Ctrl-C."""


class CommandError(Exception):
    """A command cannot go on."""

    def __init__(self, wrong: str, hint: str = "", *, code: int = 1) -> None:
        """`code`: exit code of the command."""
        super().__init__(wrong)
        self.hint, self.code = hint, code

    def __str__(self) -> str:
        text = f"error: {self.args[0]}"
        return f"{text}\n\nhint: {self.hint}" if self.hint else text


class OwnershipError(CommandError):
    """The cluster is not the one that the command was given, or another operator changes it: never passed over."""


class CompleteError(CommandError):
    """Several mistakes of a file: their text is complete, with a hint for each."""

    def __str__(self) -> str:
        return str(self.args[0])


_FAILURES: ContextVar[list[int] | None] = ContextVar("failures", default=None)


def fail_at_end() -> None:
    """What was to be done is done, and something after it went wrong, which the caller has said: a success ends with exit code 1."""
    failures = _FAILURES.get()
    if failures is not None:
        failures.append(1)


def ended(command: Callable[[], int]) -> int:
    """Exit code of a command that raises nothing: its own, or 1 where it is 0 and something failed at the end."""
    failures = list[int]()
    _FAILURES.set(failures)
    return command() or max(failures, default=0)
