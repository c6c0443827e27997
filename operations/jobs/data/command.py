"""`trn data`: stage a data set to the file system, export checkpoints to S3, and say which are there."""

from pathlib import Path
from typing import Annotated

import typer

from operations.command_line import completion
from operations.options import ClusterName, JsonFile, Namespace, Stack, StateFile, Yes


def stage(
    stack: Stack,
    source: Annotated[str, typer.Argument(help="S3 prefix, address of a file, or a job file with `data.source`.")],
    path: Annotated[str | None, typer.Argument(help="Folder in the pod, below /fsx. Else the job file's `data.path`.")] = None,
    sums: Annotated[Path | None, typer.Option("--sha256", help="File of sums, as sha256sum writes it.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be staged and start nothing.")] = False,
    detach: Annotated[bool, typer.Option("--detach", help="Do not wait for its end.")] = False,
    state: StateFile = None,
    yes: Yes = False,
    name: ClusterName = "",
    json_file: JsonFile = None,
) -> int:
    """Bring a data set from S3 or from an address to the file system, by a pod in the cluster.

    The pod has no right of its own: it reads by addresses that are made with the caller's rights and end after 12 hours, or with the
    caller's login. Each file is verified before it has its name; run it again to go on where it was. Exits with 1 where a file is missing.

    Example: trn data stage s3://my-bucket/tokens/ /fsx/data/tokens, or: trn data stage job.yaml --dry-run
    """
    from operations.access import access
    from operations.asking import consent
    from operations.errors import MISUSE, CommandError
    from operations.jobs.data import staging
    from operations.jobs.data.source import files_of, need_source, packed, read_sums
    from operations.jobs.job_file import read_job
    from operations.jobs.submit.apply import submit
    from operations.kube.cluster import cluster_of
    from operations.output import errors, results, write_json
    from operations.ownership import StackCluster, agreed, read_ownership, refuse_change
    from operations.program import settings_of
    from operations.stack_file import read_stack_file
    from stacks.images import small_image
    from training.job import PATH, SHARED_PATH

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    if source.endswith((".yaml", ".yml")):
        data = read_job(Path(source)).data
        if data is None or data.source is None:
            raise CommandError(
                f"{source} has no `data.source`",
                "name the set and its folder: `trn data stage s3://my-bucket/set/ /fsx/data/set`",
                code=MISUSE,
            )
        source, path = data.source, path or data.path
    need_source(source)
    if path is None or not PATH.fits(path) or not path.startswith(f"{SHARED_PATH}/") or ".." in path.split("/"):
        raise CommandError(
            f"the folder is `{path or ''}`\n  allowed: a path below {SHARED_PATH}, where the pod has the file system",
            f"write such as {SHARED_PATH}/data/tokens",
            code=MISUSE,
        )
    if not settings.storage.lustre.enabled:
        raise CommandError(
            "the stack has no file system: `storage.lustre.enabled` is false", "set it to true, then `pulumi up`", code=MISUSE
        )
    known = read_sums(sums)
    progress = errors()

    def tell(line: str) -> None:
        progress.print(line, markup=False, soft_wrap=True)

    api = access().aws(stack, settings.region)
    files = files_of(source, api, known)
    size = sum(item.size or 0 for item in files)
    tell(
        f"{len(files)} files{f', {size:,} bytes' if size else ''} of {source} to {path}; {sum(bool(item.sha256) for item in files)} with a SHA-256"
    )
    job_name, namespace = staging.name_of(source, path), settings.training.namespace
    made = staging.objects(
        job_name, namespace, settings.name, small_image(settings), settings.storage.lustre.claim_name, SHARED_PATH, path, packed(files)
    )
    said = {"source": source, "path": path, "files": len(files), "bytes": size, "job": job_name, "namespace": namespace}
    if dry_run:
        write_json({**said, "started": False}, json_file)
        results(json_file).print(f"nothing was started; it would be the Job {job_name} in {namespace}", markup=False, soft_wrap=True)
        return 0
    if access().is_practice:
        raise CommandError("no container runs in a practice account", "`--dry-run` shows what would be staged", code=MISUSE)
    kubernetes = cluster_of(api, settings.name)
    ownership = read_ownership(api, access().pulumi(stack), StackCluster(stack_file.project, stack, settings.name), state)
    given = consent(yes, name)
    agreed(ownership, given, tell)
    given.agree(f"Stage {len(files)} files to {path} in {settings.name}?")
    refuse_change(api, ownership)
    staging.clear(made[-1], kubernetes, settings.name, access().pause)
    submit(made, kubernetes, tell)
    if detach:
        write_json({**said, "started": True}, json_file)
        results(json_file).print(f"started: `kubectl -n {namespace} logs -f job/{job_name}`", markup=False, soft_wrap=True)
        return 0
    found = staging.follow(made[-1], kubernetes, access().pause, tell)
    is_whole = found.is_done and found.files == len(files)
    write_json({**said, "started": True, "staged": found.files, "verified": dict(found.verified), "failed": found.failed}, json_file)
    for which, why in list(found.failed.items())[:10]:
        tell(f"{which}: {why}")
    ways = ", ".join(f"{count} by {by}" if by != "kept" else f"{count} there already" for by, count in sorted(found.verified.items()))
    text = f"{found.files} of {len(files)} files are in {path}: {ways}" if found.files else f"no file is in {path}"
    if found.has_ended_addresses:
        text += "; the addresses have ended: run it again, what is there is kept"
    results(json_file).print(text, markup=False, soft_wrap=True)
    return 0 if is_whole else 1


def export(
    stack: Stack,
    path: Annotated[str, typer.Argument(help="Folder in the pod, below the part of /fsx that is linked to S3.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be exported and start nothing.")] = False,
    state: StateFile = None,
    yes: Yes = False,
    name: ClusterName = "",
    json_file: JsonFile = None,
) -> int:
    """Have FSx export what is new or changed in a folder to S3. It runs on after the command: `trn data status` says when it is there.

    Example: trn data export dev /fsx/data/checkpoints/bert
    """
    from operations.access import access
    from operations.asking import consent
    from operations.aws.repository import begin_export, exports
    from operations.errors import MISUSE, CommandError
    from operations.jobs.data.place import linked_file_system
    from operations.jobs.data.safety import RUNNING
    from operations.output import errors, results, write_json
    from operations.ownership import agreed, refuse_change
    from operations.program import settings_of
    from operations.stack_file import read_stack_file
    from training.job import SHARED_PATH

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    progress = errors()

    def tell(line: str) -> None:
        progress.print(line, markup=False, soft_wrap=True)

    api = access().aws(stack, settings.region)
    place = linked_file_system(api, stack_file, settings, state)
    key = place.link.key(path, SHARED_PATH)
    if key is None:
        linked = f"{SHARED_PATH}{place.link.folder}".rstrip("/")
        raise CommandError(
            f"`{path}` is not linked to S3\n  allowed: a folder below {linked}", f"write checkpoints below {linked}", code=MISUSE
        )
    if running := [task for task in exports(api, place.file_system) if task["Lifecycle"] in RUNNING]:
        raise CommandError(
            f"{running[0]['TaskId']} exports already; FSx runs one at a time", f"`trn data status {stack}` says how far it is"
        )
    inside = path.removeprefix(SHARED_PATH).strip("/")
    tell(
        f"{path} of {place.file_system} to s3://{place.link.bucket}/{key}{', which FSx does by itself too' if place.link.exports_itself else ''}"
    )
    said = {"fileSystem": place.file_system, "path": inside, "to": f"s3://{place.link.bucket}/{key}"}
    if dry_run:
        write_json({**said, "started": False}, json_file)
        results(json_file).print("nothing was started", markup=False)
        return 0
    given = consent(yes, name)
    agreed(place.ownership, given, tell)
    given.agree(f"Export {path} of {place.file_system}?")
    refuse_change(api, place.ownership)
    task = begin_export(api, place.file_system, inside, place.tags)
    write_json({**said, "started": True, "task": task["TaskId"]}, json_file)
    results(json_file).print(f"{task['TaskId']} is {task['Lifecycle']}: `trn data status {stack}` follows it", markup=False, soft_wrap=True)
    return 0


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
    from operations.access import access
    from operations.aws.repository import exports, objects
    from operations.jobs.data.place import linked_file_system
    from operations.jobs.data.safety import Stored, safety, saves, seconds_of, task_line
    from operations.jobs.listing.look import look
    from operations.jobs.watch.source import PodLogs
    from operations.kube.cluster import cluster_of
    from operations.output import results, write_json
    from operations.program import settings_of
    from operations.stack_file import read_stack_file
    from training.job import SHARED_PATH

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    api = access().aws(stack, settings.region)
    place = linked_file_system(api, stack_file, settings, state)
    link, tasks = place.link, exports(api, place.file_system)
    shown = [
        {"task": task["TaskId"], "state": task["Lifecycle"], "paths": task.get("Paths", []), "files": task.get("Status", {})}
        for task in tasks[:5]
    ]
    said = {
        "fileSystem": place.file_system,
        "folder": f"{SHARED_PATH}{link.folder}",
        "to": link.uri,
        "exportsItself": link.exports_itself,
        "tasks": shown,
    }
    lines = [
        f"{SHARED_PATH}{link.folder} of {place.file_system} is linked to {link.uri}; "
        + (
            "FSx exports what is new or changed by itself, some time after it is written"
            if link.exports_itself
            else "nothing is exported by itself"
        ),
        *(task_line(task) for task in tasks[:5]),
    ]
    code = 0
    if job is not None:
        where = namespace or settings.training.namespace
        kubernetes = cluster_of(api, settings.name)
        found = look(kubernetes, where).named(job, where)
        checkpoints = saves(PodLogs(kubernetes, lambda: found).look(0)[0])
        keys = [key for one in checkpoints if (key := link.key(one.path, SHARED_PATH)) is not None]
        folders = sorted({key.rpartition("/")[0] for key in keys})
        stored = {
            entry["Key"]: Stored(int(entry["Size"]), seconds_of(entry["LastModified"]))
            for folder in folders
            for entry in objects(api, link.bucket, f"{folder}/" if folder else "")
        }
        outcome = safety(checkpoints, link, SHARED_PATH, stored, tasks)
        said |= {
            "job": job,
            "safeStep": outcome.safe.step if outcome.safe else None,
            "newestStep": outcome.newest.step if outcome.newest else None,
        }
        outside = [one for one in checkpoints if link.key(one.path, SHARED_PATH) is None]
        if outside:
            lines.append(f"{outside[-1].path} is not below {SHARED_PATH}{link.folder}: it is never exported")
        lines.append(f"{job}: {outcome.text}")
        code = 0 if outcome.safe else 1
    write_json(said, json_file)
    console = results(json_file)
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
    return code
