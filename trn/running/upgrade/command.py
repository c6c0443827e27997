"""`trn upgrade`: another Kubernetes minor for a running cluster, step by step."""

from typing import Annotated

import typer

from trn.cli.options import BreakLock, ClusterName, JsonFile, Stack, Yes

Target = Annotated[str, typer.Option("--to", metavar="MINOR", help="Kubernetes minor to come to, such as 1.36.")]
Accept = Annotated[
    list[str] | None,
    typer.Option("--accept", metavar="CHART", help="Chart to keep though its makers do not list the new minor; may be repeated."),
]


def upgrade(
    stack: Stack,
    to: Target,
    check: Annotated[bool, typer.Option("--check", help="Only look: checks and plan, no change.")] = False,
    accept: Accept = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the jobs of a group to end before its nodes are rolled.")] = False,
    interrupt: Annotated[bool, typer.Option("--interrupt", help="Roll nodes though jobs run on them: their teams agree.")] = False,
    yes: Yes = False,
    name: ClusterName = "",
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """Upgrade Kubernetes, one minor after the other: control plane, EKS add-ons, charts, and nodes last, once.

    Each step writes its keys into the stack file and runs `pulumi up`. After a failure, or a kill, the same command goes on where it
    stopped. Nothing is done while a check fails. Jobs on nodes are named, and never stopped by `--yes` alone. Exits with 1 where a check
    or a step fails.

    Example: trn upgrade dev --to 1.36 --check
    """
    from functools import partial

    from trn.change.asking import consent
    from trn.change.clients import access
    from trn.change.occupants import print_occupants
    from trn.cli.errors import MISUSE, CommandError
    from trn.cli.findings import exit_code, print_findings
    from trn.cli.output import errors, gauge, results, write_json
    from trn.cli.watching import Watching
    from trn.engine.stack_file import read_stack_file
    from trn.running.upgrade.configuration import settings_before
    from trn.running.upgrade.path import refuse_unknown
    from trn.running.upgrade.run import Choices
    from trn.running.upgrade.stack import Upgrade, look_before
    from trn.running.upgrade.view import print_plan, report_of

    refuse_unknown(to)
    if wait and interrupt:
        raise CommandError("--wait and --interrupt exclude each other", "wait for the jobs, or let them be interrupted", code=MISUSE)
    stack_file = read_stack_file(stack)
    settings = settings_before(stack_file)
    progress, console = errors(), results(json_file)
    api = access().aws(stack, settings.region)
    with gauge("waiting for EKS", progress) as show:
        watching = Watching(lambda line: progress.print(line, markup=False, soft_wrap=True), access().pause, show)
        before = look_before(api, stack_file, settings, to, frozenset(accept or ()), watching)
    if not before.steps:
        write_json(report_of(stack, ()), json_file)
        console.print(f"{settings.name} is of {to}: control plane, add-ons and nodes; nothing to do", markup=False, soft_wrap=True)
        return 0
    print_findings(progress, before.findings)
    print_plan(console, before.steps)
    refused = exit_code(before.findings) or any(timed.errors for timed in before.steps)
    if check or refused:
        write_json(report_of(stack, before.steps, before.findings), json_file)
        if refused:
            progress.print("nothing was changed: first what failed above", markup=False)
        return int(bool(refused))
    choices = Choices(wait, interrupt, 3) if access().is_practice else Choices(wait, interrupt)
    shown = partial(print_occupants, progress)
    outcome = Upgrade(api, stack_file, before, consent(yes, name), watching).run(choices, shown, break_lock=break_lock)
    write_json(report_of(stack, before.steps, before.findings, outcome), json_file)
    if outcome.stopped_at is not None:
        console.print(f"stopped at {outcome.stopped_at.title}: {outcome.why}", markup=False, soft_wrap=True)
        console.print(f"put it right, then `trn upgrade {stack} --to {to}` goes on there", markup=False, soft_wrap=True)
        return 1
    console.print(f"{settings.name} is of {to}; the stack file says so too: commit it", markup=False, soft_wrap=True)
    return 0
