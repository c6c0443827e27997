"""The program with the configuration of a stack file: its settings, the resources it registers, its rehearsal."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace

from simulator.account.allowances import Job
from simulator.engine.order import DEFAULT_PARALLEL
from simulator.recorder.recorder import program_at
from simulator.recording import Recording
from simulator.rehearsal import Circumstances, Rehearsal, Stack, Watch, record_program, rehearse
from stacks.config import REHEARSAL_VARIABLE, parse_settings
from stacks.rules import notices
from stacks.settings import Settings
from trn.engine.assumed_account import assumed_description, assumption
from trn.engine.stack_file import StackFile
from trn.engine.stack_names import StackFileError


def settings_of(stack_file: StackFile, *, rehearsal: bool = True) -> Settings:
    """The stack file's settings; a rehearsal accepts documentation addresses.

    Raises ConfigurationError.
    """
    return parse_settings(stack_file.configuration, stack_file.stack, rehearsal=rehearsal)


def stack_of(stack_file: StackFile) -> Stack:
    """The program with the configuration of a stack file. Raises StackFileError where there is no program."""
    program = program_at(stack_file.root)
    if not program.path.is_file():
        wrong = f"there is no {program.path.name}, the program, beside {stack_file.root}/Pulumi.yaml"
        raise StackFileError(wrong, "run trn in a clone of this repository, or copy its program here")
    return Stack(program, stack_file.project, stack_file.stack, stack_file.as_pulumi)


def record_stack(stack_file: StackFile, *, seed: int = 0) -> Recording:
    """The resources that the program registers, without running the clock.

    Raises ConfigurationError, or what the program raises.
    """
    settings_of(stack_file)
    with rehearsing():
        return record_program(stack_of(stack_file), seed)


def rehearse_stack(
    stack_file: StackFile,
    *,
    seed: int = 0,
    parallel: int = DEFAULT_PARALLEL,
    watch: Watch | None = None,
    circumstances: Circumstances | None = None,
    recording: Recording | None = None,
) -> Rehearsal:
    """Rehearse the program with one stack file. `recording`: what it registers with this seed, where that is known.

    Raises ConfigurationError, or what the program raises.
    """
    settings = settings_of(stack_file)
    met = replace(circumstances or Circumstances(), job=Job(settings.training.toolchain))
    said = [*notices(settings), *(assumption(settings) if met.existing is None else ())]
    met = replace(met, existing=met.existing or assumed_description(settings))
    with rehearsing():
        return rehearse(
            stack_of(stack_file),
            seed=seed,
            parallel=parallel,
            notices=said,
            circumstances=met,
            watch=watch,
            recording=recording,
        )


@contextlib.contextmanager
def rehearsing() -> Iterator[None]:
    """Informs the program, by an environment variable, that it runs on a simulated cloud."""
    before = os.environ.get(REHEARSAL_VARIABLE)
    os.environ[REHEARSAL_VARIABLE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[REHEARSAL_VARIABLE]
        else:
            os.environ[REHEARSAL_VARIABLE] = before
