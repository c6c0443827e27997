"""What makes token shards of which text, as a value that is shown before it is done; and what its pod says."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from facts.document import Document
from training import packing
from training.job import Data, Job, Prepare
from training.packing.documents import KINDS, is_wanted
from training.plan import SCRIPTS, mounts_of
from training.pod import CONTAINER, Pod
from training.site import Site
from trn.aws.api import Api
from trn.aws.repository import address
from trn.change.clients import access
from trn.change.identity import S3
from trn.cli.errors import MISUSE, CommandError
from trn.jobs.data import staging
from trn.jobs.data.hub import Repository
from trn.jobs.data.source import ADDRESS_LIFE_S, SourceFile, compressed, files_of
from trn.kubernetes.client import Object

LIFE_S = 7 * 24 * 3600
"""Longest time of a Job: large sets take days. Addresses of S3 end before; it is run again for new ones."""
POLICY = {
    "backoffLimit": 6,
    # It goes on where it was: after a node that is gone as often as that happens, after another end 6 times; what is wrong stays wrong.
    "podFailurePolicy": {
        "rules": [
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
            {"action": "FailJob", "onExitCodes": {"containerName": CONTAINER, "operator": "In", "values": [1, 2, 75]}},
        ]
    },
}
"""Of the Job (Kubernetes, Jobs: pod failure policy, stable since 1.31)."""
Request = dict[str, Any]
"""What training/packing/pack.py reads."""


class PreparePlanReport(Document, frozen=True):
    """What `trn data prepare --dry-run` would do."""

    schema_: Literal["trn-data-prepare-plan"] = "trn-data-prepare-plan"
    source: str
    path: str
    tokenizer: str
    files: int | None
    """Null where only the pod sees them."""
    bytes: int | None
    """As far as they are known."""
    job: str
    """Name of the Job in the cluster."""
    namespace: str


@dataclass(frozen=True)
class PreparePlan:
    """One set that is made."""

    source: str
    path: str
    tokenizer: str
    request: Request
    job: str
    namespace: str
    objects: tuple[Object, ...]

    @property
    def files(self) -> list[Mapping[str, Any]] | None:
        """Those of the text; None where only the pod sees them."""
        return self.request.get("files")

    @property
    def size(self) -> int:
        """Bytes, as far as they are known."""
        return sum(item["size"] or 0 for item in self.files or ())

    @property
    def identity(self) -> S3:
        """Which set it is: text, tokenizer and options. Addresses are others at each look."""
        listed = [
            {key: value for key, value in item.items() if key not in ("url", "token")}
            for item in [self.request["tokenizer"], *(self.files or ())]
        ]
        digest = hashlib.sha256(json.dumps([self.request["options"], listed]).encode()).hexdigest()[:16]
        return S3(f"{self.source} to {self.path}", f"{self.source} {self.path} {digest}")

    @property
    def summary(self) -> str:
        """One line for a person."""
        files = "the files" if self.files is None else f"{len(self.files)} files, {self.size:,} bytes"
        return f"{files} of {self.source} become tokens of {self.tokenizer} in {self.path}"

    @property
    def said(self) -> dict[str, Any]:
        """The same for both reports."""
        files = None if self.files is None else len(self.files)
        place = {"source": self.source, "path": self.path, "tokenizer": self.tokenizer, "files": files, "bytes": self.size or None}
        return {**place, "job": self.job, "namespace": self.namespace}


def need_data(job: Job, where: str) -> tuple[Data, Prepare]:
    """What a job file says of its set. Raises CommandError where it says nothing."""
    if job.data is None or job.data.prepare is None:
        hint = "`data: {path: /fsx/data/wiki, source: wikimedia/wikipedia, prepare: {tokenizer: google-bert/bert-large-uncased}}`; docs/data.md"
        raise CommandError(f"{where} has no `data.prepare`", hint, code=MISUSE)
    return job.data, job.data.prepare


def need_mounts(job: Job, site: Site) -> None:
    """Raises CommandError for places of the set that are on no mount of the job."""
    data, prepare = need_data(job, job.name)
    mounts = mounts_of(job, site)
    anywhere, writable = [mount.path for mount in mounts], [mount.path for mount in mounts if not mount.read_only]
    for key, path, folders in (
        ("data.path", data.path, writable), ("data.source", data.source or "", anywhere), ("data.prepare.tokenizer", prepare.tokenizer, anywhere),
    ):  # fmt: skip
        if path.startswith("/") and not any(path.startswith(f"{folder.rstrip('/')}/") for folder in folders):
            wrong = f"`{key}` is `{path}`, which is on no mount of the job's\n  allowed: below {', '.join(folders) or 'none: there is no mount'}"
            raise CommandError(wrong, "put it below one of the mounts, or add a mount", code=MISUSE)


def request_of(data: Data, prepare: Prepare, api: Api, token: str, text: str | None = None) -> Request:
    """What is asked of the packer. Reads S3 and Hugging Face. `text`: a path that takes the place of `data.source`.

    Raises CommandError where there is no text.
    """
    source = text or data.source
    assert source is not None
    options = prepare.model_dump(by_alias=True, exclude={"tokenizer", "revision"})
    asked: Request = {"options": options, "tokenizer": _tokenizer(prepare.tokenizer, api, token)}
    if text is not None or source.startswith("/"):
        return {**asked, "from": source}
    found = _of_hub(source, prepare.revision, token) if "://" not in source else files_of(source, api, {})
    wanted = sorted((item for item in found if is_wanted(item.name, prepare.files)), key=lambda item: item.name)
    if not wanted:
        names = ", ".join(item.name for item in found[:5])
        fits = f" and fits `{prepare.files}`" if prepare.files else ""
        raise CommandError(
            f"no file of {source} ends with {', '.join(KINDS)}{fits}", f"set `data.prepare.files`; files there: {names}", code=MISUSE
        )
    return {**asked, "files": [asdict(item) for item in wanted]}


def _of_hub(source: str, revision: str, token: str) -> list[SourceFile]:
    repository = Repository("datasets", source, access().hub(), token)
    return list(repository.files(repository.commit(revision)))


def _tokenizer(name: str, api: Api, token: str) -> Mapping[str, Any]:
    if name.startswith("/"):
        return {"name": name, "path": name}
    if name.startswith("s3://"):
        bucket, _, key = name.removeprefix("s3://").partition("/")
        return asdict(SourceFile("tokenizer.json", address(api, bucket, key, ADDRESS_LIFE_S))) | {"title": name}
    repository = Repository("models", name, access().hub(), token)
    found = [item for item in repository.files(repository.commit("main")) if item.name == "tokenizer.json"]
    if not found:
        hint = "name a model that has one, or make it by `transformers` (save_pretrained of a fast tokenizer) and put it in S3"
        raise CommandError(f"{name} has no tokenizer.json", hint, code=MISUSE)
    return asdict(found[0]) | {"title": name}


def plan_prepare(job: Job, site: Site, request: Request, image: str, cpus: int, memory_gib: int) -> PreparePlan:
    """The plan. Raises CommandError where the list of files is too long for a pod."""
    data, prepare = need_data(job, job.name)
    assert data.source is not None
    mounts = mounts_of(job, site)
    name = staging.name_of(data.path)
    command = ("python3", f"{SCRIPTS}/{packing.SCRIPT}", "--request", f"{staging.LIST_FOLDER}/{staging.LIST}", "--into", data.path)
    # The library's own switch: without it, it warns and may take one processor.
    environment = {"TOKENIZERS_PARALLELISM": "true"}
    pod = Pod(
        image=image, command=command, environment=environment, cpu=str(cpus), memory=f"{memory_gib}Gi", mounts=mounts, files=name,
        life_s=LIFE_S, grace_s=60,
    )  # fmt: skip
    made = staging.objects(name, site.namespace, site.cluster, pod, packing.files(), compressed(request), POLICY)
    return PreparePlan(data.source, data.path, prepare.tokenizer, request, name, site.namespace, tuple(made))


@dataclass
class Packed:
    """What the pod has said."""

    progress: Mapping[str, Any] | None = None
    """Its newest line of how far it is."""
    doing: str = ""
    """What it does before it packs."""
    done: Mapping[str, Any] | None = None
    why: str = ""
    """Why it ended without a set."""


def parsed(log: str) -> Packed:
    """What the script's lines say; other lines are passed over."""
    found = Packed()
    for line in log.splitlines():
        try:
            said: Any = json.loads(line)
        except ValueError:
            continue
        match said.get("pack") if isinstance(said, dict) else None:
            case "progress" | "resumed":
                found.progress = said
            case "installing" | "fetching":
                found.doing = f"{said['pack']} {said.get('name') or said.get('packages')}"
            case "done":
                found.done = said
            case "failed":
                found.why = said["why"]
            case "ended":
                found.why = "the addresses have ended; run it again: it goes on where it was"
    return found


def how_far(found: Packed) -> str:
    """In a line."""
    said = found.progress
    if said is None:
        return found.doing
    if "share" not in said:
        return f"going on with file {said['files'] + 1} of {said['of']}"
    speed, share = said["tokens_per_s"], said["share"]
    left = ""
    if speed and 0 < share < 1:
        minutes = said["tokens"] / share * (1 - share) / speed / 60
        left = f", about {minutes:,.0f} min left" if minutes >= 1 else ", less than a minute left"
    return f"{share:.0%}, {said['files']} of {said['of']} files, {said['tokens']:,} tokens, {speed:,} tokens/s{left}"


def outcome(path: str, done: Mapping[str, Any]) -> list[str]:
    """What was made, in lines."""
    splits = ", ".join(
        f"{name} {split['tokens']:,} tokens of {split['documents']:,} documents"
        for name, split in done["splits"].items()
        if split["tokens"]
    )
    speed = f", {done['tokens_per_s']:,} tokens packed per second" if done.get("tokens_per_s") else ", made before"
    passed = ", ".join(f"{done[key]:,} {what}" for key, what in (("empty", "empty"), ("unreadable", "not readable")) if done[key])
    lines = [f"{path}: {splits}{speed}", f"fingerprint {done['fingerprint'][:16]}"]
    return [*lines, f"passed over: {passed} documents"] if passed else lines
