"""`trn sweep`: show what is left and what it costs a day, ask, delete, and say what stays."""

from typing import Annotated

import typer

from trn.cli.options import BreakLock, ClusterName, Data, Identity, JsonFile, Stack, StateFile, Yes


def sweep(
    stack: Stack,
    state: StateFile = None,
    delete: Annotated[bool, typer.Option("--delete", help="Delete what is listed, after a question.")] = False,
    yes: Yes = False,
    name: ClusterName = "",
    identity: Identity = "",
    data: Data = None,
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """List what a cluster left in the account and what it costs a day; with --delete, delete it. Exits with 1 if something stays.

    Found by exact tags and the cluster's own VPC, never by a name that looks alike. What is another stack's, what Pulumi's state
    holds, and data is kept, each with the reason. Only what was shown is deleted.

    Example: trn sweep dev, then: trn sweep dev --delete
    """
    from stacks.external import existing_ids
    from stacks.settings import existing_vpc
    from trn.aws.leftovers import KINDS
    from trn.aws.places import look, place_of
    from trn.change.clients import access
    from trn.change.executor import carry_out
    from trn.change.ownership import StackCluster
    from trn.change.sweep_plan import Keeping, plan_sweep
    from trn.change.terminal import terminal
    from trn.change.whose import read_whose
    from trn.cli.output import results, tracked, write_json
    from trn.ending.sweep.change import Sweep
    from trn.ending.sweep.plan import refuse_data
    from trn.ending.sweep.view import SweepListReport, lines_of, plan_fields, print_living, print_plan, print_stacks
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    subject = StackCluster(stack_file.project, stack, settings.name, existing_vpc(settings), existing_ids(settings))
    api, console = access().aws(stack, settings.region), results(json_file)
    change = Sweep(stack, refuse_data(data or ()), settings.storage.lustre.final_backup, identity)
    with terminal(
        subject, settings.region, "sweeping", json_file, state, yes=yes, name=name, break_lock=break_lock
    ) as (site, person):  # fmt: skip
        if delete:
            return carry_out(change, site, person)
        if state is not None:
            whose = read_whose(site)
            plan = change.planned(site, whose).plan
            write_json(SweepListReport(**plan_fields(settings.name, plan), identity=whose.ownership.identity), json_file)
            for line in (*whose.lines(), *lines_of(settings.name, plan)):
                console.print(line, markup=False, soft_wrap=isinstance(line, str))
            return 0
    found = list(look(api, place_of(api, settings.name), list(tracked(KINDS, "looking"))))
    plan = plan_sweep(found, Keeping(data=change.with_data))
    write_json(SweepListReport(**plan_fields(settings.name, plan), identity=None), json_file)
    print_plan(console, settings.name, plan)
    print_stacks(console, plan.deletions)
    print_living(console, plan.deletions)
    return 0
