"""Every changing command, one row each: how it is called, what agrees to it, and what may happen between question and act."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from errno import ENOLCK
from fcntl import flock
from functools import cache
from os import fstat
from pathlib import Path
from typing import Any
from unittest.mock import patch

from addons import volcano
from addons.versions import managed_addon_version
from facts.names import BLOCK_GROUP_TAG, CLUSTER_TAG, OFFER_TAG, cluster_tags, stack_path
from facts.resources.ec2_network import VPC
from facts.resources.fsx import FILE_SYSTEM
from facts.toolchains import DEFAULT_TOOLCHAIN, TOOLCHAINS
from simulator.account import kinds
from simulator.account.world import World
from simulator.aws_endpoint.capacity import BOUGHT, OFFER
from simulator.aws_endpoint.entries import made_id
from simulator.aws_endpoint.repository_tasks import OBJECT, TASK
from simulator.engine.run import Engine, Kill
from simulator.engine.state import State
from simulator.kubernetes_endpoint.server import ApiServer
from simulator.outputs import ACCOUNT, CREATED_AT
from tests.support import ROOT, dev_configuration, record_stack
from tests.trn.aws.cloud import tag_list
from tests.trn.change.stage import (
    CLUSTER,
    IMPORT_FILE,
    JOB,
    OTHER_STACK,
    OTHER_STACK_FILE,
    PROJECT_FILE,
    REGION,
    STACK,
    Call,
    Ended,
    Fault,
    Stage,
)
from tests.trn.jobs.image.images import put_base
from tests.trn.jobs.image.strict_registry import StrictRegistry
from training.payload import SOURCE as SOURCE_FOLDER
from trn.aws.ecr import registry_host
from trn.before.check import capacity
from trn.before.import_cluster.plan import Aftermath
from trn.change.action import Outcome, written
from trn.change.identity import File
from trn.cli.errors import CommandError
from trn.cli.text_files import write_text
from trn.jobs.data.staging import STAGE_LABEL, name_of
from trn.jobs.image.layer import make_layer
from trn.jobs.image.place import usual_repository
from trn.jobs.source import OwnFiles
from trn.kubernetes.job_end import STOPPED_BY_ROLL
from trn.running.roll.plan import is_of
from trn.running.shell.pod import SHELL_LABEL
from trn.running.subject import NODES
from trn.running.upgrade.timed import timed

GROUP, OTHER, JOBS = "trn1-32xl", "trn1n-32xl", "kubernetes:batch.volcano.sh/v1alpha1:Job"
REPOSITORY = usual_repository(CLUSTER)
Act = Callable[[Stage], object]


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
    prepare: Act = lambda stage: None
    """What is there beside the stack before it begins."""
    goes_on: bool = False
    """Whether what was confirmed is done though the second look differs: what is new stays, and is reported."""
    lease: str = ""
    """The Lease that it holds, or the file; empty: the cluster's lock."""
    breaks: bool = True
    """Whether `--break-lock` takes it from another run."""
    yes: tuple[str, ...] = ("--yes",)
    """What agrees in advance; nothing for a command that has no question."""
    next_yes: tuple[str, ...] = ()
    """What agrees beside it to a run after one that was stopped: by then the state may not say any more whose the cluster is."""
    refused: Mapping[str, Act] = field(default_factory=dict[str, Act])
    """What makes the second look refuse."""
    again: int = 0
    """Exit code of another run after one that has done it all."""
    ended: Callable[[Stage, Ended, Mapping[str, Any]], bool] | None = None
    """Whether the run after one that was stopped ended it, where that is not to be as after a run that nothing stopped, the last argument."""
    around: Callable[[Stage], AbstractContextManager[Any]] = lambda stage: nullcontext()
    """Stands around each run: tools of the machine."""
    is_long: bool = False
    """Whether it is walked with the mark `long` only: another way through a command that has a row, or one that takes seconds."""
    is_well: Callable[[Mapping[str, Any]], bool] = lambda report: True
    """Whether what it has found out is well. Else its exit code says so, though all was done, and what could not be seen holds up nothing else."""
    draws: int = 120
    """How many of its calls are tried in a column of the long tier, beside those that change something."""


def _resized(stage: Stage, call: Call) -> tuple[str, str]:
    group = stage.found(kinds.NODE_GROUP, f"{call.given['clusterName']}:{call.given['nodegroupName']}").registration
    return f"set to {call.given['scalingConfig']['desiredSize']} nodes", f"{group.outputs['arn']} of 2026-01-01T00:00:00Z"


def _drained(stage: Stage, call: Call) -> tuple[str, str]:
    if call.name.startswith("DELETE"):
        return "delete", call.given["preconditions"]["uid"]
    return ("close", call.given["target"]["uid"]) if call.name.startswith("POST") else ("empty", call.given["metadata"]["uid"])


def _cancelled(stage: Stage, call: Call) -> tuple[str, str]:
    return "delete", str(call.given["preconditions"]["uid"])


def _submitted(command: str, name: str) -> Case:
    """What is beside the job is confirmed with it: all of it is made, or nothing."""
    path = f"/apis/batch.volcano.sh/v1alpha1/namespaces/training/jobs/{name}"
    uid = f"uid-{JOBS}-training/{name}"

    def acted(stage: Stage, call: Call) -> tuple[str, str]:
        assert name in call.name or name in call.given["metadata"]["name"]
        # A submission that was cut off has a job.
        is_rest = call.name.startswith("PATCH") and not any(each.name.startswith("POST") for _, each in stage.changes)
        return ("complete", uid) if is_rest else ("submit", path)

    return Case(
        words=(command, STACK, str(ROOT / "training/recipes/bert/job.yaml")),
        agreed=(),
        acted=acted,
        differ={},
        is_own=lambda key: key in (f"{JOBS} training/{name}", f"kubernetes:core/v1:ConfigMap training/{name}-entry"),
        lease=f"trn-{name}",
        yes=(),
        refused={"another made it": lambda stage: stage.start(name)},
        again=1,
    )


SCRIPT = ROOT / "tests/trn/jobs/run/script.py"


def _ran() -> dict[str, Case]:
    """`trn run`: as `trn submit`, but asked; and with the script as a layer of an image, which is pushed before."""
    small = replace(
        _submitted("run", "script"),
        words=("run", STACK, str(SCRIPT), "--source", str(SCRIPT)),
        agreed=("y",),
        yes=("--yes",),
        differ={},
    )

    def acted(stage: Stage, call: Call) -> tuple[str, str]:
        if call.way == "kubernetes":
            return small.acted(stage, call)
        verb, which = _pushed(stage, call)
        return verb, which if verb == "make" else f"{which.rpartition(':')[0]}:{_tag()}"

    large = replace(
        small,
        acted=acted,
        is_own=lambda key: (
            small.is_own(key) or key.startswith((f"repository {REPOSITORY}", f"image {REPOSITORY}:", f"layer {REPOSITORY}@"))
        ),
        around=lambda stage: patch("trn.jobs.source.room_bytes", lambda: 0),
        is_long=True,
        draws=20,
    )
    return {"run": small, "run --source": large}


@cache
def _tag() -> str:
    base = TOOLCHAINS[DEFAULT_TOOLCHAIN].image or ""
    return OwnFiles(make_layer(SCRIPT.parent, SOURCE_FOLDER, [SCRIPT]), "image").tag(DEFAULT_TOOLCHAIN, base)


def set_size(stage: Stage, count: int, name: str = GROUP) -> None:
    """As a colleague does in the console."""
    group = stage.found(kinds.NODE_GROUP, f"{CLUSTER}:{name}").registration
    sizes = {**group.inputs["scalingConfig"], "desiredSize": count}
    stage.engine.world.state.put(replace(group, inputs={**group.inputs, "scalingConfig": sizes}))


def leave(stage: Stage, mark: str) -> None:
    """What a run of the stack that was killed made, and no state holds: a network and an address."""
    tags = {"Tags": tag_list(cluster_tags(CLUSTER, stack_path("organization", "trn", STACK)))}
    vpc = {"VpcId": f"vpc-{mark}", **tags}
    for kind, key, entry in (("vpc", "VpcId", vpc), ("subnet", "SubnetId", vpc), ("address", "AllocationId", tags)):
        which = f"{kind}-{mark}"
        stage.engine.world.state.others.setdefault(kind, {})[which] = {**entry, key: which}


def _swept(_: Stage, call: Call) -> tuple[str, str]:
    return "delete", next(call.given[key] for key in ("SubnetId", "VpcId", "AllocationId") if key in call.given)


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
            stack.enter_context(patch(f"trn.jobs.image.{name}", value))
        yield


def link_to_bucket(stage: Stage, which: str = f"dra-{1:0>17}") -> None:
    """The file system is linked to S3, as by `storage.lustre.dataRepository`."""
    (file_system,) = [item.registration.id for item in stage.engine.world.state if item.registration.type == FILE_SYSTEM.token]
    entry = {"AssociationId": which, "FileSystemId": file_system, "FileSystemPath": "/", "DataRepositoryPath": "s3://checkpoints/run"}
    stage.engine.world.state.others["repository association"] = {which: entry}


SOURCE, FOLDER = "s3://sets/tokens/", "/fsx/data/tokens"
STAGING = name_of(FOLDER)


def store(stage: Stage, etag: str = "a") -> None:
    """The set has one file."""
    entry = {"Bucket": "sets", "Key": "tokens/part.jsonl", "Size": 5, "LastModified": CREATED_AT, "ETag": f'"{etag:0>32}"'}
    stage.engine.world.state.others.setdefault(OBJECT, {})["tokens/part.jsonl"] = entry


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
    entry = stage.engine.world.state.others[OBJECT]["tokens/part.jsonl"]
    listed = json.dumps([["part.jsonl", entry["ETag"].strip('"'), entry["Size"], False]])
    return "stage", f"{SOURCE} {FOLDER} {hashlib.sha256(listed.encode()).hexdigest()[:16]}"


def _prepared(stage: Stage, call: Call) -> tuple[str, str]:
    verb, which = _staged(stage, call)
    if verb == "delete":
        return verb, which
    entry = stage.engine.world.state.others[OBJECT]["tokens/part.jsonl"]
    listed = [
        {"name": "/fsx/tokenizer.json", "path": "/fsx/tokenizer.json"},
        {"name": "part.jsonl", "size": entry["Size"], "etag": entry["ETag"].strip('"'), "sha256": "", "replace": False},
    ]
    options = {"files": None, "text": "text", "documents": "blank-line", "sentences": None, "begin": None, "end": None, "validation": 0.25}
    return "prepare", f"{SOURCE} {FOLDER} {hashlib.sha256(json.dumps([options, listed]).encode()).hexdigest()[:16]}"


def store_weights(stage: Stage, etag: str = "a") -> None:
    """The source has a model of one file."""
    entry = {"Bucket": "sets", "Key": "tokens/model.safetensors", "Size": 5, "LastModified": CREATED_AT, "ETag": f'"{etag:0>32}"'}
    stage.engine.world.state.others.setdefault(OBJECT, {})["tokens/model.safetensors"] = entry


def leave_import(stage: Stage) -> None:
    """The same, of a model; what else lies beside it is not copied."""
    leave_staging(stage)
    store_weights(stage)


def _imported(stage: Stage, call: Call) -> tuple[str, str]:
    verb, which = _staged(stage, call)
    if verb == "delete":
        return verb, which
    entry = stage.engine.world.state.others[OBJECT]["tokens/model.safetensors"]
    listed = json.dumps([["model.safetensors", entry["ETag"].strip('"'), entry["Size"], False]])
    return "stage", f"{SOURCE} {FOLDER} {hashlib.sha256(listed.encode()).hexdigest()[:16]}"


CHECKPOINTS = "/fsx/checkpoints/llama"


def _weights_exported(stage: Stage, call: Call) -> tuple[str, str]:
    verb, which = _staged(stage, call)
    return (verb, which) if verb == "delete" else ("export", f"{CHECKPOINTS} {FOLDER} ")


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
        ended.code == 0 or "to this folder already" in ended.err or "staged to it, already" in ended.err
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


BLOCK = "cb-0123456789abcdef0"
BLOCK_ID = made_id("cr", BLOCK)


def put_offer(stage: Stage, which: str = BLOCK, days: int = 3, zone: str = "us-west-24") -> None:
    """A block on offer."""
    starts = datetime.now(UTC).replace(hour=11, minute=30, second=0, microsecond=0) + timedelta(days=days)
    stage.around.blocks = [
        {
            OFFER: which, "InstanceType": "trn1.32xlarge", "InstanceCount": 2, "AvailabilityZone": zone,
            "StartDate": f"{starts:%Y-%m-%dT%H:%M:%SZ}", "EndDate": f"{starts + timedelta(hours=72):%Y-%m-%dT%H:%M:%SZ}",
            "CapacityBlockDurationHours": 72, "UpfrontFee": "3094.61", "CurrencyCode": "USD",
        }
    ]  # fmt: skip


def buy_block(stage: Stage, offer: str) -> None:
    """On another computer, for the same group."""
    (entry,) = stage.around.blocks
    tags = {CLUSTER_TAG: CLUSTER, BLOCK_GROUP_TAG: GROUP, OFFER_TAG: offer}
    own = {"CapacityReservationId": made_id("cr", offer), "State": "scheduled", "Tags": tag_list(tags), "ReservationType": "capacity-block"}
    sizes = {"TotalInstanceCount": 2, "AvailableInstanceCount": 2, "AvailabilityZoneId": "usw2-az4"}
    stage.engine.world.state.others.setdefault(BOUGHT, {})[own["CapacityReservationId"]] = {**entry, **own, **sizes, OFFER: offer}


def block_ended(stage: Stage, ended: Ended, whole: Mapping[str, Any]) -> bool:
    """Bought once, and in the stack file; the token on it is the run's that sent the request, and no record stays."""
    blocks = stage.engine.world.state.others[BOUGHT]
    return (ended.code, list(blocks), stage.stack_file, stage.built) == (0, [BLOCK_ID], whole["file"], {})


def _edited(stage: Stage) -> None:
    stage.edit("size: 2\n", "size: 2\n      rootVolumeGib: 300\n")


def _is_rolled(key: str) -> bool:
    inside = ("kubernetes:core/v1:Node ", "kubernetes:batch.volcano.sh/v1alpha1:Job training/")
    return key in ("state", f"{kinds.NODE_GROUP} {CLUSTER}:{GROUP}") or key.startswith((kinds.LAUNCH_TEMPLATE, *inside))


def _rolled(stage: Stage, call: Call) -> tuple[str, str]:
    group = f"{stage.found(kinds.NODE_GROUP, f'{CLUSTER}:{GROUP}').registration.outputs['arn']} of 2026-01-01T00:00:00Z"
    if call.way == "pulumi":
        return "pulumi up", call.given["serial"]
    last = call.name.rpartition("/")[2]
    if "/nodes/" in call.name:
        assert call.given["metadata"]["uid"]
        assert all(is_of(each, GROUP) for each in stage.colleague().list(NODES) or () if each["metadata"]["name"] == last)
        return ("close" if call.given["spec"]["unschedulable"] else "open"), group
    if call.name.endswith("/commands"):
        return ("stop" if call.given["action"] == "AbortJob" else "start"), call.given["target"]["uid"]
    if "/jobs/" in call.name:
        (job,) = [item for item in stage.colleague().list(volcano.JOBS) or () if item["metadata"]["name"] == last]
        return ("stop" if call.given["metadata"]["annotations"][STOPPED_BY_ROLL] else "start"), job["metadata"]["uid"]
    return "set to 0 nodes", group


def _moved(stage: Stage, call: Call) -> tuple[str, str]:
    """Nodes are opened only where their closing is taken back."""
    verb, which = _rolled(stage, call)
    return ("close" if verb == "open" else verb), which


@cache
def _killed() -> Engine:
    """A stack whose first run was killed when its last add-ons were under way: two releases are installed by halves."""
    engine, recording = Engine(World(), State()), record_stack(dev_configuration(), stack=STACK)
    (exporter,) = [each.urn for each in recording.resources() if each.urn.endswith("Deployment::lustre-exporter")]
    assert engine.up(recording, kill=Kill(exporter, "create", 0.5)).killed
    return engine


def kill_up(stage: Stage) -> None:
    """A run of Pulumi is killed."""
    stage.engine = _killed().copy()


def end_install(stage: Stage) -> None:
    """A run that lives has installed a release that was half installed."""
    next(item for item in stage.engine.world.state.existing(kinds.RELEASE) if item.status == "failed").status = "ready"


def make_by_hand(stage: Stage) -> None:
    """What has a name of ours was made by somebody with kubectl."""
    item = stage.found("kubernetes:apps/v1:Deployment", "training/lustre-exporter")
    item.registration = replace(item.registration, urn="lustre-exporter")


WAY = ["control plane 1.36", "add-ons 1.36", "charts 1.36", *(f"nodes of {group} 1.36" for group in ("core", GROUP, OTHER))]


def _upgraded(stage: Stage, call: Call) -> tuple[str, str]:
    runs = [each for _, each in stage.changes]
    (number,) = [number for number, each in enumerate(runs) if each is call]
    return f"upgrade {WAY[number]}", runs[0].given["serial"]


def offer_addons(stage: Stage) -> None:
    """EKS has what the program pins."""
    stage.around.other_addons = managed_addon_version


_timed: dict[str, Any] = {}


def rehearsed_once(_: Stage) -> AbstractContextManager[Any]:
    """Steps of one plan are rehearsed once: what they take is the same at each look."""

    def known(*plan: Any) -> Any:
        key = repr(plan)
        if key not in _timed:
            _timed[key] = timed(*plan)
        return _timed[key]

    return patch("trn.running.upgrade.change.timed", known)


def _recovered(stage: Stage, call: Call) -> tuple[str, str]:
    if call.way == "kubernetes":
        return "forget", call.given["preconditions"]["uid"]
    # What a run of our own has made of the state is what the next one goes on with.
    first = next(each.given["serial"] for _, each in stage.changes if each.way == "pulumi")
    return f"pulumi {call.name}", first


TRIED = "training/trn-verify-gang"


def end_job(stage: Stage) -> None:
    """No device is held."""
    stage.engine.world.state.remove(stage.found(JOBS, f"training/{JOB}").registration)


def _tried(stage: Stage, call: Call) -> tuple[str, str]:
    path = f"/apis/batch.volcano.sh/v1alpha1/namespaces/training/jobs/{TRIED.partition('/')[2]}"
    # What an earlier run left goes before the first Job of this run.
    is_first = next(each for _, each in stage.changes if each.name.startswith(("POST", "DELETE"))) is call
    if call.name.startswith("DELETE") and is_first:
        return "delete", call.given["preconditions"]["uid"]
    assert call.name.startswith("POST") or call.given["preconditions"]["uid"] == f"uid-{JOBS}-{TRIED}"
    return ("remove" if call.name.startswith("DELETE") else "try"), path


def offer_places(stage: Stage) -> None:
    """The group may be in two zones, and a block is on offer in the second."""
    keys = ("candidates: [{zoneId: usw2-az1}]", "capacityType: CAPACITY_BLOCK", "capacityReservationId: cr-0123456789abcdef0")
    stage.edit("size: 2\n", "".join(f"{line}\n" for line in ("size: 2", *(f"      {key}" for key in keys))))
    # An address of the documentation is refused where the rules of a rehearsal do not hold.
    stage.edit("203.0.113.0/24", "198.18.0.7/32")
    put_offer(stage, zone="us-west-21")


@contextmanager
def few_checks(stage: Stage) -> Iterator[None]:
    """What is checked afterwards is no matter of the change; the disk is."""

    def write(file: File, text: str, hint: str) -> Outcome:
        def failed(_: Fault) -> None:
            raise CommandError(f"cannot write {file.name}")

        return stage.through(Call("file", "write", file.which, is_change=True), lambda: written(file, text, hint), failed)

    checks = patch.dict("trn.before.check.run.CHECKS", {"zones": capacity.zone_ids}, clear=True)
    with checks, patch("trn.before.check.picking.written", write):
        yield


POD, PODS = "kubernetes:core/v1:Pod", "/api/v1/namespaces/training/pods"


def leave_shell(stage: Stage) -> None:
    """The time of an earlier shell is over, and somebody is in another."""
    for name, status in (("over", {"phase": "Failed"}), ("busy", {})):
        metadata = {"name": f"trn-shell-{name}", "namespace": "training", "labels": {SHELL_LABEL: CLUSTER}}
        body = {"kind": "Pod", "metadata": metadata, "spec": {"containers": []}, "status": status}
        assert ApiServer(stage.engine.world).answer("POST", PODS, body).status == 201


@contextmanager
def a_shell(stage: Stage) -> Iterator[None]:
    """A kubectl that enters a pod. The names of pods are counted: a second run draws another."""
    numbers = [each.registration.id.rpartition("-")[2] for each in stage.engine.world.state.existing(POD)]

    def run(*_: Any) -> int:
        return stage.through(Call("tool", "kubectl", None, is_change=False), lambda: 0, lambda _: 1)

    with ExitStack() as stack:
        stack.enter_context(patch("trn.running.shell.change.run_shell", run))
        stack.enter_context(patch("trn.running.shell.change.secrets.token_hex", lambda _: str(sum(each.isdigit() for each in numbers))))
        yield


def _entered(_: Stage, call: Call) -> tuple[str, str]:
    if call.name.startswith("POST"):
        return "make", f"{PODS}/{call.given['metadata']['name']}"
    uid, name = call.given["preconditions"]["uid"], call.name.rpartition("/")[2]
    assert uid == f"uid-{POD}-training/{name}"
    return "delete", uid if name == "trn-shell-over" else f"{PODS}/{name}"


def shell_ended(stage: Stage, ended: Ended, _: Mapping[str, Any]) -> bool:
    """A shell that was killed ends by itself; until then somebody may be in it."""
    names = {each.registration.id.rpartition("-")[2] for each in stage.engine.world.state.existing(POD)}
    return (ended.code, names - {"0"}) == (0, {"busy"})


def leave_to_others(stage: Stage) -> None:
    """Terraform made the cluster, and `pulumi import` has read it into the state, and no more."""
    item = stage.found(kinds.CLUSTER, CLUSTER)
    (vpc,) = [each.registration.id for each in stage.engine.world.state.existing(VPC.token)]
    inputs, outputs = item.registration.inputs, item.registration.outputs
    tags, place = {"tags": {}, "tagsAll": {}}, {"vpcConfig": {**(outputs.get("vpcConfig") or inputs["vpcConfig"]), "vpcId": vpc}}
    made = item.registration = replace(item.registration, inputs={**inputs, **tags}, outputs={**outputs, **tags, **place})
    held = stage.engine.state.held
    held.clear()
    stage.engine.state.adopt(made)


def upgrade_others(stage: Stage) -> None:
    """As its maker does: the stack file says another one then."""
    made = stage.found(kinds.CLUSTER, CLUSTER).registration
    stage.engine.world.state.put(replace(made, inputs={**made.inputs, "version": "1.34"}, outputs={**made.outputs, "version": "1.34"}))


def write_import_file(stage: Stage) -> None:
    """A colleague, who shares the folder."""
    if stage.is_running:
        write_text(Path(IMPORT_FILE), "{}", "")
    stage.built[IMPORT_FILE] = "{}"


@contextmanager
def others_cluster(stage: Stage) -> Iterator[None]:
    """What is red is no matter of the change; disk and kernel are."""

    def write(file: File, text: str, hint: str) -> Outcome:
        def failed(_: Fault) -> None:
            raise CommandError(f"cannot write {file.name}")

        return stage.through(Call("file", "write", file.which, is_change=True), lambda: written(file, text, hint), failed)

    def refused(_: Fault) -> None:
        raise OSError(ENOLCK, "No locks available")

    def lock(file: Any, operation: int) -> None:
        stage.through(Call("file", "flock", None, is_change=False), lambda: flock(file, operation), refused)
        stage.has_files = True

    def look(file: int) -> Any:
        return stage.through(Call("file", "stat", None, is_change=False), lambda: fstat(file), refused)

    place = "trn.before.import_cluster"
    given = {f"{place}.change.written": write, f"{place}.change.after_import": lambda *_: Aftermath({}, [])}
    # Every region of the stage is the same one.
    given[f"{place}.locate.neuron_regions"] = lambda: (REGION,)
    with ExitStack() as stack:
        for name, value in {**given, "trn.change.hold.flock": lock, "trn.change.hold.fstat": look}.items():
            stack.enter_context(patch(name, value))
        yield


def _destroyed(stage: Stage, call: Call) -> tuple[str, str]:
    """Of Pulumi's runs each is of a state that was confirmed, or of what is left of one."""
    if call.way == "kubernetes":
        return _drained(stage, call)
    if call.way == "pulumi":
        states = [each.given for each in stage.calls if each.way == "pulumi" and each.given["held"] >= call.given["held"]]
        return "pulumi destroy", states[0]["serial"]
    return _swept(stage, call)


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
    "drain": Case(
        words=("drain", STACK),
        agreed=("y",),
        acted=_drained,
        differ={"a job started": lambda stage: stage.start("late")},
        is_own=lambda key: key.startswith("kubernetes:") and (":Job " in key or ":Queue " in key),
        goes_on=True,
    ),
    "sweep": Case(
        words=("sweep", STACK, "--delete"),
        agreed=("y",),
        acted=_swept,
        differ={"more is left over": lambda stage: leave(stage, "late")},
        is_own=lambda key: key.endswith(("-old", "-late")),
        prepare=lambda stage: leave(stage, "old"),
        goes_on=True,
    ),
    "destroy": Case(
        words=("destroy", STACK),
        agreed=("y",),
        acted=_destroyed,
        differ={
            "a job started": lambda stage: stage.start("late"),
            "another run of Pulumi": Stage.grow,
            "more is left over": lambda stage: leave(stage, "late"),
        },
        is_own=lambda key: ":" in key.partition(" ")[0] or key.startswith("state") or key.endswith(("-old", "-late")),
        prepare=lambda stage: leave(stage, "old"),
        goes_on=True,
        next_yes=("--name", CLUSTER),
        draws=30,
    ),
    "cancel": Case(
        words=("cancel", STACK, JOB, "--now"),
        agreed=("y",),
        acted=_cancelled,
        differ={"the job was made again": lambda stage: stage.make_again(JOBS, f"training/{JOB}", metadata={"uid": "another"})},
        is_own=lambda key: key == f"{JOBS} training/{JOB}",
        lease=f"trn-{JOB}",
        refused={"the job has ended": lambda stage: stage.engine.world.state.remove(stage.found(JOBS, f"training/{JOB}").registration)},
        again=2,
    ),
    **{command: _submitted(command, name) for command, name in (("submit", "bert-large"), ("precompile", "bert-large-precompile"))},
    **_ran(),
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
    "roll": Case(
        words=("roll", STACK, GROUP, "--checkpoint"),
        agreed=("y",),
        acted=_rolled,
        differ={
            "a job started": lambda stage: stage.start("late"),
            "the stack file was edited": lambda stage: stage.edit("rootVolumeGib: 300", "rootVolumeGib: 400"),
            "another run of Pulumi": lambda stage: stage.engine.state.held.popitem(),
        },
        is_own=_is_rolled,
        draws=30,
        prepare=_edited,
    ),
    "roll --to": Case(
        words=("roll", STACK, GROUP, "--to", OTHER),
        agreed=("y",),
        acted=_moved,
        differ={"a job started": lambda stage: stage.start("late")},
        is_own=_is_rolled,
        draws=30,
        prepare=lambda stage: set_size(stage, 2, OTHER),
        is_long=True,
    ),
    "recover": Case(
        words=("recover", STACK),
        agreed=("y",),
        acted=_recovered,
        differ={"another run of Pulumi": lambda stage: stage.engine.state.held.popitem(), "Helm goes on": end_install},
        refused={"somebody else made it": make_by_hand},
        is_own=lambda key: key == "state" or key.startswith(kinds.RELEASE),
        prepare=kill_up,
    ),
    "upgrade": Case(
        words=("upgrade", STACK, "--to", "1.36", "--accept", "volcano", "--interrupt"),
        agreed=("y",),
        acted=_upgraded,
        differ={
            "the stack file was edited": lambda stage: stage.edit("trn:name", "# by a colleague\n  trn:name"),
        },
        refused={
            "a group is not well": lambda stage: setattr(stage.found(kinds.NODE_GROUP, f"{CLUSTER}:{GROUP}"), "status", "failed"),
            "another run of Pulumi left something to make": lambda stage: stage.engine.state.held.popitem(),
            "a key was edited": _edited,
        },
        is_own=lambda key: key in ("state", "file") or key.startswith(("aws:", "kubernetes:")),
        prepare=offer_addons,
        around=rehearsed_once,
        is_long=True,
        draws=20,
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
    "data prepare": Case(
        words=("data", "prepare", STACK, str(ROOT / "tests/trn/jobs/data/text-job.yaml"), "--detach"),
        agreed=("y",),
        acted=_prepared,
        differ={"a file of the text was written again": lambda stage: store(stage, "b")},
        refused={"another run makes it": lambda stage: put_staging(stage, ended=False)},
        is_own=lambda key: key.endswith(f"/{STAGING}"),
        prepare=leave_staging,
        ended=staging_ended,
    ),
    "data import-weights": Case(
        words=("data", "import-weights", STACK, SOURCE, FOLDER, "--detach"),
        agreed=("y",),
        acted=_imported,
        differ={"a file of the model was written again": lambda stage: store_weights(stage, "b")},
        refused={"another run stages to the folder": lambda stage: put_staging(stage, ended=False)},
        is_own=lambda key: key.endswith(f"/{STAGING}"),
        prepare=leave_import,
        ended=staging_ended,
    ),
    "data export-weights": Case(
        words=("data", "export-weights", STACK, CHECKPOINTS, FOLDER, "--detach"),
        agreed=("y",),
        acted=_weights_exported,
        differ={},
        refused={"another run writes to the folder": lambda stage: put_staging(stage, ended=False)},
        is_own=lambda key: key.endswith(f"/{STAGING}"),
        prepare=leave_staging,
        ended=staging_ended,
    ),
    "verify": Case(
        words=("verify", STACK, "--only", "queues", "--only", "gang"),
        agreed=(),
        acted=_tried,
        differ={},
        is_own=lambda key: key == f"{JOBS} {TRIED}",
        prepare=end_job,
        lease="trn-verify",
        yes=(),
        refused={"a job has the devices": lambda stage: stage.start("late")},
        is_well=lambda report: report.get("healthy") is not False,
    ),
    "check --pick": Case(
        words=("check", STACK, "--pick", GROUP, "--block-hours", "72"),
        agreed=("y",),
        acted=lambda _, call: ("write", call.given),
        differ={
            "the block costs more": lambda stage: stage.around.blocks[0].update(UpfrontFee="4000.00"),
            "the stack file was edited": lambda stage: stage.edit("# ", "#  "),
        },
        is_own=lambda key: key == "file",
        prepare=offer_places,
        refused={
            "nothing is on offer": lambda stage: stage.around.blocks.clear(),
            "the stack file says something else": lambda stage: stage.edit("size: 2\n", "size: 1\n"),
        },
        is_well=lambda report: not any(each["verdict"] == "fail" for each in report.get("findings") or ()),
        around=few_checks,
    ),
    "shell": Case(
        words=("shell", STACK, "--node-group", GROUP),
        agreed=(),
        acted=_entered,
        differ={},
        is_own=lambda key: key.startswith(f"{POD} training/trn-shell-"),
        prepare=leave_shell,
        lease="trn-shell-0",
        yes=(),
        refused={"the group is empty": lambda stage: set_size(stage, 0)},
        is_well=lambda report: not report.get("exitCode"),
        ended=shell_ended,
        around=a_shell,
    ),
    "capacity buy": Case(
        words=("capacity", "buy", STACK, BLOCK, "--instances", "2", "--hours", "72"),
        agreed=("y", "3094.61"),
        yes=("--yes", "--limit-usd", "4000"),
        acted=lambda _, call: ("buy", call.given[OFFER]),
        differ={"the block begins on another day": lambda stage: put_offer(stage, days=4)},
        refused={
            "another one bought a block for the group": lambda stage: buy_block(stage, "cb-0another"),
            "the stack file was edited": lambda stage: stage.edit("size: 2\n", "size: 1\n"),
            "the offer is gone": lambda stage: stage.around.blocks.clear(),
        },
        is_own=lambda key: key == "file" or key == f"{BOUGHT} {BLOCK_ID}",
        prepare=put_offer,
        ended=block_ended,
    ),
    "import": Case(
        words=("import", OTHER_STACK, "--cluster", CLUSTER, "--region", REGION, "--file", IMPORT_FILE),
        agreed=(),
        acted=lambda _, call: ("write", call.given),
        differ={},
        is_own=lambda key: key in (OTHER_STACK_FILE, IMPORT_FILE),
        prepare=leave_to_others,
        lease=PROJECT_FILE,
        breaks=False,
        yes=(),
        refused={"somebody wrote an import file": write_import_file, "another version of Kubernetes runs": upgrade_others},
        around=others_cluster,
        draws=20,
    ),
}
