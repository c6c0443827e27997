"""Changes of jobs, carried out on whatever cluster: in memory, or a real API server."""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.trn.aws.cloud import Cloud
from tests.trn.aws.leftovers import leave_control_plane
from tests.trn.change.owned import FakePulumi, state, subject
from trn.change.action import Change
from trn.change.consent import Person
from trn.change.executor import carry_out
from trn.change.ownership import Consent
from trn.change.whose import Site
from trn.jobs.cancel.change import Cancel
from trn.kubernetes.client import Kubernetes

CLUSTER = "train"


@dataclass(frozen=True)
class Carried:
    """What became of it."""

    code: int
    report: dict[str, Any]
    told: list[str]

    @property
    def is_gone(self) -> bool:
        """Whether nothing is left of a job that was cancelled."""
        return self.report["isGone"]


def carried(
    change: Change[Any], kubernetes: Kubernetes, *, pause: Callable[[float], None] = lambda seconds: None,
    told: list[str] | None = None, reports: list[Any] | None = None, break_lock: bool = False,
) -> Carried:  # fmt: skip
    """Carry it out, as one says `--yes`. Raises what ends it; `reports` has its report then too."""
    cloud, lines, kept = Cloud(), [] if told is None else told, [] if reports is None else reports
    leave_control_plane(cloud, CLUSTER)

    def tell(what: Any) -> None:
        lines.append(str(what))

    with tempfile.TemporaryDirectory() as folder:
        file, pulumi = Path(folder) / "report.json", FakePulumi(state(CLUSTER))
        site = Site(
            cloud.api, pulumi, subject(CLUSTER), lambda: kubernetes, pause, tell, tell, json_file=file, break_lock=break_lock
        )  # fmt: skip
        try:
            code = carry_out(change, site, Person(Consent(yes=True), tell))
        finally:
            kept.append(json.loads(file.read_text()))
        return Carried(code, kept[-1], lines)


def cancelled(kubernetes: Kubernetes, job: str = "bert", namespace: str = "training", *, now: bool = False, **more: Any) -> Carried:
    """`trn cancel` of a job."""
    return carried(Cancel("dev", job, namespace, now), kubernetes, **more)
