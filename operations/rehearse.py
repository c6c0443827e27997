"""`trn rehearse`: the real program against the simulated cloud, with progress, summary and files."""

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pulumi
from rich.console import Console

from operations.progress import Progress
from operations.rehearsal_summary import print_summary
from operations.stack_file import StackFile, StackFileError, read_stack_file
from simulator.drawing.page import page_html
from simulator.drawing.timeline import timeline_svg
from simulator.engine_order import DEFAULT_PARALLEL
from simulator.errors import SimulationError
from simulator.recorder import program_at, record
from simulator.recording import Recording
from simulator.rehearsal import Rehearsal, Stack, Watch, rehearse
from stacks.config import REHEARSAL_VARIABLE, parse_settings
from stacks.problems import ConfigurationError
from stacks.rules import notices
from stacks.settings import Settings

STANDARD_OUTPUT = Path("-")


@dataclass(frozen=True)
class RehearseOptions:
    """What the command line said."""

    stack: str
    json_file: Path | None
    output: Path
    seed: int
    parallel: int
    quiet: bool


def run(options: RehearseOptions) -> int:
    """Rehearse, write the files, print the summary; returns the exit code."""
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    progress = Progress(errors, quiet=options.quiet)
    try:
        stack_file = read_stack_file(options.stack)
        with progress:
            rehearsal = rehearse_stack(stack_file, seed=options.seed, parallel=options.parallel, watch=progress.watch)
    except StackFileError as error:
        errors.print(f"error: {error}\n\nhint: {error.hint}", markup=False)
        return 2
    except ConfigurationError as error:
        errors.print(str(error), markup=False)
        return 2
    except pulumi.RunError as error:
        errors.print(f"error: the program stopped: {error}", markup=False)
        return 1
    except SimulationError as error:
        errors.print(f"error: {error}", markup=False)
        return 1
    try:
        written = write_files(rehearsal, options.output, options.json_file)
    except OSError as error:
        errors.print(
            f"error: cannot write `{error.filename}`: {error.strerror}\n\nhint: name a folder with --output, a file with --json",
            markup=False,
        )
        return 1
    output = Console(highlight=False)
    if options.json_file == STANDARD_OUTPUT:
        sys.stdout.write(rehearsal.report.as_json())
        output = errors
    print_summary(output, rehearsal.report, written)
    refused = any(step.error for step in rehearsal.report.up.resources) or any(step.error for step in rehearsal.report.destroy.order)
    return 1 if refused else 0


def rehearse_stack(stack_file: StackFile, *, seed: int = 0, parallel: int = DEFAULT_PARALLEL, watch: Watch | None = None) -> Rehearsal:
    """Rehearse the program with one stack file.

    Raises ConfigurationError, or what the program raises.
    """
    settings = settings_of(stack_file)
    stack = Stack(program_at(stack_file.root), stack_file.project, stack_file.stack, stack_file.as_pulumi)
    with _rehearsing():
        return rehearse(stack, seed=seed, parallel=parallel, notices=notices(settings), watch=watch)


def settings_of(stack_file: StackFile, *, rehearsal: bool = True) -> Settings:
    """The stack file's settings; a rehearsal accepts documentation addresses.

    Raises ConfigurationError.
    """
    return parse_settings(stack_file.configuration, stack_file.stack, rehearsal=rehearsal)


def record_stack(stack_file: StackFile) -> Recording:
    """What the program would make, without running the clock.

    Raises ConfigurationError, or what the program raises.
    """
    settings_of(stack_file)
    with _rehearsing():
        program = program_at(stack_file.root)
        return record(program, project=stack_file.project, stack=stack_file.stack, configuration=stack_file.as_pulumi)


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
def _rehearsing() -> Iterator[None]:
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
