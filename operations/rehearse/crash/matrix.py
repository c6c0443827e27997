"""The crash matrix of a stack: the run is killed at every resource, and must converge afterwards."""

from rich.console import Console
from rich.progress import Progress

from operations.existing.stand_in import account_for
from operations.program import record_stack, settings_of
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


def matrix(stack: str, *, seed: int = 0, console: Console | None = None) -> CrashReport:
    """The crash matrix of a stack file.

    Raises StackFileError, ConfigurationError, or what the program raises.
    """
    stack_file = read_stack_file(stack)
    recording, account = record_stack(stack_file, seed=seed), account_for(settings_of(stack_file))
    cases = crash.cases(recording)
    with Progress(console=console, transient=True, disable=console is None) as progress:
        task = progress.add_task("killing and coming back", total=len(cases))
        failures = crash.run_cases(recording, cases, seed=seed, after_case=lambda: progress.advance(task), account=account)
    return CrashReport(
        schema_version=SCHEMA,
        stack=stack,
        seed=seed,
        cases=len(cases),
        converged=len(cases) - len(failures),
        failures=[CrashFailure(urn=item.case.urn, operation=item.case.operation, at=item.case.at, why=list(item.why)) for item in failures],
    )


def print_report(output: Console, report: CrashReport, took: float) -> None:
    """Print how many kills converged in `took` real seconds, and what was wrong after the others."""
    output.print(
        f"{report.converged} of {report.cases} kills converged, nothing was made twice, nothing was left behind ({took:.0f} s)",
        markup=False,
    )
    for item in report.failures:
        where = f"{item.operation} {item.urn.rsplit('::', 1)[-1]}, killed at {item.at:.0%} of it"
        output.print(f"failed   {where}: {'; '.join(item.why)}", markup=False)
