"""How an upgrade walks its steps: what comes before each, what ends it, and what Pulumi is asked."""

from collections.abc import Sequence

import pytest

from tests.trn.change.owned import FakePulumi
from training.phase import Phase
from trn.change.occupants import Occupants
from trn.change.ownership import Consent
from trn.cli.errors import CommandError, OwnershipError
from trn.cli.watching import Watching
from trn.engine.stack_edit import Edit
from trn.kubernetes.jobs.table import JobRow
from trn.running.upgrade.run import Choices, Outcome, Ways, run, up_command
from trn.running.upgrade.steps import Group, Step
from trn.running.upgrade.timed import Timed

GROUP = Group("train", ("nodeGroups", "train"), "1.35", None, True)
PLANE = Timed(Step("control plane", "1.36", (Edit(("controlPlane", "kubernetesVersion"), "1.36"),)), ("urn:a",), 1.0, 1, (), ())
CHARTS = Timed(Step("charts", "1.36", ()), (), 1.0, 1, (), ())
NODES = Timed(Step("nodes", "1.36", (), GROUP), (), 1.0, 1, (), ())


NO_CHOICE = Choices(False, False)


class Walk:
    """A run whose every part writes down that it was used."""

    def __init__(
        self,
        *,
        busy: Sequence[bool] = (),
        wrong: str = "",
        code: int = 0,
        lost: bool = False,
        edits: Sequence[Sequence[str]] = (),
    ) -> None:
        self.edits = list(edits)
        self.seen, self.busy, self.wrong, self.code, self.lost = list[str](), list(busy), wrong, code, lost
        self.pulumi = FakePulumi({}, self._pulumi)

    def _pulumi(self, command: tuple[str, ...]) -> tuple[int, str]:
        self.seen.append("refresh" if "--refresh" in command else "up")
        return self.code, ""

    def _check(self) -> None:
        if self.lost:
            raise OwnershipError("the lock is lost", "")
        self.seen.append("check")

    def _occupants(self, group: Group) -> Occupants:
        return Occupants((row(),)) if self.busy and self.busy.pop(0) else Occupants()

    def go(self, *steps: Timed, choices: Choices = NO_CHOICE, yes: bool = True, is_resumed: bool = False) -> Outcome:
        """Walk."""
        ways = Ways(
            lambda: self.pulumi, lambda edits: self.seen.append(f"edit {len(edits)}") is None, self._occupants,
            lambda name, found: self.seen.append(f"show {found.counts}"), lambda step: self.wrong, self._check,
            lambda done: self.edits.pop(0) if self.edits else (),
        )  # fmt: skip
        consent = Consent(yes, confirm=lambda question: self.seen.append(question))
        watching = Watching(lambda line: None, lambda seconds: self.seen.append("pause"))
        return run("dev", steps, ways, choices, consent, watching, is_resumed=is_resumed)


def row() -> JobRow:
    """A job as `trn jobs` shows it."""
    unheld: dict[str, None] = {"cause": None, "why": None, "do": None}
    return JobRow(name="bert", kind="Job", nodes_wanted=1, nodes_running=1, since="", state=Phase.RUNNING, **unheld)


def test_keys_are_written_before_pulumi_runs_and_the_lock_is_looked_at_before_both():
    """A lock that is lost in the middle ends it before anything is written."""
    walk = Walk()
    assert len(walk.go(PLANE, CHARTS).done) == 2
    assert walk.seen == ["check", "edit 1", "up", "check", "edit 0", "up"]
    lost = Walk(lost=True)
    with pytest.raises(OwnershipError):
        lost.go(PLANE)
    assert lost.seen == []


@pytest.mark.parametrize(
    ("wrong", "code", "says"), [("", 1, "what Pulumi printed says why"), ("EKS still has 1.35", 0, "EKS still has 1.35")]
)
def test_the_first_step_that_fails_is_the_last(wrong: str, code: int, says: str):
    """Whether Pulumi says so, or EKS shows it."""
    outcome = Walk(wrong=wrong, code=code).go(PLANE, CHARTS)
    assert (outcome.done, outcome.stopped_at, outcome.why) == ([], PLANE.step, says)


def test_after_a_stop_pulumi_looks_again_until_it_has_looked_at_all():
    """A run with targets refreshes those alone."""
    walk = Walk()
    walk.go(PLANE, CHARTS, CHARTS, is_resumed=True)
    assert [each for each in walk.seen if each in ("up", "refresh")] == ["refresh", "refresh", "up"]
    assert up_command("dev", ("urn:a", "urn:b"), refresh=True) == (
        "pulumi", "up", "--yes", "--skip-preview", "--refresh", "--target", "urn:a", "--target", "urn:b", "--stack", "dev",
    )  # fmt: skip


def test_jobs_end_stay_or_are_given_up_by_choice():
    """`--yes` alone stops none; without it the question names them; `--wait` looks until they have ended."""
    with pytest.raises(CommandError, match="jobs run on train: bert; --yes alone does not stop them"):
        Walk(busy=[True]).go(NODES)
    asked = Walk(busy=[True])
    asked.go(NODES, yes=False)
    assert asked.seen[1] == "Roll the nodes of train, and interrupt 1 job: bert?"
    given_up = Walk(busy=[True])
    given_up.go(NODES, choices=Choices(False, True))
    assert given_up.seen == ["show 1 job", "check", "edit 0", "up"]
    waited = Walk(busy=[True, True, True, False])
    waited.go(NODES, choices=Choices(True, False))
    assert waited.seen == ["show 1 job", "pause", "pause", "pause", "check", "edit 0", "up"]
    with pytest.raises(CommandError, match="jobs still run on train: bert"):
        Walk(busy=[True] * 9).go(NODES, choices=Choices(True, False, looks=3))
    assert Walk().go(NODES).done == [NODES.step]


def test_an_edit_between_two_steps_is_named_and_asked_about_once():
    """`pulumi up` would carry it out along with the step; `--yes` was said of the plan that was shown."""
    size, disk = "nodeGroups.train.size: 3, was 1", "nodeGroups.train.rootVolumeGib: 300, was not there"
    asked = Walk(edits=[(), (size,), (size, disk)])
    assert len(asked.go(PLANE, CHARTS, CHARTS, yes=False).done) == 3
    questions = [each for each in asked.seen if each.startswith("Carry")]
    assert questions == ["Carry out this edit along with charts 1.36?"] * 2
    refused = Walk(edits=[(), (size,)])
    with pytest.raises(CommandError, match=r"charts 1\.36 would carry out edits that were not planned: nodeGroups\.train\.size: 3, was 1"):
        refused.go(PLANE, CHARTS)
    assert refused.seen == ["check", "edit 1", "up", "check"]
