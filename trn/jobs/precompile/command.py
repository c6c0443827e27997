"""`trn precompile`: fill the compile cache of a job by a short run of it."""

from pathlib import Path
from typing import Annotated

import typer

from facts.typed import typed
from trn.cli.options import BreakLock, ClusterName, JsonFile, Stack, StateFile


def precompile(
    stack: Stack,
    file: Annotated[Path, typer.Argument(help="Job file.")],
    on: Annotated[str | None, typer.Option("--on", help="Launcher, in place of the job file's.")] = None,
    steps: Annotated[int, typer.Option("--steps", min=1, help="Steps of a recipe's short run: enough to meet every graph.")] = 10,
    arg: Annotated[list[str] | None, typer.Option("--arg", help="Word behind the command that keeps it short; may be repeated.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be submitted and make nothing. Needs no cluster.")] = False,
    state: StateFile = None,
    name: ClusterName = "",
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """Fill the compile cache of a job by a short run on its own nodes, so that the job starts warm.

    Stale locks and failed entries of the cache are removed first; nothing is done while another pod uses it. PyTorch/XLA collects all
    graphs and compiles them side by side (neuron_parallel_compile); JAX compiles them one by one as it runs, so that it takes as long as
    its first start would. No checkpoint is read or written, and what the run prints of its loss means nothing.

    Example: trn precompile job.yaml --dry-run, or: trn precompile dev job.yaml
    """
    import sys
    from dataclasses import replace

    from stacks.config import parse_settings
    from trn.aws.api import Api
    from trn.cli.output import errors
    from trn.engine.job_site import site_of
    from trn.engine.stack_file import read_stack_file
    from trn.jobs.precompile.plan import short_run, tool_of, wrapped
    from trn.jobs.rendering import Rendered, as_text, read_job
    from trn.jobs.submit.sending import Sending, sending

    stack_file = read_stack_file(stack)
    settings = parse_settings(stack_file.configuration, stack_file.stack, rehearsal=True)
    site, job = site_of(settings, stack), read_job(file)
    job = job.model_copy(update={"launcher": on}) if on else job
    whole = sending(stack_file, settings, job, site, file)
    planned = whole.rendered().plan
    tool, progress = tool_of(planned), errors()
    short = replace(whole, job=short_run(job, planned, steps, tuple(arg or ())))

    def compiling(made: Sending, api: Api | None = None) -> Rendered:
        found = made.rendered(api)
        return replace(found, objects=wrapped(found.objects, made.job, tool))

    found = compiling(short)
    progress.print(found.summary, markup=False, soft_wrap=True)
    how = "collected, then compiled side by side" if tool != "none" else "compiled one by one as it runs: JAX has no other way"
    progress.print(f"cache {planned.cache}: its graphs are {how}", markup=False, soft_wrap=True)
    if dry_run:
        sys.stdout.write(as_text(found.objects, found.documents))
        return 0

    from trn.change.executor import carry_out
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.jobs.submit.change import Submit

    assert planned.cache is not None
    subject = StackCluster(stack_file.project, stack, settings.name)
    with terminal(
        subject, settings.region, "waiting for the API server", json_file, state, yes=False, name=name, break_lock=break_lock
    ) as (place, person):  # fmt: skip
        push = short.push()
        render = (lambda api: compiling(short, api)) if push else None
        change = Submit(f"precompile {stack} {file}", found, planned.cache, push=push, render=render)
        code = carry_out(change, place, person)
    if code == 0:
        progress.print(f"when it has succeeded, `{typed(f'trn submit {stack} {file}')}` starts warm", markup=False, soft_wrap=True)
    return code
