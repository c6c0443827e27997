"""`trn destroy`: drain, `pulumi destroy` with its ways out, sweep, and a final report."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from operations.access import access
from operations.aws.api import Api
from operations.aws.control_plane import described
from operations.cluster.destroy.recovery import Attempt, first, following
from operations.cluster.drain.command import print_plan as print_drain
from operations.cluster.drain.plan import Target, plan_drain
from operations.cluster.drain.run import Drain
from operations.cluster.sweep.command import print_plan as print_sweep
from operations.cluster.sweep.run import Outcome, Sweep
from operations.errors import CommandError
from operations.kube.cluster import cluster_of
from operations.output import errors, results, write_json
from operations.rehearse.command import settings_of
from operations.stack_file import read_stack_file

Runner = Callable[[tuple[str, ...], dict[str, str]], tuple[int, str]]
"""Runs a command with more environment; gives its exit code and what it printed."""


@dataclass(frozen=True)
class DestroyOptions:
    """What the command line said."""

    stack: str
    yes: bool
    backups: bool
    json_file: Path | None


@dataclass
class Report:
    """How it went."""

    drained: bool = False
    undrained: list[Target] = field(default_factory=list)
    tries: int = 0
    destroyed: bool = False
    outcome: Outcome | None = None

    @property
    def is_clean(self) -> bool:
        """Whether nothing is left, neither in the state nor in the account."""
        return self.destroyed and self.outcome is not None and not self.outcome.left


def run(options: DestroyOptions) -> int:
    """Take the cluster away; returns 1 where something is left."""
    settings = settings_of(read_stack_file(options.stack))
    progress, console, report = errors(), results(options.json_file), Report()
    if not options.yes:
        typer.confirm(f"Destroy stack {options.stack}, cluster {settings.name} in {settings.region}, with its data?", abort=True, err=True)

    def tell(line: str) -> None:
        progress.print(line, markup=False, soft_wrap=True)

    api = access().aws(options.stack, settings.region)
    _drain(api, settings.name, report, tell)
    report.tries, report.destroyed = pulumi_destroy(options.stack, access().pulumi(options.stack).run, tell)
    if report.destroyed:
        sweep = Sweep(api, settings.name, access().pause, tell, with_data=options.backups)
        plan = sweep.plan()
        print_sweep(progress, settings.name, plan)
        report.outcome = sweep.run(plan)
    write_json(as_data(report), options.json_file)
    for line in report_lines(report, options.stack):
        console.print(line, markup=False, soft_wrap=True)
    return 0 if report.is_clean else 1


def _drain(api: Api, cluster: str, report: Report, tell: Callable[[str], None]) -> None:
    """Drain what answers. A cluster that is gone, or answers with errors, cannot be drained and is destroyed all the same."""
    entry = described(api, cluster)
    if entry is None or entry["status"] != "ACTIVE":
        tell("there is no cluster to drain, going on")
        return
    try:
        kubernetes = cluster_of(api, cluster)
        plan = plan_drain(kubernetes)
        print_drain(errors(), cluster, plan)
        report.undrained = list(Drain(kubernetes, access().pause, tell).run(plan))
        report.drained = not report.undrained
    except CommandError as error:
        tell(f"cannot drain, going on: {error.args[0]}")


def pulumi_destroy(stack: str, runner: Runner, tell: Callable[[str], None]) -> tuple[int, bool]:
    """Tries until one succeeds; the number of tries and whether the stack is destroyed.

    Raises CommandError where another try would be wrong.
    """
    tried: list[Attempt] = []
    attempt: Attempt | None = first(stack)
    while attempt is not None:
        tried.append(attempt)
        if attempt.why:
            tell(f"try {len(tried)}: {attempt.why}")
        code, printed = 0, ""
        for command in attempt.commands:
            code, printed = runner(command, dict(attempt.environment))
            if code:
                break
        if code == 0:
            return len(tried), True
        attempt = following(stack, printed, tried)
    return len(tried), False


def as_data(report: Report) -> dict[str, Any]:
    """The same for `--json`."""
    outcome = report.outcome
    return {
        "drained": report.drained,
        "undrained": [str(target) for target in report.undrained],
        "tries": report.tries,
        "destroyed": report.destroyed,
        "swept": [f"{item.kind} {item.id}" for item in outcome.deleted] if outcome else [],
        "left": [{"kind": item.kind, "id": item.id, "said": said} for item, said in outcome.left] if outcome else [],
    }


def report_lines(report: Report, stack: str) -> list[str]:
    """The final report."""
    tries = "" if report.tries == 1 else f" at try {report.tries}"
    lines = [
        "drain    " + ("idle" if report.drained else f"{len(report.undrained)} objects stayed" if report.undrained else "left out"),
        "destroy  " + (f"done{tries}" if report.destroyed else f"failed after {report.tries} tries; what it printed last says why"),
    ]
    if report.outcome is not None:
        lines.append(f"sweep    {len(report.outcome.deleted)} deleted, {len(report.outcome.left)} left")
        lines += [f"left     {item.kind} {item.id}: {said}" for item, said in report.outcome.left]
    return lines if report.is_clean else [*lines, f"next     trn destroy {stack}: it may be run again"]
