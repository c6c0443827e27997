"""`trn drain`: show what would be deleted, ask, delete, wait."""

import typer

from operations.options import JsonFile, Stack, Yes


def drain(stack: Stack = "dev", yes: Yes = False, json_file: JsonFile = None) -> int:
    """Close queues, empty Slurm's nodes, delete jobs of all kinds, load balancers, claims and NodePools, so that a destroy finds an idle cluster.

    What would be done is listed first. Add-ons that are not installed are named and left out. Exits with 1 if something stays.

    Example: trn drain dev --yes
    """
    from operations.access import access
    from operations.cluster.drain.plan import plan_drain
    from operations.cluster.drain.run import Drain
    from operations.cluster.drain.view import as_data, print_left, print_plan
    from operations.kube.cluster import cluster_of
    from operations.output import errors, gauge, results, write_json
    from operations.program import settings_of
    from operations.stack_file import read_stack_file

    settings = settings_of(read_stack_file(stack))
    progress, console = errors(), results(json_file)
    kubernetes = cluster_of(access().aws(stack, settings.region), settings.name)
    plan = plan_drain(kubernetes)
    print_plan(progress, settings.name, plan)
    if plan.counts and not yes:
        typer.confirm(f"Go on in {settings.name}: {plan.counts}?", abort=True, err=True)
    with gauge("draining", progress) as show:
        left = Drain(kubernetes, access().pause, lambda line: progress.print(line, markup=False), show).run(plan)
    write_json(as_data(plan, left), json_file)
    print_left(console, left)
    return 1 if left else 0
