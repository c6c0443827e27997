"""`trn cancel`: show what would end, ask, ask the workers for a checkpoint, delete, wait."""

from typing import Annotated

import typer

from operations.command_line import completion
from operations.options import ClusterName, JsonFile, Namespace, Stack, StateFile, Yes


def cancel(
    stack: Stack,
    job: Annotated[str, typer.Argument(help="Name of a job of any kind, or KIND/NAME as kubectl has it.", autocompletion=completion.jobs)],
    namespace: Namespace = None,
    now: Annotated[bool, typer.Option("--now", help="Give the workers no time for a checkpoint.")] = False,
    state: StateFile = None,
    yes: Yes = False,
    name: ClusterName = "",
    json_file: JsonFile = None,
) -> int:
    """End a job of any kind and delete it, with a checkpoint first where it keeps any.

    Its pods get SIGTERM and the job's own grace, `checkpoints.grace`, in which the entry script has the workers save. Exits with 1 where
    something stays, or where no worker said that it saved although the job keeps checkpoints.

    Example: trn cancel dev bert, or: trn cancel bert --now --yes
    """
    from operations.access import access
    from operations.asking import consent
    from operations.jobs.cancel.plan import plan_cancel
    from operations.jobs.cancel.run import cancel_job
    from operations.jobs.listing.look import look
    from operations.kube.cluster import cluster_of
    from operations.output import errors, results, write_json
    from operations.ownership import StackCluster, agreed, read_ownership, refuse_change
    from operations.program import settings_of
    from operations.stack_file import read_stack_file

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    place, progress = namespace or settings.training.namespace, errors()

    def tell(line: str) -> None:
        progress.print(line, markup=False, soft_wrap=True)

    api = access().aws(stack, settings.region)
    ownership = read_ownership(api, access().pulumi(stack), StackCluster(stack_file.project, stack, settings.name), state)
    given = consent(yes, name)
    identity = agreed(ownership, given, tell)
    kubernetes = cluster_of(api, settings.name)
    view = look(kubernetes, place)
    plan = plan_cancel(view, view.named(job, place), now=now)
    for line in plan.lines:
        tell(line)
    given.agree(f"Cancel {plan.job.reference} in {settings.name} in {identity.region}, account {identity.account}?")
    refuse_change(api, ownership)
    outcome = cancel_job(plan, kubernetes, access().pause, tell)
    said = {"job": plan.job.reference, "isGone": outcome.is_gone, "checkpointExpected": plan.saves, "checkpointStep": outcome.saved_step}
    write_json(said, json_file)
    console = results(json_file)
    if not outcome.is_gone:
        text = f"{plan.job.reference} is still there: `trn why {stack} {plan.job.name}`, or run this again"
    elif plan.saves and outcome.saved_step is None:
        text = f"{plan.job.reference} is gone, and no worker said that it saved a checkpoint: the last one in {plan.folder} counts"
    else:
        kept = f", with a checkpoint of step {outcome.saved_step} in {plan.folder}" if outcome.saved_step is not None else ""
        text = f"{plan.job.reference} is gone{kept}"
    console.print(text, markup=False, soft_wrap=True)
    return 0 if outcome.is_gone and (outcome.saved_step is not None or not plan.saves) else 1
