"""`trn capacity`: find instances that are scarce, buy a capacity block, and see blocks beside the jobs that they are for."""

from typing import Annotated

import typer

from trn.cli import completion
from trn.cli.options import BreakLock, ClusterName, JsonFile, Stack, StateFile, Yes

Instances = Annotated[int | None, typer.Option("--instances", min=1, help="How many. Else as many as the group may have.")]
Hours = Annotated[int, typer.Option("--hours", min=1, help="For how long. Blocks last whole days, from two weeks on whole weeks.")]
GroupName = Annotated[
    str | None, typer.Option("--group", help="Node group that they are for. Else the first of its type.", autocompletion=completion.groups)
]
TypeName = Annotated[str | None, typer.Option("--type", help="Instance type. Else that of the group.")]
Regions = Annotated[str, typer.Option("--regions", metavar="A,B", help="Regions to look at. Else all in which the type was seen.")]
Day = Annotated[str | None, typer.Option("--from", metavar="YYYY-MM-DD", help="Earliest day, in UTC. Else now.")]
Details = Annotated[int, typer.Option("--details", min=0, help="For how many of the ways the stack file's changes are printed.")]


def find(
    stack: Stack,
    instances: Instances = None,
    hours: Hours = 24,
    instance_type: TypeName = None,
    group: GroupName = None,
    regions: Regions = "",
    day: Day = None,
    rows: Annotated[int, typer.Option("--rows", min=1, help="Most ways in the table.")] = 20,
    details: Details = 4,
    json_file: JsonFile = None,
) -> int:
    """Find instances: capacity blocks on offer, idle reservations, spot and on demand, in all regions that have the type. Reads only.

    Ranked by start, then by cost, each with the change of the stack file and what does not move to another region by itself. A region that
    gives no answer says why, and the others are shown. Exits with 1 where nothing works.

    Example: trn capacity find dev --instances 4 --hours 72
    """
    from datetime import UTC, datetime

    from trn.aws.identity import caller
    from trn.before.capacity.region import look_everywhere
    from trn.before.capacity.view import found, lines, report_of
    from trn.before.capacity.wanted import day_of, named_regions, regions_of, wanted_of
    from trn.change.clients import access
    from trn.cli.output import errors, results, write_json
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file

    settings = settings_of(read_stack_file(stack))
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    wanted = wanted_of(
        settings, stack, group=group, instance_type=instance_type, count=instances, hours=hours, day=day_of(day), now=now
    )  # fmt: skip
    apis = {region: access().aws(stack, region) for region in regions_of(settings, wanted, named_regions(regions))}
    # Bad credentials end it here: that every region refuses them does not help.
    who = caller(access().aws(stack, settings.region))
    errors().print(f"asking   {', '.join(apis)}", markup=False, soft_wrap=True)
    told = found(stack, settings, wanted, look_everywhere(apis, wanted, settings.name, settings.region), who.account)
    write_json(report_of(told), json_file)
    console = results(json_file)
    for line in lines(told, details, rows):
        console.print(line, markup=False, soft_wrap=True)
    return 0 if told.working else 1


def buy(
    stack: Stack,
    offer: Annotated[str, typer.Argument(help="Id of the offer, as `trn capacity find` lists it: cb-...")],
    instances: Instances = None,
    hours: Hours = 24,
    instance_type: TypeName = None,
    group: GroupName = None,
    day: Day = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show it, ask EC2 whether it would be sold, and buy nothing.")] = False,
    limit_usd: Annotated[
        float | None, typer.Option("--limit-usd", min=0, help="Most that the block may cost; with --yes it is needed.")
    ] = None,
    account: Annotated[str, typer.Option("--account", help="Account that is meant; with --yes it is needed before the stack is up.")] = "",
    state: StateFile = None,
    yes: Yes = False,
    name: ClusterName = "",
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """Buy a capacity block for a node group and write it into the stack file. It is paid at once and never paid back.

    Shows the sum and asks twice: a yes, then the sum in dollars. `--yes` takes the place of both with `--limit-usd SUM`. Instances, hours and
    type are those of `trn capacity find`. A block is bought once: if a run was killed, the next one finds the block by its tag and writes it.

    Example: trn capacity buy dev cb-0123456789abcdef0 --instances 2 --hours 72 --dry-run
    """
    from datetime import UTC, datetime

    from stacks.settings import existing_vpc
    from trn.before.capacity.change import Buy
    from trn.before.capacity.purchase import Order, refuse_offer
    from trn.before.capacity.wanted import day_of, wanted_of
    from trn.change.executor import carry_out, show
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file

    refuse_offer(offer)
    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    wanted = wanted_of(
        settings, stack, group=group, instance_type=instance_type, count=instances, hours=hours, day=day_of(day), now=now, may_be_new=True
    )  # fmt: skip
    change = Buy(Order(stack_file, settings, wanted, offer), account, limit_usd, yes, dry_run)
    subject = StackCluster(stack_file.project, stack, settings.name, existing_vpc(settings), may_be_absent=True)
    with terminal(
        subject, settings.region, "waiting for EC2", json_file, state, yes=yes, name=name, break_lock=break_lock
    ) as (site, person):  # fmt: skip
        return show(change, site) if dry_run else carry_out(change, site, person)


def calendar(
    stack: Stack,
    no_cluster: Annotated[bool, typer.Option("--no-cluster", help="Do not look for jobs.")] = False,
    json_file: JsonFile = None,
) -> int:
    """Show blocks and reservations of a stack in time, beside its jobs and their limits. Reads only.

    Says of gaps, of jobs whose time limit passes the end of their block, of blocks that no section of the stack file names, and of what
    starts by itself. Exits with 1 where something does not fit.

    Example: trn capacity calendar dev
    """
    from datetime import UTC, datetime

    from trn.aws.zones import reservations_of
    from trn.before.capacity.calendar import calendar as made_calendar
    from trn.before.capacity.calendar import running_jobs
    from trn.before.capacity.timeline import lines, report_of
    from trn.change.clients import access
    from trn.change.occupants import view_of
    from trn.cli.errors import CommandError
    from trn.cli.findings import exit_code, print_findings
    from trn.cli.output import results, write_json
    from trn.engine.needs import purchases
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file

    settings = settings_of(read_stack_file(stack))
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    types = {item.instance_type for item in purchases(settings)}
    there = reservations_of(access().aws(stack, settings.region), types) if types else {}
    jobs, unseen = [], "--no-cluster" if no_cluster else ""
    try:
        jobs = [] if no_cluster else running_jobs(view_of(stack, None)[0], now)
    except CommandError as error:
        unseen = str(error.args[0])
    told = made_calendar(settings, there, jobs, unseen, now)
    write_json(report_of(told, stack), json_file)
    console = results(json_file)
    for line in lines(told):
        console.print(line, markup=False, soft_wrap=True)
    if told.findings:
        console.print("")
        print_findings(console, told.findings)
    return exit_code(told.findings)
