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
    from trn.change.clients import access
    from trn.change.executor import carry_out, show
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.cli.errors import MISUSE, CommandError
    from trn.engine.stack_file import read_stack_file
    from trn.running.upgrade.change import LOOKS, Upgrade
    from trn.running.upgrade.steps import refuse_unknown, settings_before

    refuse_unknown(to)
    if wait and interrupt:
        raise CommandError("--wait and --interrupt exclude each other", "wait for the jobs, or let them be interrupted", code=MISUSE)
    stack_file = read_stack_file(stack)
    settings = settings_before(stack_file)
    looks = 3 if access().is_practice else LOOKS
    change = Upgrade(stack_file, settings.name, to, frozenset(accept or ()), wait, interrupt, yes and not check, looks)
    subject = StackCluster(stack_file.project, stack, settings.name)
    with terminal(
        subject, settings.region, "waiting for EKS", json_file, None, yes=yes, name=name, break_lock=break_lock
    ) as (site, person):  # fmt: skip
        return show(change, site) if check else carry_out(change, site, person)
