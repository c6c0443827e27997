"""`trn submit`: check a job against stack and cluster, show what would be made, make it."""

from pathlib import Path
from typing import Annotated

import typer

from trn.cli.options import BreakLock, ClusterName, JsonFile, Stack, StateFile


def submit(
    stack: Stack,
    file: Annotated[Path, typer.Argument(help="Job file.")],
    on: Annotated[str | None, typer.Option("--on", help="Launcher, in place of the job file's; docs/jobs.md lists them.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be submitted and make nothing. Needs no cluster.")] = False,
    account: Annotated[
        Path | None, typer.Option("--account", help="File of the network's ids, for launchers outside of the cluster.")
    ] = None,
    state: StateFile = None,
    name: ClusterName = "",
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """Run a training job: check it against the stack and the cluster, render it for its launcher, submit it.

    What the job file leaves open (node group, queue, claim, toolchain) comes from the stack file. Exits with 1, and makes nothing, where
    the cluster cannot run it.

    Example: trn submit job.yaml --dry-run, or: trn submit dev job.yaml --on jobset
    """
    import sys
    from dataclasses import replace

    from stacks.config import parse_settings
    from trn.cli.output import errors
    from trn.engine.job_site import site_of
    from trn.engine.stack_file import read_stack_file
    from trn.jobs.rendering import as_text, read_account, read_job
    from trn.jobs.submit.sending import sending

    stack_file = read_stack_file(stack)
    job = read_job(file)
    settings = parse_settings(stack_file.configuration, stack_file.stack, rehearsal=True)
    site = replace(site_of(settings, stack), account=read_account(account) if account is not None else None)
    made = sending(stack_file, settings, job.model_copy(update={"launcher": on}) if on else job, site, file)
    found = made.rendered()
    for line in (found.summary, *made.lines):
        errors().print(line, markup=False, soft_wrap=True)
    if dry_run:
        sys.stdout.write(as_text(found.objects, found.documents))
        return 0
    made.refuse_documents(found)

    from trn.change.executor import carry_out
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.jobs.submit.change import Submit

    subject = StackCluster(stack_file.project, stack, settings.name)
    with terminal(
        subject, settings.region, "waiting for the API server", json_file, state, yes=False, name=name, break_lock=break_lock
    ) as (place, person):  # fmt: skip
        push = made.push()
        return carry_out(Submit(f"submit {stack} {file}", found, push=push, render=made.rendered if push else None), place, person)
