"""`trn run`: a script on the stack's cluster, with everything chosen that the line leaves open."""

from pathlib import Path
from typing import Annotated

import typer

from facts.typed import typed
from trn.cli.options import BreakLock, ClusterName, JsonFile, Stack, StateFile, Yes


def run(
    stack: Stack,
    script: Annotated[Path, typer.Argument(help="Script that each worker runs, .py or .sh.")],
    words: Annotated[list[str] | None, typer.Argument(help="Words for the script, behind `--`.")] = None,
    nodes: Annotated[int, typer.Option("--nodes", min=1, help="Nodes, all at once or none.")] = 1,
    job: Annotated[str | None, typer.Option("--job", help="Name of the job. Else the script's.")] = None,
    source: Annotated[
        Path | None,
        typer.Option("--source", help="Folder that goes along. Else the script's own in a git repository, and elsewhere the script alone."),
    ] = None,
    toolchain: Annotated[str | None, typer.Option("--toolchain", help="Else the stack's, or one for what the script imports.")] = None,
    image: Annotated[str | None, typer.Option("--image", help="Image to run in. Else the toolchain's.")] = None,
    nodes_of: Annotated[str | None, typer.Option("--group", help="Node group or Karpenter pool. Else the first that can run it.")] = None,
    on: Annotated[str | None, typer.Option("--on", help="Launcher; docs/jobs.md lists them.")] = None,
    time_limit: Annotated[str | None, typer.Option("--time-limit", help="Longest time that it may run, such as 12h.")] = None,
    save: Annotated[Path | None, typer.Option("--save", help="Write the job file here too, for `trn submit`.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be submitted and make nothing. Needs no cluster.")] = False,
    state: StateFile = None,
    yes: Yes = False,
    name: ClusterName = "",
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """Run a script of your own: it goes into the pods with its folder, and everything else is chosen, shown and asked.

    Files that git ignores stay out. Small folders go in a ConfigMap; larger ones become one more layer of the toolchain's image, which is
    pushed to the account's registry without Docker. Toolchain, nodes, launcher, checkpoint folder and compile cache come from the stack
    file. What of the script does not work on Trainium is said first, as by `trn lint SCRIPT`.

    Example: trn run train.py --nodes 2 -- --lr 1e-4, or: trn run dev train.py --save job.yaml --dry-run
    """
    import sys
    from dataclasses import replace

    from facts.yaml_text import write_yaml
    from stacks.config import parse_settings
    from training.job import JobFileError
    from training.lint.scripts import findings_of
    from trn.cli.errors import MISUSE, CompleteError
    from trn.cli.output import errors
    from trn.engine.job_site import site_of
    from trn.engine.stack_file import read_stack_file
    from trn.jobs.lint.script_view import note_lines
    from trn.jobs.rendering import as_text
    from trn.jobs.run.choices import PYTHON, Asked, chosen, job_of, keys
    from trn.jobs.run.files import need_script, save_file
    from trn.jobs.submit.sending import sending

    stack_file = read_stack_file(stack)
    settings = parse_settings(stack_file.configuration, stack_file.stack, rehearsal=True)
    site = site_of(settings, stack)
    asked = Asked(script, tuple(words or ()), nodes, job, source, toolchain, image, nodes_of, on, time_limit)
    text = need_script(script)
    beside = save.parent if save is not None else Path()
    try:
        values = keys(asked, site, text, beside)
        made = replace(sending(stack_file, settings, job_of(values), site, beside / "job.yaml"), where="what was asked for")
        found = made.rendered()
    except JobFileError as error:
        raise CompleteError(str(error), code=MISUSE) from error
    linted = (
        [] if script.suffix != PYTHON else findings_of(text, found.plan.toolchain.framework if found.plan.toolchain is not None else None)
    )
    for line in (found.summary, *made.lines, *chosen(found.plan, found.launcher.title), *note_lines(linted, str(script))):
        errors().print(line, markup=False, soft_wrap=True)
    if save is not None:
        save_file(save, write_yaml(values))
        errors().print(f"{save} is the job file: `{typed(f'trn submit {stack} {save}')}`", markup=False, soft_wrap=True)
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
        subject, settings.region, "waiting for the API server", json_file, state, yes=yes, name=name, break_lock=break_lock
    ) as (place, person):  # fmt: skip
        push = made.push()
        change = Submit(f"run {stack} {script}", found, push=push, is_run=True, render=made.rendered if push else None)
        return carry_out(change, place, person)
