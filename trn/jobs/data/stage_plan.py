"""What a staging brings where, as a value that is shown before it is done, and what is said of its end."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from posixpath import normpath
from typing import Any, Literal

from facts.document import Document
from facts.typed import typed
from stacks.images import small_image
from stacks.settings import Settings
from training.job import PATH, SHARED_PATH
from training.plan import Mounted
from training.staging import SCRIPT, script
from trn.change.identity import S3
from trn.cli.errors import MISUSE, CommandError
from trn.jobs.data import staging
from trn.jobs.data.source import SourceFile, need_source, packed
from trn.jobs.rendering import read_job
from trn.kubernetes.client import Object

SHOWN = 10
"""Files that are named, of those that could not be had."""


class StagePlanReport(Document, frozen=True):
    """What `trn data stage --dry-run` would do."""

    schema_: Literal["trn-data-stage-plan"] = "trn-data-stage-plan"
    source: str
    path: str
    files: int
    bytes: int
    """As far as they are known."""
    job: str
    """Name of the Job in the cluster."""
    namespace: str


@dataclass(frozen=True)
class StagePlan:
    """One set on its way to one folder."""

    source: str
    path: str
    files: tuple[SourceFile, ...]
    job: str
    """Name of the Job in the cluster."""
    namespace: str
    objects: tuple[Object, ...]
    """What is made for it, the Job last."""

    @property
    def identity(self) -> S3:
        """Which set it is: names and ETags of all its files. Their addresses are others at each look."""
        listed = [[each.name, each.etag, each.size, each.replace] for each in self.files]
        digest = hashlib.sha256(json.dumps(listed).encode()).hexdigest()[:16]
        return S3(f"{self.source} to {self.path}", f"{self.source} {self.path} {digest}")

    @property
    def size(self) -> int:
        """Bytes, as far as they are known."""
        return sum(item.size or 0 for item in self.files)

    @property
    def summary(self) -> str:
        """One line for a person."""
        size, known = f", {self.size:,} bytes" if self.size else "", sum(bool(item.sha256) for item in self.files)
        return f"{len(self.files)} files{size} of {self.source} to {self.path}; {known} with a SHA-256"

    @property
    def said(self) -> dict[str, Any]:
        """The same for both reports."""
        place = {"source": self.source, "path": self.path, "files": len(self.files), "bytes": self.size}
        return {**place, "job": self.job, "namespace": self.namespace}

    def is_whole(self, found: staging.Staged) -> bool:
        """Whether a staging has brought all of it."""
        return found.is_done and found.files == len(self.files)

    def outcome(self, found: staging.Staged) -> str:
        """What became of it, in a line."""
        by_way = sorted(found.verified.items())
        ways = ", ".join(f"{count} by {by}" if by != "kept" else f"{count} there already" for by, count in by_way)
        text = f"{found.files} of {len(self.files)} files are in {self.path}: {ways}" if found.files else f"no file is in {self.path}"
        return text + ("; the addresses have ended: run it again, what is there is kept" if found.has_ended_addresses else "")


def wanted(source: str, path: str | None) -> tuple[str, str]:
    """The set and its folder, from the words of the command or the job file that they name. Raises CommandError for what is neither."""
    if source.endswith((".yaml", ".yml")):
        data = read_job(Path(source)).data
        if data is None or data.source is None:
            hint = f"name the set and its folder: `{typed('trn data stage dev s3://my-bucket/set/ /fsx/data/set')}`"
            raise CommandError(f"{source} has no `data.source`", hint, code=MISUSE)
        if data.prepare is not None and path is None:
            hint = (
                f"`{typed(f'trn data prepare {source}')}` makes it; `{typed(f'trn data stage {data.source} FOLDER')}` copies the text alone"
            )
            raise CommandError(f"the set of {source} is made of text by `data.prepare`, not copied", hint, code=MISUSE)
        source, path = data.source, path or data.path
    need_source(source)
    if path is None or not PATH.fits(path) or not path.startswith(f"{SHARED_PATH}/") or normpath(path) != path:
        wrong = f"the folder is `{path or ''}`\n  allowed: a path below {SHARED_PATH}, where the pod has the file system"
        raise CommandError(wrong, f"write such as {SHARED_PATH}/data/tokens", code=MISUSE)
    return source, path


def need_file_system(settings: Settings) -> None:
    """Raises CommandError for a stack without one."""
    if not settings.storage.lustre.enabled:
        wrong = "the stack has no file system: `storage.lustre.enabled` is false"
        raise CommandError(wrong, f"set it to true, then `{typed('pulumi up')}`", code=MISUSE)


def plan_stage(source: str, path: str, files: list[SourceFile], settings: Settings) -> StagePlan:
    """The plan. Raises CommandError where the list of files is too long for a pod."""
    job, namespace, claim = staging.name_of(path), settings.training.namespace, settings.storage.lustre.claim_name
    pod = staging.pod_of(job, small_image(settings), (Mounted(claim, SHARED_PATH),), path)
    made = staging.objects(job, namespace, settings.name, pod, {SCRIPT: script()}, packed(files))
    return StagePlan(source, path, tuple(files), job, namespace, tuple(made))
