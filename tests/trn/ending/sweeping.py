"""`trn sweep --delete` in an account that a test brings, carried out as the command is."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from json import loads
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

from tests.trn.aws.cloud import STACK
from tests.trn.change.owned import EMPTY, FakePulumi, subject
from trn.aws.api import Api
from trn.change.consent import Person
from trn.change.executor import carry_out
from trn.change.ownership import Consent, StackCluster
from trn.change.sweep_plan import SweepPlan
from trn.change.whose import Site, read_whose
from trn.ending.sweep.change import Sweep
from trn.engine.pulumi import Pulumi

CLUSTER = "train"
NAMED = Consent(yes=True, name=CLUSTER, identity=STACK)


def unreached() -> Any:
    """A sweep never asks Kubernetes."""
    raise AssertionError


class Account(Protocol):
    """An account that is reached through boto3."""

    @property
    def api(self) -> Api:
        """AWS."""
        ...


@dataclass
class Sweeping:
    """One sweep. Unless told otherwise its stack is gone, and the name was typed."""

    cloud: Account
    data: frozenset[str] = frozenset()
    pulumi: Pulumi = field(default_factory=lambda: FakePulumi(EMPTY))
    consent: Consent = NAMED
    about: StackCluster = field(default_factory=lambda: subject(CLUSTER))
    pause: Callable[[float], None] = lambda seconds: None
    tell: Callable[[str], None] = lambda line: None
    """Is told what is deleted, and why something is not."""
    show: Callable[[int, int], None] = lambda done, total: None
    choices: dict[str, Any] = field(default_factory=dict[str, Any])
    report: dict[str, Any] = field(default_factory=dict[str, Any])

    def run(self) -> "Sweeping":
        """To its end. The report is there however it ends."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "report.json"
            try:
                self.code = carry_out(self._change(), self._site(file), Person(self.consent, self._told))
            finally:
                self.report = loads(file.read_text())
        return self

    def plan(self) -> SweepPlan:
        """What would be deleted now."""
        site = self._site()
        return self._change().look(site, read_whose(site)).plan

    def _change(self) -> Sweep:
        data, final_backup = self.choices.get("data", self.data), self.choices.get("final_backup", False)
        return Sweep("dev", data, final_backup, self.consent.identity)

    def _site(self, file: Path | None = None) -> Site:
        return Site(
            self.cloud.api, self.pulumi, self.about, unreached, self.pause, self._told, lambda _: None, self.show,
            self.choices.get("state_file"), self.choices.get("break_lock", False), file,
        )  # fmt: skip

    def _told(self, line: Any) -> None:
        if isinstance(line, str) and (line.startswith(("deleting ", "refused ", "stopped while")) or " is held by " in line):
            self.tell(line)

    @property
    def kept(self) -> list[tuple[Any, str]]:
        """What the first look left alone, with the reason."""
        return [(SimpleNamespace(**entry), entry["why"]) for entry in self.report["kept"]]

    @property
    def deleted(self) -> list[Any]:
        """What went."""
        return [SimpleNamespace(**entry) for entry in self.report["deleted"]]

    @property
    def left(self) -> list[tuple[Any, str]]:
        """What is still there, with what AWS said last."""
        return [(SimpleNamespace(**entry), "; ".join(entry["said"])) for entry in self.report["left"]]
