"""The crash matrix of a stack: the run is killed at every resource, and must converge afterwards."""

from collections.abc import Sequence
from functools import partial
from typing import Literal

from rich.console import Console
from rich.progress import Progress

from facts.document import Document, Part
from simulator.engine import crash
from trn.engine.assumed_account import account_for
from trn.engine.program import record_stack, settings_of
from trn.engine.stack_file import read_stack_file
from trn.rehearsal.change.configuration import with_settings


class CrashFailure(Part, frozen=True):
    """A kill after which something was wrong."""

    urn: str
    operation: str
    at_share: float
    """Of the operation's own time, from 0 to 1."""
    why: list[str]


class CrashReport(Document, frozen=True):
    """The crash matrix of a stack, or of a change of it."""

    schema_: Literal["trn-rehearse-crash"] = "trn-rehearse-crash"
    stack: str
    seed: int
    changed: list[str]
    """Settings that the run changes in a stack that is up; empty where it makes the stack and destroys it."""
    refused: list[str]
    """Why the change ends with an error even where nothing kills it, and must end with the same one after a kill."""
    cases: int
    """Kills: each operation, at its beginning, half-way and at its end."""
    converged: int
    """Of these, those after which `up` finished, nothing was made twice, and destroy left nothing."""
    failures: list[CrashFailure]


def matrix(stack: str, changed: Sequence[str] = (), *, seed: int = 0, console: Console | None = None) -> CrashReport:
    """The crash matrix of a stack file, or of `key=value` changes of it.

    Raises StackFileError, ConfigurationError, or what the program raises.
    """
    files = [read_stack_file(stack)]
    files += [with_settings(files[0], changed)] if changed else []
    account = account_for(*(settings_of(one) for one in files))
    recordings = [record_stack(one, seed=seed) for one in files]
    refused: list[str] = []
    with Progress(console=console, transient=True, disable=console is None) as progress:
        task = progress.add_task("killing and coming back", total=None)
        if changed:
            of_change = crash.ChangeMatrix.of(recordings[0], recordings[1], seed=seed, account=account)
            refused = [f"{step.urn.rsplit('::', 1)[-1]}: {step.error}" for step in of_change.runs[-1].phase.errors]
            cases = of_change.cases()
            run = of_change.failures
        else:
            cases = crash.cases(recordings[0])
            run = partial(crash.run_cases, recordings[0], seed=seed, account=account)
        progress.update(task, total=len(cases))
        failures = run(cases, after_case=lambda: progress.advance(task))
    return CrashReport(
        stack=stack,
        seed=seed,
        changed=list(changed),
        refused=refused,
        cases=len(cases),
        converged=len(cases) - len(failures),
        failures=[
            CrashFailure(urn=item.case.urn, operation=item.case.operation, at_share=item.case.at, why=list(item.why)) for item in failures
        ],
    )


def print_report(output: Console, report: CrashReport, took: float) -> None:
    """Print how many kills converged in `took` real seconds, and what was wrong after the others."""
    for text in report.refused:
        output.print(f"refused  {text}", markup=False)
    if report.changed and not report.cases:
        output.print("the change touches nothing that could be killed", markup=False)
        return
    output.print(
        f"{report.converged} of {report.cases} kills converged, nothing was made twice, nothing was left behind ({took:.0f} s)",
        markup=False,
    )
    for item in report.failures:
        where = f"{item.operation} {item.urn.rsplit('::', 1)[-1]}, killed at {item.at_share:.0%} of it"
        output.print(f"failed   {where}: {'; '.join(item.why)}", markup=False)
