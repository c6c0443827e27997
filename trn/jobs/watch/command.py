"""`trn watch`: how far a training is, live in a terminal, a line for each step in a pipe, or as a page."""

from pathlib import Path
from typing import Annotated

import typer

from trn.cli import completion
from trn.cli.options import JsonFile, Namespace, Stack


def watch(
    stack: Stack,
    job: Annotated[
        str | None, typer.Argument(help="Name of a job of any kind, or KIND/NAME as kubectl has it.", autocompletion=completion.jobs)
    ] = None,
    namespace: Namespace = None,
    log: Annotated[Path | None, typer.Option("--log", help="Read this file in place of a job's pods. Needs no cluster.")] = None,
    instance: Annotated[str | None, typer.Option("--instance", help="With --log: instance type, for cost and share of the peak.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write a page with curves here, and look only once.")] = None,
    every: Annotated[float, typer.Option("--every", min=1, help="Seconds between two looks.")] = 5,
    once: Annotated[bool, typer.Option("--once", help="Look once, as with --json and --html.")] = False,
    json_file: JsonFile = None,
) -> int:
    """Step, loss, throughput, share of the hardware's peak, goodput, time left and cost of a training, from its log alone.

    The log has them where the job writes the lines of docs/jobs.md, as this program's recipes do. Works after the job has ended, as long
    as its pods are there. Exits with 1 where the log has no step.

    Example: trn watch dev bert, or: trn watch bert --html bert.html, or: trn watch --log bert.log --instance trn1.32xlarge
    """
    from trn.jobs.watch.run import Asked, watch_file, watch_job

    asked = Asked(html, every, once or html is not None or json_file is not None, json_file)
    if log is not None:
        return watch_file(log, instance, asked)
    return watch_job(job, stack, namespace, asked)
