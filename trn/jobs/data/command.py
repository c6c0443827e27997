"""`trn data`: stage a data set to the file system, make one of text, export checkpoints to S3, and say which are there."""

from pathlib import Path
from typing import Annotated

import typer

from trn.cli import completion
from trn.cli.options import BreakLock, ClusterName, JsonFile, Namespace, Stack, StateFile, Yes


def stage(
    stack: Stack,
    source: Annotated[str, typer.Argument(help="S3 prefix, address of a file, or a job file with `data.source`.")],
    path: Annotated[str | None, typer.Argument(help="Folder in the pod, below /fsx. Else the job file's `data.path`.")] = None,
    replace: Annotated[
        list[str] | None, typer.Option("--replace", help="File of the set that takes the place of another one of its name there.")
    ] = None,
    sums: Annotated[Path | None, typer.Option("--sha256", help="File of sums, as sha256sum writes it.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be staged and start nothing.")] = False,
    detach: Annotated[bool, typer.Option("--detach", help="Do not wait for its end.")] = False,
    state: StateFile = None,
    yes: Yes = False,
    name: ClusterName = "",
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """Bring a data set from S3 or from an address to the file system, by a pod in the cluster.

    The pod has no right of its own: it reads by addresses that are made with the caller's rights and end after 12 hours, or with the
    caller's login. Each file is verified before it has its name; run it again to go on where it was. What is there, differs and was not staged
    is left as it is, unless --replace names it. Exits with 1 where a file is missing.

    Example: trn data stage dev s3://my-bucket/tokens/ /fsx/data/tokens, or: trn data stage dev job.yaml --dry-run
    """
    from trn.change.clients import access
    from trn.change.executor import carry_out
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.cli.errors import MISUSE, CommandError
    from trn.cli.output import errors, results, write_json
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.jobs.data.source import files_of, read_sums, replacing
    from trn.jobs.data.stage import Stage
    from trn.jobs.data.stage_plan import StagePlanReport, need_file_system, plan_stage, wanted

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    source, path = wanted(source, path)
    need_file_system(settings)
    known = read_sums(sums)
    if dry_run:
        # It needs no cluster.
        files = replacing(files_of(source, access().aws(stack, settings.region), known), replace or (), source)
        plan = plan_stage(source, path, files, settings)
        errors().print(plan.summary, markup=False, soft_wrap=True)
        write_json(StagePlanReport(**plan.said), json_file)
        line = f"nothing was started; it would be the Job {plan.job} in {plan.namespace}"
        results(json_file).print(line, markup=False, soft_wrap=True)
        return 0
    if access().is_practice:
        raise CommandError("no container runs in a practice account", "`--dry-run` shows what would be staged", code=MISUSE)
    change = Stage(stack=stack, settings=settings, path=path, is_detached=detach, source=source, sums=known, replace=replace or ())
    subject = StackCluster(stack_file.project, stack, settings.name)
    with terminal(
        subject, settings.region, "staging", json_file, state, yes=yes, name=name, break_lock=break_lock
    ) as (site, person):  # fmt: skip
        return carry_out(change, site, person)


def prepare(
    stack: Stack,
    file: Annotated[Path, typer.Argument(help="Job file with `data.prepare`.")],
    here: Annotated[
        Path | None,
        typer.Option("--here", help="Folder on this machine in which the set is made, without a cluster, in place of `data.path`."),
    ] = None,
    text: Annotated[
        Path | None, typer.Option("--from", help="File or folder of text on this machine, in place of `data.source`; with --here.")
    ] = None,
    image: Annotated[
        str | None, typer.Option("--image", help="Image with Python, tokenizers and pyarrow. Else a small one, into which pip brings them.")
    ] = None,
    cpus: Annotated[int, typer.Option("--cpus", min=1, max=192, help="CPUs that the pod asks for; it uses what is idle beside them.")] = 2,
    memory: Annotated[int, typer.Option("--memory", min=1, max=1024, help="Memory that the pod asks for, in GiB.")] = 4,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be made and start nothing.")] = False,
    detach: Annotated[bool, typer.Option("--detach", help="Do not wait for its end.")] = False,
    state: StateFile = None,
    yes: Yes = False,
    name: ClusterName = "",
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """Make token shards of text, as the job file's `data.prepare` says, by a CPU job on an ordinary node.

    Text, JSON lines or parquet from S3, from a Hugging Face data set (HF_TOKEN for one that is not public) or from the file system. What
    is done is recorded every half minute: a pod that was killed goes on there, and so does another run of the command. The set is the same
    to the byte however often that happens.

    Example: trn data prepare dev job.yaml, or: trn data prepare job.yaml --here out --from corpus.jsonl
    """
    import os

    from stacks.images import small_image
    from trn.change.clients import access
    from trn.change.executor import carry_out
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.cli.errors import MISUSE, CommandError
    from trn.cli.output import errors, results, write_json
    from trn.engine.job_site import site_of
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.jobs.data.hub import TOKEN
    from trn.jobs.data.prepare import PrepareData, PreparedOn
    from trn.jobs.data.prepare_here import prepare_here
    from trn.jobs.data.prepare_plan import PreparePlanReport, need_data, need_mounts, plan_prepare, request_of
    from trn.jobs.rendering import read_job

    job = read_job(file)
    data, options = need_data(job, str(file))
    token = os.environ.get(TOKEN, "")
    if text is not None and here is None:
        raise CommandError("--from names text on this machine, which no pod sees", "add --here FOLDER, or upload it to S3", code=MISUSE)
    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    if here is not None:
        return prepare_here(data, options, access().aws(stack, settings.region), token, here, text, json_file)
    site, on = site_of(settings, stack), PreparedOn(image=image or small_image(settings), cpus=cpus, memory_gib=memory)
    need_mounts(job, site)
    if dry_run:
        request = request_of(data, options, access().aws(stack, settings.region), token)
        plan = plan_prepare(job, site, request, on.image, cpus, memory)
        errors().print(plan.summary, markup=False, soft_wrap=True)
        write_json(PreparePlanReport(**plan.said), json_file)
        line = f"nothing was started; it would be the Job {plan.job} in {plan.namespace}"
        results(json_file).print(line, markup=False, soft_wrap=True)
        return 0
    if access().is_practice:
        raise CommandError("no container runs in a practice account", "`--dry-run` shows what would be made; --here makes it", code=MISUSE)
    change = PrepareData(
        stack=stack, settings=settings, source=data.source or "", path=data.path, is_detached=detach, file=str(file), job=job, cluster=site,
        on=on, token=token,
    )  # fmt: skip
    subject = StackCluster(stack_file.project, stack, settings.name)
    with terminal(
        subject, settings.region, "preparing", json_file, state, yes=yes, name=name, break_lock=break_lock
    ) as (place, person):  # fmt: skip
        return carry_out(change, place, person)


def export(
    stack: Stack,
    path: Annotated[str, typer.Argument(help="Folder in the pod, below the part of /fsx that is linked to S3.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be exported and start nothing.")] = False,
    state: StateFile = None,
    yes: Yes = False,
    name: ClusterName = "",
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """Have FSx export what is new or changed in a folder to S3. It runs on after the command: `trn data status` says when it is there.

    Example: trn data export dev /fsx/data/checkpoints/bert
    """
    from trn.change.executor import carry_out, show
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.jobs.data.export import Export

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    change = Export(stack, settings, path)
    subject = StackCluster(stack_file.project, stack, settings.name)
    with terminal(
        subject, settings.region, "asking FSx", json_file, state, yes=yes, name=name, break_lock=break_lock
    ) as (site, person):  # fmt: skip
        return show(change, site) if dry_run else carry_out(change, site, person)


def status(
    stack: Stack,
    job: Annotated[str | None, typer.Argument(help="Job whose checkpoints are asked about.", autocompletion=completion.jobs)] = None,
    namespace: Namespace = None,
    state: StateFile = None,
    json_file: JsonFile = None,
) -> int:
    """Say what of the file system is exported, and of a job: safe in S3 since which step. Reads only; exits with 1 where no checkpoint is.

    A checkpoint counts as safe where the bucket has all bytes that the job wrote, and got them after it: by the times of the objects, or
    by an export of the folder that began later and has succeeded.

    Example: trn data status dev bert
    """
    from trn.aws.repository import exports
    from trn.change.clients import access
    from trn.change.cluster import cluster_of
    from trn.change.ownership import StackCluster, read_ownership, refuse_mismatch
    from trn.cli.output import results, write_json
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.jobs.data.place import linked_file_system
    from trn.jobs.data.safety import saves
    from trn.jobs.data.status_view import job_status, link_lines, link_said
    from trn.jobs.watch.source import PodLogs
    from trn.kubernetes.jobs.look import look

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    api = access().aws(stack, settings.region)
    ownership = read_ownership(api, access().pulumi(stack), StackCluster(stack_file.project, stack, settings.name), state)
    refuse_mismatch(ownership)
    place = linked_file_system(api, ownership, settings)
    tasks = exports(api, place.file_system)
    said, lines, code = link_said(place, tasks), link_lines(place, tasks), 0
    if job is not None:
        where = namespace or settings.training.namespace
        kubernetes = cluster_of(api, settings.name)
        found = look(kubernetes, where).named(job, where)
        checkpoints = saves(PodLogs(kubernetes, lambda: found).look(0)[0])
        of_job = job_status(job, checkpoints, place.link, api, tasks)
        said, lines, code = said.model_copy(update=of_job.said), [*lines, *of_job.lines], 0 if of_job.safety.safe else 1
    write_json(said, json_file)
    console = results(json_file)
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
    return code
