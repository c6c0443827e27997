"""How an upgrade walks its steps: what comes before each, what ends it, and what Pulumi is asked."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support import copy_project
from training.phase import Phase
from trn.change.action import PulumiRun
from trn.change.identity import Kube, StateId, file_id
from trn.change.occupants import Occupants
from trn.cli.errors import MISUSE, CommandError
from trn.engine.stack_edit import Edit, edited
from trn.engine.stack_file import read_stack_file
from trn.kubernetes.jobs.table import JobRow
from trn.running.upgrade.change import ROUNDS, RUN, Seen, Upgrade, up_command
from trn.running.upgrade.steps import Group, Standing, Step
from trn.running.upgrade.timed import Timed

GROUP = Group("trn1-32xl", ("nodeGroups", "trn1-32xl"), "1.35", None, True)
PLANE = Timed(Step("control plane", "1.36", (Edit(("controlPlane", "kubernetesVersion"), "1.36"),)), ("urn:a",), 1.0, 1, (), ())
CHARTS = Timed(Step("charts", "1.36", ()), (), 1.0, 1, (), ())
NODES = Timed(Step("nodes", "1.36", (), GROUP), (), 1.0, 1, (), ())
STATE = StateId("dev", "lineage", "serial", frozenset())


def busy(name: str = "bert") -> Occupants:
    """A job as `trn jobs` shows it."""
    row = JobRow(
        name=name, kind="Job", nodes_wanted=1, nodes_running=1, since="", state=Phase.RUNNING, restarts=0, cause=None, why=None, do=None
    )
    return Occupants((row,), objects=frozenset([Kube("Job", f"training/{name}", f"uid-{name}")]))


class Walk:
    """A stack file on disk, a Pulumi that writes down what it was asked, and who is on the nodes."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = copy_project(folder)
        self.path = self.root / "Pulumi.dev.yaml"
        self.asked, self.told, self.code = list[tuple[str, ...]](), list[str](), 0
        self.there = list[Occupants]()
        walk: Any = self
        monkeypatch.setattr(Upgrade, "_pulumi", lambda _: walk)
        monkeypatch.setattr(Upgrade, "_occupants", lambda *_: walk.there.pop(0) if walk.there else Occupants())
        self.site: Any = type("Site", (), {"kubernetes": lambda _: None, "tell": lambda _, line: walk.told.append(line)})()

    def run(self, command: tuple[str, ...], _: Any) -> tuple[int, str]:
        """As the CLI does."""
        self.asked.append(command)
        return self.code, ""

    def change(self, **choices: Any) -> Upgrade:
        """To 1.36."""
        return Upgrade(read_stack_file("dev", self.root), "trainium-dev", "1.36", **choices)

    def seen(self, *steps: Timed, on: Occupants | None = None, **more: Any) -> Seen:
        """What a look saw."""
        standing = Standing("1.35", (GROUP,))
        there = {} if on is None else {GROUP.name: on}
        texts = [self.path.read_text()]
        for each in steps:
            texts.append(edited(texts[-1], each.step.edits))
        file = read_stack_file("dev", self.root)
        return Seen(file, file_id(self.path), STATE, standing, steps, tuple(texts), occupants=there, **more)

    def do(self, change: Upgrade, seen: Seen) -> list[str]:
        """Each action in its turn; how they went."""
        return [action.do(self.site, action.object).kind for action in change.actions(seen)]


@pytest.fixture
def walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Walk:
    """The shipped stack's file."""
    return Walk(tmp_path, monkeypatch)


def verbs(change: Upgrade, seen: Seen) -> list[str]:
    """What it would do."""
    return [action.verb for action in change.actions(seen)]


def test_keys_are_written_before_pulumi_runs(walk: Walk):
    """And each run is agreed to with the text of the file that it finds and leaves."""
    walk.code = 1
    change, seen = walk.change(), walk.seen(PLANE, CHARTS)
    first, second = change.actions(seen)
    with pytest.raises(CommandError, match=r"stopped at control plane 1\.36: what Pulumi printed says why"):
        first.do(walk.site, STATE)
    assert 'kubernetesVersion: "1.36"' in walk.path.read_text()
    assert isinstance(first, PulumiRun)
    assert isinstance(second, PulumiRun)
    assert (first.wanted[0], first.wanted[1], second.wanted[0]) == (seen.which, file_id(walk.path), file_id(walk.path))


def test_an_edit_by_another_one_between_two_steps_is_not_carried_out(walk: Walk):
    """`pulumi up` would take it along: nothing is written over it, and it is named."""
    change, seen = walk.change(), walk.seen(PLANE, CHARTS)
    first, second = change.actions(seen)
    assert first.do(walk.site, STATE).kind == "done"
    theirs = walk.path.read_text().replace("size: 2\n", "size: 3\n")
    walk.path.write_text(theirs)
    assert second.do(walk.site, STATE).kind == "moved"
    assert [each.kind for each in (first.do(walk.site, STATE),)] == ["moved"]
    assert (walk.path.read_text(), len(walk.asked)) == (theirs, 1)
    assert "nodeGroups.trn1-32xl.size: 3, was 2" in walk.told[-1]


def test_after_a_stop_pulumi_looks_again_until_it_has_looked_at_all(walk: Walk):
    """A run with targets refreshes those alone."""
    assert walk.do(walk.change(), walk.seen(PLANE, CHARTS, NODES, is_resumed=True)) == ["done"] * 3
    assert ["--refresh" in command for command in walk.asked] == [True, True, False]
    assert up_command("dev", ("urn:a", "urn:b"), refresh=True) == (
        "pulumi", "up", "--yes", "--skip-preview", "--refresh", "--target", "urn:a", "--target", "urn:b", "--stack", "dev",
    )  # fmt: skip


def test_jobs_stop_only_by_consent_to_these_jobs(walk: Walk):
    """All before is done first; then `--yes` alone ends it, and a person is asked about them by name."""
    seen, later = walk.seen(PLANE, NODES, on=busy()), f"ask before {NODES.step.title}"
    assert verbs(walk.change(), seen) == [f"{RUN}control plane 1.36", later]
    assert [action.is_change for action in walk.change().actions(seen)] == [True, False]
    assert walk.do(walk.change(), seen) == ["done", "held"]
    assert verbs(walk.change(interrupts=True), seen) == [f"{RUN}control plane 1.36", f"{RUN}nodes of trn1-32xl 1.36"]
    first = walk.seen(NODES, on=busy())
    (refusal,) = walk.change(yes=True).refusals(first)
    assert (refusal.wrong, refusal.code) == ("jobs run on trn1-32xl: bert; --yes alone does not stop them", MISUSE)
    assert list(walk.change(yes=True).refusals(seen)) == list(walk.change().refusals(first)) == []
    assert "and interrupt trn1-32xl: bert?" in walk.change().question(first).text
    walk.there = [busy()]
    assert walk.do(walk.change(), first) == ["done"]
    walk.there = [busy("late")]
    assert walk.do(walk.change(), first) == ["held"]
    assert "training/late has started" in walk.told[-1]
    walk.there = [busy()]
    assert walk.do(walk.change(interrupts=True), walk.seen(NODES)) == ["done"]


def test_jobs_are_waited_for(walk: Walk):
    """Each minute they are looked for, and not for ever."""
    walk.there = [busy()]
    change, seen = walk.change(waits=True, looks=3, yes=True), walk.seen(NODES, on=busy())
    wait, run = change.actions(seen)
    assert (wait.is_change, list(change.refusals(seen))) == (False, [])
    settled = wait.do(walk.site, STATE).settled
    assert settled is not None
    walk.there = [busy(), busy(), Occupants(), *[busy()] * 2]
    assert [settled(walk.site) and "done" for _ in range(3)] == [None, None, "done"]
    assert settled(walk.site) is None
    with pytest.raises(CommandError, match="jobs still run on trn1-32xl: bert"):
        settled(walk.site)
    walk.there = [busy()]
    assert (run.do(walk.site, STATE).kind, change.pace.rounds) == ("held", ROUNDS)


def test_what_changed_since_it_was_shown_is_asked_again(walk: Walk):
    """Minors, the stack file, the state."""
    change, shown = walk.change(), walk.seen(PLANE)
    assert list(change.differences(shown, walk.seen(PLANE))) == []
    walk.path.write_text(walk.path.read_text().replace("size: 2\n", "size: 3\n"))
    now = replace(walk.seen(PLANE), standing=Standing("1.36", (GROUP,)), state=replace(STATE, serial="another"))
    found = list(change.differences(shown, now))
    assert all(each.is_grave for each in found)
    assert [each.what.partition(":")[0] for each in found] == [
        "the cluster has changed since the plan was shown", "the stack file has been edited since the plan was shown",
        "the state of stack `dev` has changed since it was shown",
    ]  # fmt: skip
