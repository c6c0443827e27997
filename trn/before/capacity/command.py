"""`trn capacity`: find instances that are scarce, buy a capacity block, and see blocks beside the jobs that they are for."""

from typing import Annotated

import typer

from trn.cli import completion
from trn.cli.options import BreakLock, JsonFile, Stack, StateFile, Yes

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
    from trn.before.capacity.view import as_data, found, lines
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
    write_json(as_data(told), json_file)
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
    from trn.aws.block_purchase import try_purchase
    from trn.aws.identity import caller
    from trn.aws.lock import locked, this_run
    from trn.before.capacity import purchase
    from trn.before.capacity.consent import agree, refuse_account, refuse_limit, refuse_other_account
    from trn.before.capacity.holdings import refuse_held, refuse_unwritten
    from trn.before.capacity.order import Order
    from trn.before.capacity.receipt import Receipt, Report, after, before, reported
    from trn.before.capacity.wanted import day_of, wanted_of
    from trn.change.asking import consent
    from trn.change.clients import access
    from trn.change.ownership import StackCluster, read_ownership, refuse_mismatch
    from trn.cli.output import errors, results
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file

    report = Report(stack, offer)
    with reported(report, json_file):
        purchase.refuse_offer(offer)
        stack_file = read_stack_file(stack)
        settings = settings_of(stack_file)
        now = datetime.now(UTC).replace(second=0, microsecond=0)
        wanted = wanted_of(
            settings, stack, group=group, instance_type=instance_type, count=instances, hours=hours, day=day_of(day), now=now, may_be_new=True
        )  # fmt: skip
        refuse_limit(yes=yes and not dry_run, limit_usd=limit_usd)
        api, progress = access().aws(stack, settings.region), errors()
        who, subject = caller(api), StackCluster(stack_file.project, stack, settings.name, existing_vpc(settings))
        ownership = read_ownership(api, access().pulumi(stack), subject, state)
        refuse_mismatch(ownership)
        refuse_account(ownership, who, account, needed=yes and not dry_run)
        order = report.order = Order(stack_file, settings, wanted, offer, ownership.identity.stack if ownership.is_proven else "")

        def tell(line: str) -> None:
            progress.print(line, markup=False, soft_wrap=True)

        def ended(receipt: Receipt) -> int:
            report.receipt = receipt
            for line in after(receipt):
                results(json_file).print(line, markup=False, soft_wrap=True)
            return 0

        there = purchase.bought_in_doubt(api, order, access().pause)
        if there is not None:
            report.reservation_id = there.id
            refuse_held(api, order, there.id)
            way = purchase.way_of_bought(api, there, wanted)
            tell(f"{offer} was bought as {there.id}")
            purchase.refuse_unfit(order, way, there.id)
            made = [] if dry_run else purchase.write_down(order, way, there.id)
            return ended(Receipt(order, way, there.id, made, was_there=True))
        refuse_held(api, order)
        offering = purchase.on_offer(api, order)
        refuse_unwritten(api, order, offering)
        way = purchase.way_of(api, offering)
        purchase.refuse_unfit(order, way)
        for line in before(order, offering, way, who, ownership.is_proven):
            tell(line)
        if dry_run:
            try_purchase(api, offer, order.tags)
            return ended(Receipt(order, way, "", [], was_there=False))
        agree(consent(yes), offering, limit_usd)
        holder = this_run(who.arn, f"capacity buy {stack} {offer}")
        with locked(api, settings.name, holder, tell, break_lock=break_lock) as lock:

            def guard() -> None:
                lock.refuse_lost()
                refuse_other_account(api, who)

            run = report.run = purchase.Run(holder.token, guard, tell, access().pause, is_doubtful=break_lock)
            reservation_id = purchase.buy(api, order, offering, run)
        made = purchase.file_edits(order, way, reservation_id)
        return ended(Receipt(order, way, reservation_id, made, was_there=run.was_there))


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
    from trn.before.capacity.timeline import as_data, lines
    from trn.change.clients import access
    from trn.change.job_view import view_of
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
    write_json(as_data(told, stack), json_file)
    console = results(json_file)
    for line in lines(told):
        console.print(line, markup=False, soft_wrap=True)
    if told.findings:
        console.print("")
        print_findings(console, told.findings)
    return exit_code(told.findings)
