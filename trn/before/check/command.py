"""`trn check`: what can be known before money flows."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer

from trn.cli import completion
from trn.cli.options import BlockHours, BreakLock, ClusterName, JsonFile, Stack, Yes

PickGroup = Annotated[
    str | None,
    typer.Option("--pick", metavar="GROUP", help="First pick one of a group's candidates, by asking.", autocompletion=completion.groups),
]


def check(
    stack: Stack, block_hours: BlockHours = 24, pick: PickGroup = None, yes: Yes = False, name: ClusterName = "", break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:  # fmt: skip
    """Check before money flows: permissions, quotas, capacity, versions, tools, cost. Exits with 1 where anything fails.

    A check that could not be made is a failure, never a pass.

    Where a group's capacity block is missing, wrong or near its end, blocks on offer are listed with prices and the command that buys them.

    `--pick GROUP` compares the places in `nodeGroups.GROUP.candidates` on the account, asks, and writes the best into the stack file.

    Example: trn check dev --json check.json
    """
    from stacks.settings import existing_vpc
    from trn.aws.capacity_blocks import refuse_hours
    from trn.before.check.account import credentials
    from trn.before.check.run import CHECKS, CheckReport, findings_of
    from trn.before.check.subject import Subject
    from trn.before.check.tools import tool_answer
    from trn.change.clients import access
    from trn.cli.findings import Finding, exit_code, print_findings
    from trn.cli.output import errors, gauge, results, write_json
    from trn.engine.program import record_stack, settings_of
    from trn.engine.stack_file import StackFile, read_stack_file

    def answer(command: Sequence[str]) -> str:
        if not access().is_practice or command[0] != "pulumi" or "export" not in command:
            return tool_answer(command)
        # The state of a stack in practice is not with the CLI that is on PATH.
        code, printed = access().pulumi(stack).ask(tuple(command))
        if code:
            raise OSError(printed)
        return printed

    def checked(stack_file: StackFile, show: Callable[[int, int], None]) -> list[Finding]:
        settings = settings_of(stack_file, rehearsal=access().is_practice)
        subject = Subject(
            stack_file=stack_file,
            settings=settings,
            recording=record_stack(stack_file),
            api=access().aws(stack, settings.region),
            today=datetime.now(UTC).date(),
            own_address=access().own_address,
            tool_answer=answer,
            block_hours=block_hours,
        )
        # Bad credentials end it here, with exit code 2: twenty findings that all say so do not help.
        findings = [*credentials(subject)]
        for number, name in enumerate(CHECKS):
            show(number, len(CHECKS))
            findings += findings_of(subject, [name])
        return findings

    refuse_hours(block_hours)
    stack_file = read_stack_file(stack)
    if pick is None:
        with gauge("checking", errors()) as show:
            findings = checked(stack_file, show)
        write_json(CheckReport(stack=stack, findings=tuple(findings)), json_file)
        print_findings(results(json_file), findings)
        return exit_code(findings)

    from trn.before.check.picking import PickPlace
    from trn.change.executor import carry_out
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.engine.early import no_group

    settings = settings_of(stack_file)
    if pick not in settings.node_groups:
        raise no_group(stack, pick, list(settings.node_groups))
    change = PickPlace(stack_file, pick, block_hours, datetime.now(UTC).replace(second=0, microsecond=0), checked)
    about = StackCluster(stack_file.project, stack, settings.name, existing_vpc(settings), may_be_absent=True)
    with terminal(
        about, settings.region, "checking", json_file, None, yes=yes, name=name, break_lock=break_lock
    ) as (site, person):  # fmt: skip
        return carry_out(change, site, person) or exit_code(change.findings)
