"""Runs the Pulumi CLI: with its output passed on, or for what it answers."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from operations.errors import CommandError

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
        """Run a command, passing on what it prints. Raises CommandError where the CLI is not installed."""
        try:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**self.environment, **environment}, cwd=self.folder
            )  # fmt: skip
        except OSError as error:
            raise _missing(command, error) from error
        printed: list[str] = []
        with process:
            for line in process.stdout or ():
                sys.stderr.write(line)
                printed.append(line)
        return process.returncode, "".join(printed)

    def ask(self, command: tuple[str, ...]) -> tuple[int, str]:
        """Run a command for what it prints; its errors are passed to standard error. Raises CommandError where it is not installed."""
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=dict(self.environment), cwd=self.folder)
        except OSError as error:
            raise _missing(command, error) from error
        sys.stderr.write(done.stderr)
        return done.returncode, done.stdout if done.returncode == 0 else done.stdout + done.stderr


def says(printed: str, texts: Sequence[str]) -> bool:
    """Whether one of the texts is in what a command printed; case does not matter."""
    return any(text.lower() in printed.lower() for text in texts)


def _missing(command: tuple[str, ...], error: OSError) -> CommandError:
    return CommandError(f"cannot run `{command[0]}`: {error.strerror}", "install the Pulumi CLI 3.260 or later")
