"""`trn submit`: check a job against the cluster, show what would be made, make it."""

from pathlib import Path
from typing import Annotated

import typer

from operations.options import StackOption


def submit(
    file: Annotated[Path, typer.Argument(help="Job file.")],
    stack: StackOption = "dev",
    on: Annotated[str | None, typer.Option("--on", help="Launcher, in place of the job file's; docs/jobs.md lists them.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the objects as YAML and make nothing. Needs no cluster.")] = False,
) -> int:
    """Run a training job: check it against the stack, render it for its launcher, submit it.

    What the job file leaves open (node group, queue, claim, toolchain) comes from the stack file.

    Example: trn submit job.yaml --dry-run, or: trn submit job.yaml --stack dev --on jobset
    """
    import sys

    from operations.jobs.job_file import read_job
    from operations.jobs.manifest import as_yaml
    from operations.jobs.rendering import rendered
    from operations.jobs.site import site_of
    from operations.output import errors
    from operations.stack_file import read_stack_file
    from stacks.config import parse_settings

    job = read_job(file)
    stack_file = read_stack_file(stack)
    settings = parse_settings(stack_file.configuration, stack_file.stack, rehearsal=True)
    found = rendered(job.model_copy(update={"launcher": on}) if on else job, site_of(settings, stack), str(file))
    errors().print(found.summary, markup=False)
    sys.stdout.write(as_yaml(found.objects))
    return 0
