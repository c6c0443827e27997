"""`trn why`: what holds a job up, in one sentence, and the next command."""

from typing import Annotated

import typer

from trn.cli import completion
from trn.cli.options import JsonFile, Namespace, Stack


def why(
    stack: Stack,
    job: Annotated[str, typer.Argument(help="Name of a job of any kind, or KIND/NAME as kubectl has it.", autocompletion=completion.jobs)],
    namespace: Namespace = None,
    json_file: JsonFile = None,
) -> int:
    """Why a job does not run: one cause, the first that must be fixed, and the next command.

    Asks the job, its PodGroup, queue, pods and their events, claims and nodes. Exits with 0 where nothing is in its way, with 1 where
    something is.

    Example: trn why dev bert
    """
    from training.phase import Phase
    from trn.change.occupants import view_of
    from trn.cli.output import results, write_json
    from trn.kubernetes.causes.rules import cause
    from trn.kubernetes.jobs.table import WhyReport, cause_fields

    view, place = view_of(stack, namespace)
    found = view.named(job, place)
    reason = cause(view.situation(found))
    counts = f"{found.running} of {found.wanted} nodes run"
    write_json(
        WhyReport(job=found.reference, state=found.phase, nodes_wanted=found.wanted, nodes_running=found.running, **cause_fields(reason)),
        json_file,
    )
    console = results(json_file)
    console.print(f"{found.reference} is {found.phase}: {counts}", markup=False, soft_wrap=True)
    if reason is not None:
        console.print(f"{reason.what}\n  -> {reason.do}", markup=False, soft_wrap=True)
        return 1
    if found.phase in (Phase.WAITING, Phase.RESTARTING):
        console.print("nothing holds it up as far as its scheduler, events, nodes and claims say", markup=False, soft_wrap=True)
    return 0
