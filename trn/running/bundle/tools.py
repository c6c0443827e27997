"""Command line tools with an end: each gets a limited time, and none outlives the command that asked."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from trn.cli.errors import CommandError


class NoAnswer(CommandError):
    """A tool took longer than it may."""


@dataclass
class Tools:
    """The tools that one command has started."""

    _running: set["subprocess.Popen[str]"] = field(default_factory=set)

    def answer(
        self, command: Sequence[str], patience_s: float, environment: Mapping[str, str] | None = None, folder: Path | None = None
    ) -> str:
        """What a tool prints within a time. Raises CommandError where it is missing or fails, with its own last words; NoAnswer after the time."""
        shown = " ".join(command)
        try:
            # In a group of its own, which can be ended with all that it started.
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                env=None if environment is None else dict(environment), cwd=folder, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise CommandError(f"cannot run `{shown}`: {error.strerror}") from error
        self._running.add(process)
        try:
            printed, said = process.communicate(timeout=patience_s)
        except subprocess.TimeoutExpired as error:
            raise NoAnswer(f"`{shown}` gave no answer in {patience_s:g} s and was ended") from error
        finally:
            if process.returncode is None:
                self._end(process)
            self._running.discard(process)
        if process.returncode:
            raise CommandError(f"`{shown}` failed with exit code {process.returncode}: {said.strip()[-500:] or 'it said nothing'}")
        return printed

    def close(self) -> None:
        """End what is still running."""
        for process in list(self._running):
            self._end(process)

    @staticmethod
    def _end(process: "subprocess.Popen[str]") -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        process.wait()
