"""Every changing command, one row each: how it is called, what agrees to it, and what may happen between question and act."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

from facts.names import CLUSTER_TAG, cluster_tags, stack_path
from facts.resources.fsx import FILE_SYSTEM
from operations.aws.ecr import registry_host
from operations.errors import CommandError
from operations.jobs.data.staging import STAGE_LABEL, name_of
from operations.jobs.image.place import usual_repository
from simulator.account import kinds
from simulator.doors.kubernetes.server import ApiServer
from simulator.doors.wire.repository_tasks import OBJECT, TASK
from simulator.outputs import ACCOUNT, CREATED_AT
from tests.change.stage import CLUSTER, REGION, STACK, Call, Ended, Fault, Stage
from tests.operations.aws.cloud import tag_list
from tests.operations.jobs.image.images import put_base
from tests.operations.jobs.image.strict_registry import StrictRegistry
from tests.support import ROOT

GROUP = "trn1-32xl"
REPOSITORY = usual_repository(CLUSTER)
Act = Callable[[Stage], None]


@dataclass(frozen=True)
class Case:
    """One command."""

    words: tuple[str, ...]
    """The command line, without `--yes` and `--json`."""
    agreed: tuple[str, ...]
    """What a person types to agree."""
    acted: Callable[[Stage, Call], tuple[str, str]]
    """Verb and object of a changing call, as the report names what was confirmed."""
    differ: Mapping[str, Act]
    """What makes the second look differ from what was shown, so that it is asked again."""
    is_own: Callable[[str], bool]
    """Whether the command may change the object of a key of `Stage.everything`."""
    refused: Mapping[str, Act] = field(default_factory=dict[str, Act])
    """What makes the second look refuse."""
    prepare: Act = lambda stage: None
    """Done before a run: what the shipped stack has not."""
    ended: Callable[[Stage, Ended, Mapping[str, Any]], bool] = lambda stage, ended, whole: (ended.code, stage.everything()) == (0, whole)
    """Whether the run after one that was stopped ended it. `whole`: what there is after a run that nothing stopped."""
    around: Callable[[Stage], AbstractContextManager[Any]] = lambda stage: nullcontext()
    """Stands around each run: tools of the machine."""


def _resized(stage: Stage, call: Call) -> tuple[str, str]:
    group = stage.found(kinds.NODE_GROUP, f"{call.given['clusterName']}:{call.given['nodegroupName']}").registration
    return f"set to {call.given['scalingConfig']['desiredSize']} nodes", f"{group.outputs['arn']} of 2026-01-01T00:00:00Z"


def set_size(stage: Stage, count: int) -> None:
    """As a colleague does in the console."""
    group = stage.found(kinds.NODE_GROUP, f"{CLUSTER}:{GROUP}").registration
    sizes = {**group.inputs["scalingConfig"], "desiredSize": count}
    stage.engine.world.state.put(replace(group, inputs={**group.inputs, "scalingConfig": sizes}))


def _pushed(stage: Stage, call: Call) -> tuple[str, str]:
    host = registry_host(ACCOUNT, REGION)
    if call.way == "aws":
        return "make", f"arn:aws:ecr:{REGION}:{ACCOUNT}:repository/{call.given['repositoryName']}"
    return "name" if call.name == "PUT manifests" else "send the layers of", f"{host}/{REPOSITORY}:1"


def make_repository(stage: Stage) -> None:
    """As a push before this one did."""
    tags = tag_list(cluster_tags(CLUSTER, stack_path("organization", "trn", STACK)))
    stage.engine.world.state.others.setdefault("repository", {})[REPOSITORY] = {"tags": tags}


def delete_repository(stage: Stage) -> None:
    """As a colleague does in the console."""
    stage.engine.world.state.others["repository"].pop(REPOSITORY, None)
    stage.registries.account.repositories.pop(REPOSITORY, None)


def give_repository_away(stage: Stage) -> None:
    """It is another cluster's."""
    stage.engine.world.state.others["repository"][REPOSITORY] = {"tags": tag_list({CLUSTER_TAG: "another"})}


def name_image(stage: Stage, tag: str, layers: int = 1) -> None:
    """A small image gets the name."""
    put_base(stage.registries.account, REPOSITORY, tag, layers=layers)


def _tool_pushed(stage: Stage, call: Call) -> tuple[str, str]:
    return _pushed(stage, call) if call.way == "aws" else ("push", f"{registry_host(ACCOUNT, REGION)}/{REPOSITORY}:1")


@contextmanager
def container_tool(stage: Stage) -> Iterator[None]:
    """A docker that has built an image, and pushes it. The build is no part of the change: it begins when an image is there."""

    def run(command: list[str], _given: str | None = None) -> None:
        def failed(_: Fault) -> None:
            raise CommandError(f"`docker {command[1]}` ended with exit code 1")

        call = Call("tool", command[1], command, is_change=command[1] == "push")
        stage.through(call, lambda: name_image(stage, "1") if call.is_change else None, failed)

    def image_id(*_: str) -> str:
        return put_base(StrictRegistry(), layers=1)

    given = {"build.run": lambda *_: None, "build.tool_of": lambda _: "docker", "change.run": run, "change.image_id": image_id}
    with ExitStack() as stack:
        for name, value in given.items():
            stack.enter_context(patch(f"operations.jobs.image.{name}", value))
        yield


def link_to_bucket(stage: Stage, which: str = f"dra-{1:0>17}") -> None:
    """The file system is linked to S3, as by `storage.lustre.dataRepository`."""
    (file_system,) = [item.registration.id for item in stage.engine.world.state if item.registration.type == FILE_SYSTEM.token]
    entry = {"AssociationId": which, "FileSystemId": file_system, "FileSystemPath": "/", "DataRepositoryPath": "s3://checkpoints/run"}
    stage.engine.world.state.others["repository association"] = {which: entry}


SOURCE, FOLDER = "s3://sets/tokens/", "/fsx/data/tokens"
STAGING = name_of(SOURCE, FOLDER)


def store(stage: Stage, etag: str = "a") -> None:
    """The set has one file."""
    entry = {"Bucket": "sets", "Key": "tokens/part", "Size": 5, "LastModified": CREATED_AT, "ETag": f'"{etag:0>32}"'}
    stage.engine.world.state.others.setdefault(OBJECT, {})["tokens/part"] = entry


def leave_staging(stage: Stage) -> None:
    """An earlier run has ended, and left what its Job should own."""
    store(stage)
    put_staging(stage, ended=True)


def put_staging(stage: Stage, *, ended: bool) -> None:
    """A Job of this set, and its Secret."""
    server = ApiServer(stage.engine.world)
    metadata = {"name": STAGING, "namespace": "training", "labels": {STAGE_LABEL: CLUSTER}}
    places = {"Secret": "/api/v1/namespaces/training/secrets", "Job": "/apis/batch/v1/namespaces/training/jobs"}
    for kind, place in places.items():
        server.answer("DELETE", f"{place}/{STAGING}")
        status = {"status": {"failed": 1}} if ended and kind == "Job" else {}
        answer = server.answer("POST", place, {"kind": kind, "metadata": metadata, **status})
        assert answer.status == 201


def _staged(stage: Stage, call: Call) -> tuple[str, str]:
    uid = ((call.given or {}).get("preconditions") or {}).get("uid", "")
    before = Stage()
    leave_staging(before)
    if call.name.startswith("DELETE") and uid in [body["metadata"]["uid"] for body in staging_objects(before)]:
        return "delete", uid
    entry = stage.engine.world.state.others[OBJECT]["tokens/part"]
    listed = json.dumps([["part", entry["ETag"].strip('"'), entry["Size"], False]])
    return "stage", f"{SOURCE} {FOLDER} {hashlib.sha256(listed.encode()).hexdigest()[:16]}"


def staging_objects(stage: Stage) -> list[dict[str, Any]]:
    """What has the staging's name in the cluster."""
    server = ApiServer(stage.engine.world)
    places = ("/apis/batch/v1/namespaces/training/jobs", "/api/v1/namespaces/training/secrets", "/api/v1/namespaces/training/configmaps")
    answers = [server.answer("GET", f"{place}/{STAGING}") for place in places]
    return [json.loads(answer.body) for answer in answers if answer.status == 200]


def staging_ended(stage: Stage, ended: Ended, _: Mapping[str, Any]) -> bool:
    """It runs, with all that it reads: begun by this run, or by the one before."""
    there = staging_objects(stage)
    return (len(there), bool(there[0].get("status"))) == (3, False) and (
        ended.code == 0 or "is being staged to this folder already" in ended.err
    )


def begin_task(stage: Stage) -> None:
    """A colleague exports another folder."""
    (link,) = stage.engine.world.state.others["repository association"].values()
    entry = {
        "TaskId": f"task-{0:0>17}",
        "Lifecycle": "EXECUTING",
        "Type": "EXPORT_TO_REPOSITORY",
        "CreationTime": CREATED_AT,
        "Paths": ["other"],
    }
    stage.engine.world.state.others.setdefault(TASK, {})[f"task-{0:0>17}"] = {**entry, "FileSystemId": link["FileSystemId"]}


def _exported(stage: Stage, call: Call) -> tuple[str, str]:
    (which,) = stage.engine.world.state.others["repository association"]
    return f"export /fsx/{call.given['Paths'][0]} to s3://checkpoints/run/{call.given['Paths'][0]}", which


def export_ended(stage: Stage, ended: Ended, whole: Mapping[str, Any]) -> bool:
    """FSx runs it, and refuses a second one until then, or it is begun; never twice."""
    tasks = stage.engine.world.state.others.get(TASK, {})
    return len(tasks) == 1 and ended.code == (0 if ended.report and ended.report["done"] else 1)


CASES: Mapping[str, Case] = {
    "scale": Case(
        words=("scale", STACK, GROUP, "0"),
        agreed=("y",),
        acted=_resized,
        differ={
            "a job started": lambda stage: stage.start("late"),
            "another run set the size": lambda stage: set_size(stage, 1),
            "the group was made again": lambda stage: stage.make_again(kinds.NODE_GROUP, f"{CLUSTER}:{GROUP}", arn="arn:again"),
        },
        is_own=lambda key: key == f"{kinds.NODE_GROUP} {CLUSTER}:{GROUP}",
    ),
    "image push": Case(
        words=("image", "push", STACK, str(ROOT / "training" / "images"), "--tag", "1"),
        agreed=("y",),
        acted=_pushed,
        differ={"the repository was deleted": delete_repository},
        refused={"another image has the name": lambda stage: name_image(stage, "1"), "the repository is another's": give_repository_away},
        is_own=lambda key: key.startswith((f"repository {REPOSITORY}", f"image {REPOSITORY}:", f"layer {REPOSITORY}@")),
        prepare=make_repository,
    ),
    "image build": Case(
        words=("image", "build", STACK, str(ROOT / "training" / "images"), "--tag", "1", "--push"),
        agreed=("y",),
        acted=_tool_pushed,
        differ={"the repository was deleted": delete_repository},
        refused={
            "another image has the name": lambda stage: name_image(stage, "1", layers=2),
            "the repository is another's": give_repository_away,
        },
        is_own=lambda key: key.startswith((f"repository {REPOSITORY}", f"image {REPOSITORY}:", f"layer {REPOSITORY}@")),
        prepare=make_repository,
        around=container_tool,
    ),
    "data export": Case(
        words=("data", "export", STACK, "/fsx/checkpoints/bert"),
        agreed=("y",),
        acted=_exported,
        differ={"the folder was linked again": lambda stage: link_to_bucket(stage, f"dra-{2:0>17}")},
        refused={"another export began": begin_task},
        is_own=lambda key: key.startswith(f"{TASK} "),
        prepare=link_to_bucket,
        ended=export_ended,
    ),
    "data stage": Case(
        words=("data", "stage", STACK, SOURCE, FOLDER, "--detach"),
        agreed=("y",),
        acted=_staged,
        differ={"a file of the set was written again": lambda stage: store(stage, "b")},
        refused={"another run stages it": lambda stage: put_staging(stage, ended=False)},
        is_own=lambda key: key.endswith(f"/{STAGING}"),
        prepare=leave_staging,
        ended=staging_ended,
    ),
}
NOT_YET = {
    "cancel", "capacity buy", "destroy", "drain", "import", "precompile",
    "recover", "roll", "shell", "submit", "sweep", "upgrade", "verify",
}  # fmt: skip
"""Commands that change a cluster or an account and are not carried out by the executor yet. A command that moves leaves this set."""
READS = {
    "addons", "bundle", "capacity calendar", "capacity find", "check", "cost", "data status", "iam", "images", "init", "jobs", "kubeconfig",
    "lint", "logs", "network describe", "plan", "status", "top", "watch", "why",
    "rehearse", "rehearse calendar", "rehearse change", "rehearse chaos", "rehearse crash", "rehearse rules", "rehearse upgrade",
}  # fmt: skip
"""Commands that read, or write files of the caller only."""
PRACTICE = {"engine", "practice down", "practice event", "practice export", "practice job", "practice up"}
"""Commands that act on practice accounts only."""
