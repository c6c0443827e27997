"""`trn drain`: show what would be deleted, ask, delete, wait."""

from operations.options import BreakLock, ClusterName, JsonFile, Stack, StateFile, Yes


def drain(
    stack: Stack,
    state: StateFile = None,
    yes: Yes = False,
    name: ClusterName = "",
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """Close queues, empty Slurm's nodes, delete jobs of all kinds, load balancers, claims and NodePools, so that a destroy finds an idle cluster.

    What would be done is listed first. Add-ons that are not installed are named and left out. Exits with 1 if something stays.

    Example: trn drain dev --yes
    """
    from operations.access import access
    from operations.asking import consent
    from operations.cluster.drain.plan import DrainPlan, Target
    from operations.cluster.drain.stack import drain_stack
    from operations.cluster.drain.view import as_data, print_left, print_plan
    from operations.output import errors, gauge, reported, results
    from operations.ownership import StackCluster
    from operations.program import settings_of
    from operations.stack_file import read_stack_file
    from operations.watching import Watching

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    progress, console = errors(), results(json_file)
    api = access().aws(stack, settings.region)

    def tell(line: str) -> None:
        progress.print(line, markup=False, soft_wrap=True)

    plan, left = DrainPlan(()), list[Target]()

    def shown(planned: DrainPlan) -> None:
        nonlocal plan
        plan = planned
        left[:] = [step.target for step in planned.steps]
        print_plan(progress, settings.name, planned)

    subject = StackCluster(stack_file.project, stack, settings.name)
    with reported(lambda ended: as_data(plan, left, ended), json_file), gauge("draining", progress) as show:
        watching = Watching(tell, access().pause, show)
        drain_stack(
            api, access().pulumi(stack), subject, consent(yes, name), watching, shown, state_file=state, break_lock=break_lock, left=left
        )
    print_left(console, left)
    return 1 if left else 0
