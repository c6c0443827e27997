"""`trn image`: build the image of a job with a container tool, or push files as one more layer without any."""

from pathlib import Path
from typing import Annotated

import typer

from trn.cli.options import BreakLock, ClusterName, JsonFile, Stack, StateFile, Yes

Folder = Annotated[Path, typer.Argument(help="Folder with the files of the job.")]
ToolchainName = Annotated[str | None, typer.Option("--toolchain", help="Toolchain of the image. Else the stack's.")]
Base = Annotated[str | None, typer.Option("--base", help="Image to start from, in place of the toolchain's.")]
RepositoryName = Annotated[
    str | None, typer.Option("--repository", help="Repository of the account's registry. Else NAME/training, with the cluster's name.")
]
Tag = Annotated[str | None, typer.Option("--tag", help="Tag of the image. Else it follows from the files.")]
Into = Annotated[str, typer.Option("--into", help="Folder of the files in the image, where work begins.")]
Exclude = Annotated[list[str] | None, typer.Option("--exclude", help="Name or path that stays out, * for any text; may be repeated.")]


def push(
    stack: Stack,
    folder: Folder,
    toolchain: ToolchainName = None,
    base: Base = None,
    repository: RepositoryName = None,
    tag: Tag = None,
    into: Into = "/workspace",
    exclude: Exclude = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be sent and send nothing.")] = False,
    state: StateFile = None,
    yes: Yes = False,
    name: ClusterName = "",
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """Push a folder as one more layer on the toolchain's image to ECR, without any container tool.

    Nothing is installed or run: a folder with a requirements.txt is refused, and built by `trn image build`. Layers that the repository
    has are not sent again, so a push that broke off goes on where it was. The base is read from its registry and sent on once, several
    gigabytes; later pushes send the files alone. Prints the line for the job file, and the digest.

    Example: trn image push dev src, or: trn image push src --toolchain jax-2.32 --dry-run
    """
    from trn.change.clients import access
    from trn.change.executor import carry_out, show
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.jobs.image.change import Push
    from trn.jobs.image.layer import make_layer, selected_for_push
    from trn.jobs.image.place import need_base, need_into

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    chosen, start = need_base(settings, toolchain, base)
    need_into(into)
    files = selected_for_push(folder, exclude or ())
    access().registries()
    change = Push(stack_file, settings, chosen.name, start, make_layer(folder, into, files), into, repository, tag)
    subject = StackCluster(stack_file.project, stack, settings.name, may_be_absent=True)
    with terminal(
        subject, settings.region, "pushing", json_file, state, yes=yes, name=name, break_lock=break_lock
    ) as (site, person):  # fmt: skip
        return show(change, site) if dry_run else carry_out(change, site, person)


def build(
    stack: Stack,
    folder: Folder,
    toolchain: ToolchainName = None,
    base: Base = None,
    repository: RepositoryName = None,
    tag: Annotated[str, typer.Option("--tag", help="Tag of the image.")] = "latest-build",
    into: Into = "/workspace",
    exclude: Exclude = None,
    tool: Annotated[str | None, typer.Option("--tool", help="docker, podman or finch. Else the first that is on PATH.")] = None,
    push_it: Annotated[bool, typer.Option("--push", help="Push it to ECR when it is built; it needs a --tag of its own.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the Dockerfile and the command, and build nothing.")] = False,
    state: StateFile = None,
    yes: Yes = False,
    name: ClusterName = "",
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """Build a job's image from its folder and the toolchain's Dockerfile with docker, podman or finch.

    What a requirements.txt in the folder names is installed, as far as it changes no version of the toolchain. Without --push the image
    stays on this machine, where no node can pull it.

    Example: trn image build src --toolchain xla-2.30 --dry-run, or: trn image build src --tag 1.0 --push
    """
    from trn.change.executor import carry_out
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.cli.output import results, write_json
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.jobs.image.build import Build, ImageBuildReport, built, shown, tool_of
    from trn.jobs.image.change import PushBuilt
    from trn.jobs.image.layer import selected
    from trn.jobs.image.place import need_into, need_push, need_toolchain, repository_name

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    chosen = need_toolchain(settings, toolchain)
    need_into(into)
    files = selected(folder, exclude or ())
    image = f"{repository_name(settings, repository)}:{tag}"
    if push_it:
        need_push(tag)
    if dry_run:
        planned = Build(tool or "docker", chosen, base, into, image)
        write_json(
            ImageBuildReport(
                image=image, toolchain=chosen.name, files=len(files), command=tuple(planned.command(Path("CONTEXT"))), built=False
            ),
            json_file,
        )
        results(json_file).print(shown(planned, folder, files), markup=False, soft_wrap=True)
        return 0
    made = Build(tool_of(tool), chosen, base, into, image)
    built(made, folder, files)
    if not push_it:
        write_json(ImageBuildReport(image=image, toolchain=chosen.name, files=len(files), command=None, built=True), json_file)
        results(json_file).print(f"{image} is built, and is on this machine only: --push sends it to ECR", markup=False, soft_wrap=True)
        return 0
    subject = StackCluster(stack_file.project, stack, settings.name, may_be_absent=True)
    change = PushBuilt(stack_file, settings, chosen.name, made.tool, image, repository, tag)
    with terminal(
        subject, settings.region, "pushing", json_file, state, yes=yes, name=name, break_lock=break_lock
    ) as (site, person):  # fmt: skip
        return carry_out(change, site, person)
