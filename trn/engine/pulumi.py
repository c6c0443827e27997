"""Runs the Pulumi CLI: with its output passed on, or for what it answers."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from trn.cli.errors import CommandError
from trn.cli.interruption import signals_kept

NO_STACK = ("no stack named",)
"""What the CLI prints for a stack that its backend does not have (CLI 3.260)."""


class Pulumi(Protocol):
    """What commands need of Pulumi. Commands begin with `pulumi`."""

    def run(self, command: tuple[str, ...], environment: Mapping[str, str], /) -> tuple[int, str]:
        """Run a command with more environment, passing on what it prints; its exit code, and what it printed."""
        ...

    def ask(self, command: tuple[str, ...]) -> tuple[int, str]:
        """Run a command for its answer; exit code, and what it printed on standard output."""
        ...


@dataclass(frozen=True)
class PulumiCli:
    """The CLI on PATH."""

    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    folder: Path | None = None
    """Where it runs. Without it, where the caller is."""

    def run(self, command: tuple[str, ...], environment: Mapping[str, str]) -> tuple[int, str]:
        """Run a command, passing on what it prints. Raises CommandError where the CLI is not installed.

        Raises KeyboardInterrupt after Ctrl-C, once the CLI has ended what was under way and given its lock up.
        """
        printed: list[str] = []
        with self._started(command, {**self.environment, **environment}, stderr=subprocess.STDOUT) as process:
            for line in process.stdout or ():
                sys.stderr.write(line)
                printed.append(line)
        return process.returncode, "".join(printed)

    def ask(self, command: tuple[str, ...]) -> tuple[int, str]:
        """Run a command for what it prints; its errors are passed to standard error. Raises as `run` does."""
        with self._started(command, self.environment, stderr=subprocess.PIPE) as process:
            printed, errors = process.communicate()
        sys.stderr.write(errors)
        return process.returncode, printed if process.returncode == 0 else printed + errors

    @contextmanager
    def _started(self, command: tuple[str, ...], environment: Mapping[str, str], *, stderr: int) -> "Iterator[subprocess.Popen[str]]":
        """The CLI at work, which gets each signal once, and has ended when the block ends: a second one would end it at once, with
        its lock held and what was under way unknown.

        On a terminal Ctrl-C reaches it directly, as it is in our group; elsewhere it has a group of its own, and what we get is
        passed on.
        """
        on_terminal = sys.stdin.isatty()
        with signals_kept() as kept:
            try:
                process = subprocess.Popen(
                    command, stdout=subprocess.PIPE, stderr=stderr, text=True, env=dict(environment), cwd=self.folder,
                    process_group=None if on_terminal else 0,
                )  # fmt: skip
            except OSError as error:
                raise _missing(command, error) from error
            kept.pass_on = lambda number: None if on_terminal and number == signal.SIGINT else process.send_signal(signal.SIGINT)
            with process:
                yield process


def says(printed: str, texts: Sequence[str]) -> bool:
    """Whether one of the texts is in what a command printed; case does not matter."""
    return any(text.lower() in printed.lower() for text in texts)


def _missing(command: tuple[str, ...], error: OSError) -> CommandError:
    return CommandError(f"cannot run `{command[0]}`: {error.strerror}", "install the Pulumi CLI 3.260 or later")
