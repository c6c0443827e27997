"""Weights of a model on their way in and out, as changes: Hugging Face's files to the file system, and a checkpoint to files of that layout."""

import hashlib
import json
import os
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from facts.document import Document
from stacks.settings import Settings
from training import payload
from training.job import SHARED_PATH
from training.plan import SCRIPTS, Mounted
from training.pod import Pod
from training.recipes.llama import hugging_face
from training.recipes.llama.llama_options import SHAPES, Shape
from training.recipes.llama.llama_weights import all_weights
from trn.change.action import Outcome
from trn.change.clients import access
from trn.change.identity import S3
from trn.change.report import ChangeDocument
from trn.change.whose import Site
from trn.cli.errors import MISUSE, CommandError
from trn.jobs.data import staging
from trn.jobs.data.folder_job import FolderJob, Seen
from trn.jobs.data.hub import TOKEN, Repository
from trn.jobs.data.source import SourceFile, compressed, files_of
from trn.jobs.data.stage import Stage, StageReport
from trn.jobs.data.stage_plan import StagePlan, plan_stage
from trn.kubernetes.client import Object

RECIPE, SCRIPT = "llama", "export_weights.py"
BESIDE = frozenset({"config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "generation_config.json", "vocab.json", "merges.txt"})  # fmt: skip
"""Files that are copied with the weights."""
HEADER_MOST = 100_000_000
"""Longest header that the safetensors library reads (huggingface/safetensors, MAX_HEADER_SIZE)."""
NUMPY = "numpy==2.4.6"
"""What an image without it is given by pip; that of training/requirements/jax.txt."""
MEMORY_GIB = 24
"""Of the pod that exports: the largest tensor of 70B parameters is 4.2 GB in float32, beside its parts and the change of a LoRA."""
LAYOUT = ", in Hugging Face's layout"
Headers = Mapping[str, tuple[int, ...]]


def weight_files(files: list[SourceFile], source: str) -> list[SourceFile]:
    """Those of a model's files that a training reads. Raises CommandError where there are no safetensors files."""
    found = [item for item in files if "/" not in item.name and (item.name.endswith(".safetensors") or item.name in BESIDE)]
    if not any(item.name.endswith(".safetensors") for item in found):
        named = ", ".join(item.name for item in files[:5])
        raise CommandError(
            f"{source} has no .safetensors files", f"name a model whose weights are in that form; files there: {named}", code=MISUSE
        )
    return found


def shape_of(config: Mapping[str, Any], headers: Headers, source: str) -> str:
    """Name of the shape that a model is of. Raises CommandError, with what is nearest, for a model that the recipe does not train."""
    wrong = {name: list(_differences(shape, config, headers)) for name, shape in SHAPES.items()}
    name = min(wrong, key=lambda name: len(wrong[name]))
    if wrong[name]:
        hint = f"the nearest is {name}: {'; '.join(wrong[name][:3])}; docs/recipes/llama.md lists the shapes"
        raise CommandError(f"{source} is no model of the recipe llama\n  allowed: {', '.join(SHAPES)}", hint, code=MISUSE)
    return name


def _differences(shape: Shape, config: Mapping[str, Any], headers: Headers) -> Iterator[str]:
    yield from hugging_face.conflicts(shape, config)
    for path, weight in all_weights(shape):
        if headers.get(path) != weight.shape:
            yield f"{path} is {headers.get(path, 'missing')}, not {weight.shape}"


class Reader:
    """What a model on the Hub says of itself, read before any of it is copied."""

    def __init__(self, token: str) -> None:
        self.token = token

    def bytes(self, item: SourceFile, first: int, count: int) -> bytes:
        """A part of a file. Raises CommandError where the host does not give it."""
        headers = {"Range": f"bytes={first}-{first + count - 1}", **({"Authorization": f"Bearer {self.token}"} if self.token else {})}
        answer = access().hub().request("GET", item.url, headers=headers)
        if answer.status not in (200, 206):
            raise CommandError(f"{item.url} answers {answer.status}", "try again in a minute")
        # A host that knows no ranges gives all of it.
        return answer.data[first : first + count] if answer.status == 200 else answer.data

    def config(self, files: list[SourceFile]) -> Mapping[str, Any]:
        """config.json."""
        item = next((item for item in files if item.name == "config.json"), None)
        return json.loads(self.bytes(item, 0, item.size or HEADER_MOST)) if item is not None else {}

    def headers(self, files: list[SourceFile]) -> Headers:
        """Size of each tensor (huggingface/safetensors, README, format). Raises CommandError for a file of another form."""
        found = dict[str, tuple[int, ...]]()
        for item in files:
            if item.name.endswith(".safetensors"):
                (length,) = struct.unpack("<Q", self.bytes(item, 0, 8).ljust(8, b"\xff"))
                if length > HEADER_MOST:
                    raise CommandError(f"{item.name} is no safetensors file", "look at the model's page", code=MISUSE)
                header = json.loads(self.bytes(item, 8, length))
                found |= {name: tuple(said["shape"]) for name, said in header.items() if name != "__metadata__"}
        return found


def files_of_model(source: str, revision: str, api: Any) -> tuple[list[SourceFile], str | None]:
    """A model's files and the shape that it is of; of what lies in S3 the training itself says whether it is of its shape.

    Raises CommandError.
    """
    if source.startswith("s3://"):
        return weight_files(files_of(source, api, {}), source), None
    token = os.environ.get(TOKEN, "")
    repository = Repository("models", source, access().hub(), token)
    files, reader = weight_files(list(repository.files(repository.commit(revision))), source), Reader(token)
    return files, shape_of(reader.config(files), reader.headers(files), source)


class WeightsImportPlanReport(Document, frozen=True):
    """What `trn data import-weights --dry-run` would do."""

    schema_: Literal["trn-data-import-weights-plan"] = "trn-data-import-weights-plan"
    source: str
    path: str
    files: int
    bytes: int
    """As far as they are known."""
    job: str
    """Name of the Job in the cluster."""
    namespace: str
    size: str | None
    """What `--size` of the recipe is; null for weights in S3, which the training compares."""


class WeightsImportReport(StageReport, frozen=True):
    """What `trn data import-weights` did."""

    schema_: Literal["trn-data-import-weights"] = "trn-data-import-weights"  # pyright: ignore[reportIncompatibleVariableOverride]
    size: str | None = None
    """What `--size` of the recipe is; null for weights in S3, which the training compares."""


@dataclass(frozen=True, kw_only=True)
class ImportWeights(Stage):
    """Bring a model's weights to a folder."""

    revision: str
    document = WeightsImportReport

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"data import-weights {self.stack} {self.source} {self.path}"

    def plan(self, site: Site) -> StagePlan:
        """The files of the model."""
        files, size = files_of_model(self.source, self.revision, site.api)
        self.said.update(size=size)
        return plan_stage(self.source, self.path, files, self.settings)

    def ended(self, plan: StagePlan, log: str, site: Site) -> Outcome:
        """Whether all are there, and how a job begins with them."""
        outcome = super().ended(plan, log, site)
        if outcome.kind == "done":
            size = self.said["size"] or "SHAPE"
            self.lines.append(f'in the job file: recipe: llama, args: [--size, {size}, --weights, "{self.path}"]')
        return outcome


@dataclass(frozen=True)
class ExportPlan:
    """One checkpoint on its way to a folder."""

    source: str
    path: str
    weights: str
    job: str
    namespace: str
    objects: tuple[Object, ...]

    @property
    def identity(self) -> S3:
        """From where, to where."""
        return S3(f"{self.source} to {self.path}", f"{self.source} {self.path} {self.weights}")

    @property
    def summary(self) -> str:
        """One line for a person."""
        return f"the newest checkpoint of {self.source} to {self.path}{LAYOUT}"

    @property
    def said(self) -> dict[str, Any]:
        """For reports."""
        return {"source": self.source, "path": self.path, "job": self.job, "namespace": self.namespace}


def plan_export(source: str, path: str, weights: str, image: str, settings: Settings) -> ExportPlan:
    """The plan."""
    job, namespace = staging.name_of(path), settings.training.namespace
    words = ["--checkpoint", source, "--to", path, *(("--weights", weights) if weights else ())]
    # Small images have no NumPy; those of toolchains have.
    bring = f'python3 -c "import numpy" 2>/dev/null || python3 -m pip install --quiet --no-deps --target /tmp/packages {NUMPY}'
    command = ("sh", "-c", f'{bring}; PYTHONPATH=/tmp/packages exec python3 {SCRIPTS}/{SCRIPT} "$@"', "export", *words)
    mounts = (Mounted(settings.storage.lustre.claim_name, SHARED_PATH),)
    pod = Pod(image=image, command=command, cpu="2", memory=f"{MEMORY_GIB}Gi", mounts=mounts, files=job, life_s=staging.LIFE_S)
    digest = hashlib.sha256(" ".join(words).encode()).hexdigest()
    made = staging.objects(job, namespace, settings.name, pod, payload.files(RECIPE), compressed({"of": digest}))
    return ExportPlan(source, path, weights, job, namespace, tuple(made))


class WeightsExportPlanReport(Document, frozen=True):
    """What `trn data export-weights --dry-run` would do."""

    schema_: Literal["trn-data-export-weights-plan"] = "trn-data-export-weights-plan"
    source: str
    path: str
    job: str
    """Name of the Job in the cluster."""
    namespace: str


class WeightsExportReport(ChangeDocument, frozen=True):
    """What `trn data export-weights` did."""

    schema_: Literal["trn-data-export-weights"] = "trn-data-export-weights"
    source: str | None = None
    path: str | None = None
    job: str | None = None
    namespace: str | None = None
    started: bool | None = None
    bytes: int | None = None
    """Of the weights; null where they are not written."""
    step: int | None = None
    """Of the checkpoint."""
    why: str | None = None
    """Why there are none."""


@dataclass(frozen=True, kw_only=True)
class ExportWeights(FolderJob):
    """Write a checkpoint's weights to a folder."""

    weights: str
    image: str
    document = WeightsExportReport
    verb = "export"
    busy = "another Job writes to this folder already"

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"data export-weights {self.stack} {self.source} {self.path}"

    def plan(self, site: Site) -> ExportPlan:  # noqa: ARG002 (the pod alone sees the checkpoints)
        """The pod finds the newest checkpoint."""
        return plan_export(self.source, self.path, self.weights, self.image, self.settings)

    def asked(self, seen: Seen) -> str:
        """From where, to where."""
        return f"Export {seen.plan.summary.removesuffix(LAYOUT)} on an ordinary node of {self.settings.name} ({MEMORY_GIB} GiB)?"

    def progress(self, log: str) -> str:
        """Files that are written."""
        files = [said for said in _lines(log) if said["export"] == "file"]
        return f"{files[-1]['name']}, {len(files)} of {files[-1]['of']} files" if files else ""

    def ended(self, plan: ExportPlan, log: str, site: Site) -> Outcome:
        """Whether the folder is whole."""
        done = next((said for said in _lines(log) if said["export"] == "done"), None)
        if done is None:
            why = next(
                (said["why"] for said in _lines(log) if said["export"] == "failed"), "its pod ended without a word: `kubectl describe` it"
            )
            self.said.update(why=why)
            site.tell(why)
            return Outcome("refused")
        self.said.update(bytes=done["bytes"], step=done["step"])
        self.lines.append(f"{plan.path}: step {done['step']}, {done['bytes']:,} bytes; AutoModelForCausalLM.from_pretrained opens it")
        return Outcome("done")


def _lines(log: str) -> list[Mapping[str, Any]]:
    """What the script said; other lines are passed over."""
    found = list[Mapping[str, Any]]()
    for line in log.splitlines():
        try:
            said: Any = json.loads(line)
        except ValueError:
            continue
        if isinstance(said, dict) and "export" in said:
            found.append(said)
    return found


def need_folder(path: str, what: str) -> str:
    """The path as the pod has it. Raises CommandError for one that is not below the mount."""
    plain = str(PurePosixPath(path))
    if not plain.startswith(f"{SHARED_PATH}/") or ".." in plain.split("/"):
        wrong = f"{what} is `{path}`\n  allowed: a path below {SHARED_PATH}, where the pod has the file system"
        raise CommandError(wrong, f"write such as {SHARED_PATH}/models/my-llama", code=MISUSE)
    return plain
