"""`trn drain` in a cluster that a test brings: carried out as the command is, in an account that holds no more than the cluster."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from json import loads
from pathlib import Path
from typing import Any

from tests.trn.aws.cloud import Cloud
from tests.trn.aws.leftovers import leave_control_plane
from tests.trn.change.owned import FakePulumi, state, subject
from trn.change.consent import Person
from trn.change.executor import carry_out
from trn.change.ownership import Consent
from trn.change.whose import Site
from trn.ending.drain.change import Drain
from trn.kubernetes.client import Kubernetes

CLUSTER = "train"
DOING = ("closing ", "emptying ", "deleting ")


@dataclass
class Drained:
    """One drain."""

    cluster: Kubernetes
    consent: Consent = field(default_factory=lambda: Consent(yes=True))
    pause: Callable[[float], None] = lambda seconds: None
    tell: Callable[[str], None] = lambda line: None
    """Is told what is done, and why not."""
    show: Callable[[int, int], None] = lambda done, total: None
    report: dict[str, Any] = field(default_factory=dict[str, Any])

    def run(self) -> "Drained":
        """To its end. The report is there however it ends."""
        cloud = Cloud()
        leave_control_plane(cloud, CLUSTER)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "report.json"
            site = Site(
                cloud.api, FakePulumi(state(CLUSTER)), subject(CLUSTER), lambda: self.cluster, self.pause, self._told, lambda _: None,
                self.show, json_file=file,
            )  # fmt: skip
            try:
                carry_out(Drain("dev"), site, Person(self.consent, self._told))
            finally:
                self.report = loads(file.read_text())
        return self

    def _told(self, line: Any) -> None:
        if isinstance(line, str) and line.startswith((*DOING, "cannot", "stopped while")):
            self.tell(line)

    @property
    def left(self) -> list[str]:
        """What stays."""
        return [entry["object"] for entry in self.report["left"]]

    @property
    def new(self) -> list[str]:
        """What stays of what was not confirmed."""
        return [entry["object"] for entry in self.report["left"] if entry["isNew"]]


def drain(cluster: Kubernetes, **more: Any) -> list[str]:
    """What a drain leaves."""
    return Drained(cluster, **more).run().left
