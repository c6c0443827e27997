"""What costs much and comes out the same is made once for all tests of a process: recordings, service models, and the command line itself."""

import hashlib
import os
import pickle
import random
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import botocore.session
import pytest
import typer.main

from simulator import rehearsal
from simulator.recorder.recorder import ProgramFile
from simulator.recording import Recording

KEPT = 12
"""Recordings of a process, some 2 MB each. Tests of one file run in one process, and ask for the same few."""
FOLDER = "TRN_TEST_RECORDINGS"
"""Variable with the folder in which all processes of a run of tests keep their recordings: one is read in a hundredth of the time."""


def mostly_long(values: Iterable[Any], *, of_default: Iterable[int] = (0,)) -> list[Any]:
    """Values of `parametrize`, of which the default tier takes those at these places, and the long tier the others."""
    chosen = set(of_default)
    return [value if place in chosen else pytest.param(value, marks=pytest.mark.long) for place, value in enumerate(values)]


def further_seeds(count: int) -> list[Any]:
    """Seeds beside the fixed ones, for the long tier: drawn from $TRN_SEED, which CI sets for each commit; none without it."""
    given = os.environ.get("TRN_SEED", "")
    return [pytest.param(seed, marks=pytest.mark.long) for seed in random.Random(given).sample(range(10**4, 10**6), count if given else 0)]


def share() -> None:
    """From now on commands that ask for the same stack get equal recordings, each its own to change, and all sessions the same models.

    Before any module of `trn` is imported: they take the function by its name.
    """
    rehearsal.record_program = record_program
    typer.main.get_command = cache(typer.main.get_command)
    botocore.session.create_loader = cache(botocore.session.create_loader)


def record_program(stack: rehearsal.Stack, seed: int) -> Recording:
    """As `simulator.rehearsal.record_program`, once for each program text, configuration and seed."""
    assert isinstance(stack.program, ProgramFile)
    return recorded(stack.program, stack.project, stack.name, stack.configuration, seed=seed)


def recorded(
    program: ProgramFile, project: str, stack: str, configuration: Mapping[str, str], *, seed: int = 0, preview: bool = False
) -> Recording:
    """What a program registers, recorded once; each caller has a recording to change."""
    kept = _recorded(_Program(program), project, stack, tuple(sorted(configuration.items())), seed, preview)
    return Recording(kept.project, kept.stack, dict(kept.registrations), dict(kept.stack_outputs))


_forgotten: list[int] = []
"""Processes in which recordings were forgotten, once for each time: what was kept before is another key's."""


class _Program:
    """A program by its text: copies elsewhere on disk record the same."""

    def __init__(self, file: ProgramFile) -> None:
        self.file, self.text = file, file.path.read_bytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Program) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


@lru_cache(maxsize=KEPT)
def _recorded(
    program: _Program, project: str, stack: str, configuration: tuple[tuple[str, str], ...], seed: int, preview: bool
) -> Recording:
    key = hashlib.sha256(repr((program.text, project, stack, configuration, seed, preview, _forgotten)).encode()).hexdigest()
    place = Path(os.environ[FOLDER]) / key if FOLDER in os.environ else None
    if place is not None and place.exists():
        return pickle.loads(place.read_bytes())
    made = rehearsal.record(program.file, project=project, stack=stack, configuration=dict(configuration), seed=seed, preview=preview)
    if place is not None:
        part = place.with_suffix(f".{os.getpid()}")
        part.write_bytes(pickle.dumps(made))
        part.replace(place)
    return made


def forget() -> None:
    """Record anew from here on, in this process."""
    _recorded.cache_clear()
    _forgotten.append(os.getpid())
