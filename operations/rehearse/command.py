"""`trn rehearse`: the real program against the simulated cloud, with progress, summary and files."""

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from operations.errors import CommandError
from operations.output import STANDARD_OUTPUT, errors
from operations.rehearse.progress import Progress
from operations.rehearse.summary import print_summary
from operations.stack_file import StackFile, read_stack_file
from simulator.account.allowances import Job
from simulator.account.faults import Faults
from simulator.doors.recorder import program_at
from simulator.engine.order import DEFAULT_PARALLEL
from simulator.faults_syntax import parse_fault
from simulator.recording import Recording
from simulator.rehearsal import Circumstances, Rehearsal, Stack, Watch, record_program, rehearse
from simulator.report.drawing.page import page_html
from simulator.report.drawing.timeline import timeline_svg
from simulator.report.schema import Report
from simulator.scenarios import circumstances
from simulator.scenarios import read as read_scenario
from stacks.config import REHEARSAL_VARIABLE, parse_settings
from stacks.rules import notices
from stacks.settings import Settings


@dataclass(frozen=True)
class RehearseOptions:
    """What the command line said."""

    stack: str
    json_file: Path | None
    output: Path
    seed: int
    parallel: int
    quiet: bool
    faults: Sequence[str] = ()
    """As typed: `NAME[@resource][:n]`."""
    scenario: str | None = None
    """Name or file."""
    speed: float = 500
    """Virtual seconds per real one in the live view."""


def run(options: RehearseOptions) -> int:
    """Rehearse, write the files, print the summary; returns the exit code."""
    progress = Progress(errors(), quiet=options.quiet, speed=options.speed)
    stack_file = read_stack_file(options.stack)
    met = circumstances_of(options)
    with progress:
        rehearsal = rehearse_stack(stack_file, seed=options.seed, parallel=options.parallel, watch=progress.watch, circumstances=met)
    try:
        written = write_files(rehearsal, options.output, options.json_file)
    except OSError as error:
        hint = "name a folder with --output, a file with --json"
        raise CommandError(f"cannot write `{error.filename}`: {error.strerror}", hint) from error
    if options.json_file == STANDARD_OUTPUT:
        sys.stdout.write(rehearsal.report.as_json())
    print_summary(Console(stderr=options.json_file == STANDARD_OUTPUT, highlight=False), rehearsal.report, written)
    return 0 if ended_well(rehearsal.report) else 1


def circumstances_of(options: RehearseOptions) -> Circumstances:
    """What the command line makes the cluster meet: a scenario, and faults beside it.

    Raises ScenarioError or FaultSyntaxError.
    """
    met = circumstances(read_scenario(options.scenario)) if options.scenario else Circumstances()
    asked = [parse_fault(text) for text in options.faults]
    Faults.of(asked)
    return replace(met, faults=[*met.faults, *asked])


def ended_well(report: Report) -> bool:
    """Whether the cluster came up in the end, can be used, and went away without a trace."""
    last_up, last_destroy = [report.up, *report.reruns][-1], [report.destroy, *report.destroy_reruns][-1]
    return last_up.ended == "well" and last_destroy.ended == "well" and not report.problems


def rehearse_stack(
    stack_file: StackFile,
    *,
    seed: int = 0,
    parallel: int = DEFAULT_PARALLEL,
    watch: Watch | None = None,
    circumstances: Circumstances | None = None,
) -> Rehearsal:
    """Rehearse the program with one stack file.

    Raises ConfigurationError, or what the program raises.
    """
    settings = settings_of(stack_file)
    met = replace(circumstances or Circumstances(), job=Job(settings.training.neuron_sdk))
    with rehearsing():
        return rehearse(stack_of(stack_file), seed=seed, parallel=parallel, notices=notices(settings), circumstances=met, watch=watch)


def stack_of(stack_file: StackFile) -> Stack:
    """The program with the configuration of a stack file."""
    return Stack(program_at(stack_file.root), stack_file.project, stack_file.stack, stack_file.as_pulumi)


def settings_of(stack_file: StackFile, *, rehearsal: bool = True) -> Settings:
    """The stack file's settings; a rehearsal accepts documentation addresses.

    Raises ConfigurationError.
    """
    return parse_settings(stack_file.configuration, stack_file.stack, rehearsal=rehearsal)


def record_stack(stack_file: StackFile, *, seed: int = 0) -> Recording:
    """What the program would make, without running the clock.

    Raises ConfigurationError, or what the program raises.
    """
    settings_of(stack_file)
    with rehearsing():
        return record_program(stack_of(stack_file), seed)


def write_files(rehearsal: Rehearsal, folder: Path, json_file: Path | None = None) -> list[Path]:
    """Write report.json, timeline.svg and index.html, and the report once more where it was asked for; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "report.json": rehearsal.report.as_json(),
        "timeline.svg": timeline_svg(rehearsal.report),
        "index.html": page_html(rehearsal.report, rehearsal.recording),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    written = [folder / name for name in texts]
    if json_file is not None and json_file != STANDARD_OUTPUT:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(rehearsal.report.as_json())
        written.append(json_file)
    return written


@contextlib.contextmanager
def rehearsing() -> Iterator[None]:
    """Tells the program that it meets a simulated cloud."""
    before = os.environ.get(REHEARSAL_VARIABLE)
    os.environ[REHEARSAL_VARIABLE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[REHEARSAL_VARIABLE]
        else:
            os.environ[REHEARSAL_VARIABLE] = before
