"""`trn rehearse crash`: kill the run at every resource, on the way up and on the way down, and see that it comes back."""

import time
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from operations.output import errors, results, write_json
from operations.rehearse.command import record_stack
from operations.stack_file import read_stack_file
from simulator.engine import crash
from simulator.report.schema import Part

SCHEMA = "trn-crash/1"


class CrashFailure(Part):
    """A kill after which something was wrong."""

    urn: str
    operation: str
    at: float
    """Fraction of the operation's own time."""
    why: list[str]


class CrashReport(Part):
    """The crash matrix of a stack."""

    schema_version: str
    stack: str
    seed: int
    cases: int
    """Kills: each resource, created and deleted, at its beginning, half-way and at its end."""
    converged: int
    """Of these, those after which `up` finished, nothing was made twice, and destroy left nothing."""
    failures: list[CrashFailure]


def run(stack: str, *, seed: int, json_file: Path | None, quiet: bool) -> int:
    """Run the crash matrix of a stack; returns the exit code."""
    began = time.perf_counter()
    report = matrix(stack, seed=seed, console=None if quiet else errors())
    took = time.perf_counter() - began
    write_json(report.model_dump(), json_file)
    _print(results(json_file), report, took)
    return 1 if report.failures else 0


def matrix(stack: str, *, seed: int = 0, console: Console | None = None) -> CrashReport:
    """The crash matrix of a stack file.

    Raises StackFileError, ConfigurationError, or what the program raises.
    """
    recording = record_stack(read_stack_file(stack), seed=seed)
    cases = crash.cases(recording)
    with Progress(console=console, transient=True, disable=console is None) as progress:
        task = progress.add_task("killing and coming back", total=len(cases))
        failures = crash.run_cases(recording, cases, seed=seed, told=lambda: progress.advance(task))
    return CrashReport(
        schema_version=SCHEMA,
        stack=stack,
        seed=seed,
        cases=len(cases),
        converged=len(cases) - len(failures),
        failures=[CrashFailure(urn=item.case.urn, operation=item.case.operation, at=item.case.at, why=list(item.why)) for item in failures],
    )


def _print(output: Console, report: CrashReport, took: float) -> None:
    output.print(
        f"{report.converged} of {report.cases} kills converged, nothing was made twice, nothing was left behind ({took:.0f} s)",
        markup=False,
    )
    for item in report.failures:
        where = f"{item.operation} {item.urn.rsplit('::', 1)[-1]}, killed at {item.at:.0%} of it"
        output.print(f"failed   {where}: {'; '.join(item.why)}", markup=False)
