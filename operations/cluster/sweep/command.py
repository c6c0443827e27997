"""`trn sweep`: show what is left and what it costs a day, ask, delete, and say what stays."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from operations.options import Backups, JsonFile, Stack, Yes


def sweep(
    stack: Stack = "dev",
    state: Annotated[
        Path | None, typer.Option("--state", help="Output of `pulumi stack export`: resources in it are kept, all others are orphans.")
    ] = None,
    delete: Annotated[bool, typer.Option("--delete", help="Delete what is listed, after a question.")] = False,
    yes: Yes = False,
    backups: Backups = False,
    json_file: JsonFile = None,
) -> int:
    """List what a cluster left in the account and what it costs a day; with --delete, delete it. Exits with 1 if something stays.

    Found by exact tags and the cluster's own VPC, never by a name that looks alike.

    Example: trn sweep dev, then: trn sweep dev --delete
    """
    from operations.access import access
    from operations.aws.found import KINDS
    from operations.cluster.sweep.plan import plan_sweep, read_state, refuse_living_cluster
    from operations.cluster.sweep.run import Sweep, look, place_of
    from operations.cluster.sweep.view import as_data, print_outcome, print_plan
    from operations.output import errors, gauge, results, tracked, write_json
    from operations.program import settings_of
    from operations.stack_file import read_stack_file

    settings = settings_of(read_stack_file(stack))
    keep_ids = read_state(state) if state else frozenset()
    api, progress, console = access().aws(stack, settings.region), errors(), results(json_file)
    place = place_of(api, settings.name)
    sightings = [item for kind in tracked(KINDS, "looking") for item in look(api, place, [kind])]
    plan = plan_sweep(sightings, keep_ids, with_data=backups)
    if not delete or not plan.deletions:
        write_json(as_data(settings.name, plan), json_file)
        print_plan(console, settings.name, plan)
        return 0
    if state is None:
        refuse_living_cluster(plan, stack)
    print_plan(progress, settings.name, plan)
    if not yes:
        typer.confirm(f"Delete {len(plan.deletions)} resources of {settings.name} in {settings.region}?", abort=True, err=True)
    run = Sweep(api, settings.name, access().pause, lambda line: progress.print(line, markup=False), keep_ids, backups)
    with gauge("sweeping", progress) as show:
        outcome = replace(run, show=show).run(plan)
    write_json(as_data(settings.name, plan, outcome), json_file)
    print_outcome(console, outcome)
    return 1 if outcome.left else 0
