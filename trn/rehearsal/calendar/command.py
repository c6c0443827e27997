"""`trn rehearse calendar`: capacity blocks and schedules in the virtual clock, with a job that runs on them."""

from typing import Annotated

import typer

from trn.cli.options import JsonFile, Seed, Stack


def calendar(
    stack: Stack,
    hours: Annotated[float, typer.Option("--hours", min=0.1, help="Work of the job, hours; it needs a place's nodes.")] = 100,
    grace: Annotated[int, typer.Option("--grace", min=0, help="Minutes that its checkpoint takes after SIGTERM.")] = 5,
    days: Annotated[
        int | None, typer.Option("--days", min=1, max=200, help="Days; without it until the last block ends, or a week.")
    ] = None,
    seed: Seed = 0,
    json_file: JsonFile = None,
) -> int:
    """Rehearse days: blocks and schedules size groups, a job saves and goes on, the idle guard and a budget tell, what it costs.

    The job starts when the first nodes are ready, and takes whichever group or pool has nodes. Exits with 1 where work is lost, or a
    group does not go up.

    Example: trn rehearse calendar dev --hours 30
    """
    from datetime import timedelta

    from simulator.account.allowances import Allowances
    from simulator.account.world import World
    from simulator.calendar.plan import Work, firings, sizes_before
    from simulator.calendar.run import run_days
    from simulator.costs import items
    from simulator.engine.run import Engine
    from simulator.engine.state import State
    from trn.cli.output import results, write_json
    from trn.engine.assumed_account import account_for
    from trn.engine.program import record_stack, settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.rehearsal.calendar.guard import add_budget, watch_of
    from trn.rehearsal.calendar.inputs import blocks_of, places_of, span
    from trn.rehearsal.calendar.view import lines_of, report_of

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    places = places_of(settings)
    start, end = span(places, days)
    recording = record_stack(stack_file, seed=seed)
    account = account_for(settings)
    account.allowances = Allowances(blocks=blocks_of(settings))
    account.now = start
    engine = Engine(World(account), State(), seed)
    engine.up(recording)
    work = Work(hours, timedelta(minutes=grace))
    calls, before = firings(recording, start, end), sizes_before(recording, start)
    found = run_days(engine.world, places, calls, work, start, end, before=before, watch=watch_of(settings), seed=seed)
    costs = items(recording)
    add_budget(found, settings, costs)
    write_json(report_of(found, costs), json_file)
    console = results(json_file)
    for line, is_bad in lines_of(found, costs, stack):
        console.print(line, style="bold red" if is_bad else None, markup=False, soft_wrap=True)
    return 1 if found.job.lost_hours or any(entry.is_bad for entry in found.entries) else 0
