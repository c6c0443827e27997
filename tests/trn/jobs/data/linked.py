"""The shipped stack, up, with its file system linked to a bucket, a job that writes checkpoints, and exports of all kinds."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from addons import volcano
from facts.names import CLUSTER_TAG, STACK_TAG
from simulator.aws_endpoint.repository_tasks import OBJECT, TASK
from tests.support import ROOT
from tests.trn.aws.cloud import STACK, tag_list
from tests.trn.change.owned import stack_of
from tests.trn.given import Given
from tests.trn.jobs.situations import item, pod
from tests.trn.jobs.test_watch import line
from tests.trn.kubernetes.healthy_cluster import NAME, Healthy
from trn.app import app
from trn.kubernetes.job_pods import PODS

BUCKET = "my-bucket"
LINK = {"FileSystemPath": "/data", "DataRepositoryPath": f"s3://{BUCKET}/set"}
FOLDER, KEYS = "/fsx/data/checkpoints/bert", "set/checkpoints/bert"
FILE_SYSTEM = f"fs-{1:0>17}"
NOON = datetime(2026, 11, 1, 12, tzinfo=UTC).timestamp()


def at(seconds: float) -> str:
    """A time so long after noon, as AWS writes it."""
    return datetime.fromtimestamp(NOON + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Linked(Healthy):
    """The stack; tests change the link, the bucket and the tasks."""

    def __init__(self) -> None:
        super().__init__()
        self.file_system["Tags"] = tag_list({CLUSTER_TAG: NAME, STACK_TAG: STACK})
        self.link: dict[str, Any] = {"AssociationId": f"dra-{1:0>17}", "FileSystemId": FILE_SYSTEM, "Lifecycle": "AVAILABLE", **LINK}
        self.cloud.put("repository association", self.link["AssociationId"], self.link)
        self.link = self.cloud.of("repository association")[self.link["AssociationId"]]
        self.cloud.put("bucket", BUCKET, {"Name": BUCKET})

    def store(self, key: str, size: int, seconds: float = 0) -> None:
        """An object that the bucket has since then."""
        entry = {"Bucket": BUCKET, "Key": key, "Size": size, "LastModified": at(seconds), "ETag": f'"{size:032x}"'}
        self.cloud.put(OBJECT, key, entry)

    def task(
        self, number: int, state: str, seconds: float, path: str = "data/checkpoints/bert", more: Mapping[str, Any] | None = None
    ) -> None:
        """An export that began then."""
        which = f"task-{number:0>17}"
        entry = {
            "TaskId": which, "Lifecycle": state, "Type": "EXPORT_TO_REPOSITORY", "CreationTime": at(seconds), "StartTime": at(seconds),
            "FileSystemId": FILE_SYSTEM, "Paths": [path], **(more or {}),
        }  # fmt: skip
        self.cloud.put(TASK, which, entry)

    def run_job(self, *saves: tuple[int, int, float]) -> None:
        """The job bert, whose log says that it wrote checkpoints: step, bytes, and seconds after noon."""
        bert = item(phase="Running")
        self.cluster.objects[volcano.JOBS] = [bert]
        each = pod(bert, 0, at="node-1")
        each["status"] = {"phase": "Running"}
        self.cluster.objects[PODS].append(each)
        self.cluster.texts["/api/v1/namespaces/training/pods/bert-worker-0/log?container=work"] = "\n".join(
            line("event", NOON + seconds, event="saved", rank=0, step=step, path=f"{FOLDER}/step-{step:09}", bytes=size, seconds=2.0)
            for step, size, seconds in saves
        )


def reached(monkeypatch: pytest.MonkeyPatch, made: Linked, given: Given) -> Linked:
    """Commands reach this stack."""
    monkeypatch.chdir(ROOT)
    given.api = made.cloud.api
    given.cluster = made.cluster
    given.engine = stack_of(NAME)
    monkeypatch.setattr("time.sleep", lambda _: None)
    return made


def trn(*words: str) -> Result:
    """One command below `trn data`."""
    return CliRunner().invoke(app, ["data", *words], catch_exceptions=False)
