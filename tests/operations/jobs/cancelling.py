"""`trn cancel` on whatever cluster: in memory, or a real API server."""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from operations.change.consent import Person
from operations.change.executor import carry_out
from operations.change.whose import Site
from operations.jobs.cancel.change import Cancel
from operations.kube.api import Kubernetes
from operations.ownership import Consent
from tests.operations.aws.cloud import Cloud
from tests.operations.aws.leftovers import leave_control_plane
from tests.operations.owned import FakePulumi, state, subject

CLUSTER = "train"


@dataclass(frozen=True)
class Cancelled:
    """What became of a job."""

    code: int
    report: dict[str, Any]
    told: list[str]

    @property
    def is_gone(self) -> bool:
        """Whether nothing of it is left."""
        return self.report["isGone"]


def cancelled(
    kubernetes: Kubernetes, job: str = "bert", namespace: str = "training", *, now: bool = False,
    pause: Callable[[float], None] = lambda seconds: None, told: list[str] | None = None, **more: Any,
) -> Cancelled:  # fmt: skip
    """Cancel it, as one says `--yes`."""
    cloud, lines = Cloud(), [] if told is None else told
    leave_control_plane(cloud, CLUSTER)
    tell: Callable[[Any], None] = lambda what: lines.append(str(what))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.json"
        site = Site(
            cloud.api, FakePulumi(state(CLUSTER)), subject(CLUSTER), lambda: kubernetes, pause, tell, tell, json_file=file, **more
        )  # fmt: skip
        code = carry_out(Cancel("dev", job, namespace, now), site, Person(Consent(yes=True), tell))
        return Cancelled(code, json.loads(file.read_text()), lines)
