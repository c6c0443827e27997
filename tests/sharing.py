"""What costs much and comes out the same is made once for all tests of a process: recordings of a stack, and the command line itself."""

from functools import cache, lru_cache
from typing import Any

import typer.main

from simulator import rehearsal
from simulator.doors.recorder import ProgramFile
from simulator.recording import Recording

_record = rehearsal.record_program


def share() -> None:
    """From now on commands that ask for the same stack get equal recordings, each its own to change.

    Before any module of `operations` is imported: they take the function by its name.
    """
    rehearsal.record_program = record_program
    typer.main.get_command = cache(typer.main.get_command)


def record_program(stack: rehearsal.Stack, seed: int) -> Recording:
    """As `simulator.rehearsal.record_program`, once for each program text, configuration and seed."""
    assert isinstance(stack.program, ProgramFile)
    kept = _recorded(
        stack.program.path.read_bytes(), stack.project, stack.name, tuple(sorted(stack.configuration.items())), seed, _Program(stack)
    )
    return Recording(kept.project, kept.stack, dict(kept.registrations), dict(kept.stack_outputs))


class _Program:
    """The stack itself, which is no part of the key: copies of the program elsewhere on disk record the same."""

    def __init__(self, stack: rehearsal.Stack) -> None:
        self.stack = stack

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, _Program)

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=64)
def _recorded(
    _program: bytes, _project: str, _name: str, _configuration: tuple[tuple[str, str], ...], seed: int, given: _Program
) -> Recording:
    return _record(given.stack, seed)


def forget() -> None:
    """Record anew from here on."""
    _recorded.cache_clear()
