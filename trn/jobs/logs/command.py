"""`trn logs`: the last lines of every worker of a job, worker by worker."""

from typing import Annotated

import typer

from trn.cli import completion
from trn.cli.errors import MISUSE, CommandError
from trn.cli.options import JsonFile, Namespace, Stack


def logs(
    stack: Stack,
    job: Annotated[
        str,
        typer.Argument(
            help="Name of a job of any kind: Volcano Job, PyTorchJob, MPIJob, TrainJob, RayJob, Kubernetes Job, ...",
            autocompletion=completion.jobs,
        ),
    ],
    namespace: Namespace = None,
    tail: Annotated[int, typer.Option("--tail", min=1, help="Lines of each container.")] = 100,
    previous: Annotated[bool, typer.Option("--previous", help="Of the start before: what it said last.")] = False,
    json_file: JsonFile = None,
) -> int:
    """The last lines of every worker of a job, with its node, and why one has not started.

    With --previous those of the start before: Kubernetes has them where a container was started again in its pod; where the whole gang was
    made anew, the job's own entry script kept them beside its checkpoints.

    Example: trn logs dev bert --tail 20, or: trn logs dev bert --previous
    """
    from trn.change.clients import access
    from trn.change.cluster import cluster_of
    from trn.cli.output import results, write_json
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.jobs.logs.workers import LogsReport, workers
    from trn.kubernetes.job_pods import known_jobs

    settings = settings_of(read_stack_file(stack))
    place = namespace or settings.training.namespace
    kubernetes = cluster_of(access().aws(stack, settings.region), settings.name)
    logged = list(workers(kubernetes, job, place, tail, previous=previous))
    if not logged:
        raise CommandError(f"there are no pods of a job `{job}` in {place}", known_jobs(kubernetes, place), code=MISUSE)
    write_json(LogsReport(containers=tuple(logged)), json_file)
    console = results(json_file)
    for worker in logged:
        console.print(f"{worker.pod} {worker.container} on {worker.node}: {worker.state}", style="bold", markup=False, soft_wrap=True)
        for line in worker.lines:
            console.print(f"{worker.pod} | {line}", markup=False, soft_wrap=True)
    return 0
