"""`trn upgrade` against a practice account: the whole way, stopped and continued at every step, and what it refuses."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.engine.run import Engine
from tests.sharing import mostly_long
from tests.support import copy_project
from tests.trn.practice.commands import UP, trn
from trn.change.hold import cluster_lock
from trn.engine.program import record_stack
from trn.engine.stack_file import StackFile, with_edits
from trn.practice.pulumi import RehearsalEngine
from trn.running.upgrade.look import look
from trn.running.upgrade.steps import Standing, Step, standing_file
from trn.running.upgrade.timed import Timed, targets_of

SMALL = """# A small cluster.
config:
  trn:name: small
  trn:region: us-west-2
  trn:network:
    zones: [usw2-az4, usw2-az1]
    nat: single
  trn:controlPlane:
    kubernetesVersion: "1.34" # the platform team's
    supportType: EXTENDED
    publicAccessCidrs: [203.0.113.0/24]
  trn:nodeGroups:
    train:
      instanceType: trn1.2xlarge
      size: 1
      releaseVersion: 1.34.7-20260505
  trn:storage:
    lustre: {enabled: false}
  trn:training:
    toolchain: xla-2.30
"""
FILE = Path("Pulumi.dev.yaml")
UPGRADE = "--practice upgrade dev --to 1.36 --accept volcano --yes"
WAY = [
    "control plane 1.35", "add-ons 1.35", "charts 1.35", "control plane 1.36", "add-ons 1.36", "charts 1.36",
    "nodes of core 1.36", "nodes of train 1.36",
]  # fmt: skip


@pytest.fixture(scope="module")
def small_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small stack of 1.34 that is up. Not to be changed."""
    root = copy_project(tmp_path_factory.mktemp("small"))
    (root / FILE).write_text(SMALL)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(root)
        monkeypatch.setattr("trn.practice.engines.shutil.which", lambda _name: None)
        assert trn(UP)[0] == 0
    return root / "build"


@pytest.fixture
def small(project: Path, small_build: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, to be changed. Steps are not rehearsed first: what they do to the account is what is looked at here."""
    FILE.write_text(SMALL)
    shutil.copytree(small_build, project / "build")

    def unrehearsed(stack_file: StackFile, standing: Standing, steps: Sequence[Step]) -> list[Timed]:
        file, found = standing_file(stack_file, standing), list[Timed]()
        for step in steps:
            file = with_edits(file, step.edits)
            found.append(Timed(step, targets_of(step, record_stack(file)), 1.0, 1, (), ()))
        return found

    monkeypatch.setattr("trn.running.upgrade.change.timed", unrehearsed)
    return project


def steps_in(printed: str) -> list[str]:
    """Steps that a run began, in their order."""
    return [line.partition(": ")[2] for line in printed.splitlines() if line.startswith("step ") and " of " in line]


def test_jobs_are_named_and_stop_only_by_consent(small: Path):
    """The control plane goes ahead of the nodes; the nodes with a job wait for a word, and their comments stay where they are."""
    assert trn("practice job dev bert")[0] == 0
    code, _, err = trn(UPGRADE)
    assert (code, steps_in(err)) == (2, WAY[:-1])
    assert "jobs run on train: bert; --yes alone does not stop them" in err
    kept = yaml.safe_load(FILE.read_text())["config"]
    assert kept["trn:controlPlane"]["kubernetesVersion"] == "1.36"
    assert kept["trn:nodeGroups"]["train"]["kubernetesVersion"] == "1.34"
    assert "kubernetesVersion" not in (kept.get("trn:coreNodes") or {})
    code, _, err = trn(f"{UPGRADE} --wait")
    assert (code, steps_in(err), "jobs still run on train: bert" in err) == (1, [], True)
    code, out, err = trn(f"{UPGRADE} --interrupt")
    assert (code, steps_in(err)) == (0, WAY[-1:])
    assert "small is of 1.36" in out
    text = FILE.read_text()
    assert "# the platform team's" in text
    assert yaml.safe_load(text)["config"]["trn:nodeGroups"]["train"] == {
        "instanceType": "trn1.2xlarge", "size": 1, "releaseVersion": "1.36.1-20260610",
    }  # fmt: skip
    code, out, err = trn(UPGRADE)
    assert (code, "nothing to do" in out, steps_in(err)) == (0, True, [])


@pytest.mark.parametrize("answer", mostly_long(["y", "n"]))
def test_a_person_is_asked_about_the_jobs_when_all_else_is_done(small: Path, answer: str):
    """A no leaves the nodes at their minor, and the report says what is left."""
    assert trn("practice job dev bert")[0] == 0
    code, _, err = trn(f"{UPGRADE.removesuffix(' --yes')} --json report.json", answer=f"y\n{answer}\n")
    report = json.loads(Path("report.json").read_text())
    assert "Upgrade small in 7 steps" in err
    assert "not confirmed yet: upgrade nodes of train 1.36 state dev, interrupts train: bert" in err
    assert (code, steps_in(err), f"step 1 of 1: {WAY[-1]}" in err) == (int(answer == "n"), WAY[:-1], answer == "y"), err
    assert [step["done"] for step in report["steps"]] == [True] * 7 + [answer == "y"]
    assert (report["stoppedAt"], [step["step"] for step in report["steps"]]) == (None if answer == "y" else WAY[-1], WAY)


def test_of_two_operators_the_slower_does_nothing(small: Path, monkeypatch: pytest.MonkeyPatch):
    """The other one's run begins and ends while the question stands: neither the stack file nor the account is touched."""
    moved = list[bool]()

    def overtaken(*given: Any, **more: Any) -> Any:
        moved.append(True)
        return cluster_lock(*given, **more)

    def seen(*given: Any) -> Any:
        return replace(look(*given), control_plane="1.36") if moved else look(*given)

    monkeypatch.setattr("trn.running.upgrade.change.cluster_lock", overtaken)
    monkeypatch.setattr("trn.running.upgrade.change.look", seen)
    code, _, err = trn(UPGRADE)
    assert (code, steps_in(err), FILE.read_text()) == (2, [], SMALL)
    assert "the control plane of small is of 1.36, the stack file says 1.34: it was upgraded elsewhere" in " ".join(err.split())


@pytest.mark.parametrize("moment", mostly_long(["during", "before", "after"]))
def test_a_run_that_is_killed_at_any_step_goes_on_there(small: Path, monkeypatch: pytest.MonkeyPatch, moment: str):
    """Killed with the keys written and nothing done, while AWS was at it, and with all done and nothing known: no step is left out."""
    up = Engine.up

    def cut_short(self: Engine, *given: Any, **more: Any) -> Any:
        """The run ends as soon as an operation is under way, which the state then holds as pending."""
        write = self.checkpoint

        def checkpoint(under_way: Sequence[Any]) -> None:
            assert write is not None
            write(under_way)
            if under_way:
                raise KeyboardInterrupt

        self.checkpoint = checkpoint
        return up(self, *given, **more)

    begun, do, kills, out = list[str](), RehearsalEngine.run, [True], ""

    def run(self: Any, command: tuple[str, ...], more: Any) -> tuple[int, str]:
        if command[1] != "up":
            return do(self, command, more)
        if moment == "before" and kills[0]:
            kills[0] = False
            raise KeyboardInterrupt
        is_cut = moment == "during" and kills[0]
        kills[0] = not kills[0]
        with monkeypatch.context() as patch:
            if is_cut:
                patch.setattr(Engine, "up", cut_short)
            answer = do(self, command, more)
        if moment == "after":
            raise KeyboardInterrupt
        return answer

    monkeypatch.setattr(RehearsalEngine, "run", run)
    for _ in range(20):
        code, out, err = trn(UPGRADE)
        begun += steps_in(err)
        if code == 0:
            break
        assert code == 130, err
    assert "small is of 1.36" in out
    in_order = list(dict.fromkeys(begun))
    # What was done to its end is not done again; the charts of a minor cannot be seen from outside, and go along with what follows.
    assert in_order == [step for step in WAY if step in in_order]
    assert {step for step in WAY if not step.startswith(("charts", "add-ons"))} <= set(in_order)
    assert trn("--practice plan dev")[0] == 0
    assert (trn(UPGRADE)[0], 'kubernetesVersion: "1.36"' in FILE.read_text()) == (0, True)


def test_a_group_whose_end_only_the_state_does_not_know_has_a_step_of_its_own(small: Path, monkeypatch: pytest.MonkeyPatch):
    """The last run was killed while EKS rolled the nodes. Jobs there go on, and another AMI in the stack file is no part of it."""
    do, asked, last = RehearsalEngine.run, list[tuple[str, ...]](), 5

    def run(self: RehearsalEngine, command: tuple[str, ...], more: Any) -> tuple[int, str]:
        asked.extend([command] if command[1] == "up" else [])
        before = self.state.load()
        answer = do(self, command, more)
        if command[1] == "up" and len(asked) == last:
            self.state.save(before)
            raise KeyboardInterrupt
        return answer

    monkeypatch.setattr(RehearsalEngine, "run", run)
    again = UPGRADE.replace("1.36", "1.35")
    code, _, err = trn(again)
    assert (code, steps_in(err)[-1]) == (130, "nodes of train 1.35"), err
    assert trn("practice job dev bert")[0] == 0
    pinned = FILE.read_text()
    for theirs in (pinned.replace("1.35.4-20260505", "1.35.6-20260625"), pinned.replace("size: 1\n", "size: 1\n      maxSize: 3\n")):
        assert theirs != pinned
        FILE.write_text(theirs)
        code, _, err = trn(again)
        assert (code, steps_in(err)) == (1, [])
        assert "would change more than an upgrade does: update aws:eks/nodeGroup:NodeGroup train" in err
    FILE.write_text(pinned)
    code, _, err = trn(again)
    assert (code, steps_in(err), FILE.read_text()) == (0, ["nodes 1.35"], pinned), err
    (target,) = [target for option, target in pairwise(asked[-1]) if option == "--target"]
    assert ("--refresh" in asked[-1], target.endswith("NodeGroup::train")) == (True, True)
    assert "nothing to do" in trn(again)[1]


def test_a_step_that_fails_stops_it_and_the_next_run_goes_on(small: Path, monkeypatch: pytest.MonkeyPatch):
    """`pulumi up` failed: nothing further is begun."""
    do = RehearsalEngine.run
    with monkeypatch.context() as patch:
        patch.setattr(RehearsalEngine, "run", lambda self, command, more: (1, "") if "up" in command else do(self, command, more))
        code, _, err = trn(UPGRADE)
    assert (code, steps_in(err)) == (1, WAY[:1])
    assert "stopped at control plane 1.35: what Pulumi printed says why" in err
    assert "goes on there" in err
    code, _, err = trn(UPGRADE)
    assert (code, steps_in(err)) == (0, WAY)


def test_a_pulumi_that_did_nothing_is_not_believed(small: Path, monkeypatch: pytest.MonkeyPatch):
    """EKS is asked after each step."""
    do = RehearsalEngine.run
    monkeypatch.setattr(RehearsalEngine, "run", lambda self, command, more: (0, "") if "up" in command else do(self, command, more))
    code, _, err = trn(UPGRADE)
    assert (code, "EKS still has the control plane at 1.34" in err) == (1, True)


@pytest.mark.parametrize(
    ("command", "edit", "code", "says"),
    [
        ("upgrade dev --to 1.37", (), 2, "no minor that this program has pinned versions for; allowed: 1.34, 1.35, 1.36"),
        ("upgrade dev --to 1.36 --wait --interrupt", (), 2, "exclude each other"),
        ("upgrade dev --to 1.36 --accept valcano", (), 2, "`--accept valcano` names no chart of this stack"),
        ("upgrade dev --to 1.36", (), 1, "volcano 1.15.0 lists 1.24 to 1.35, not 1.36"),
        ("upgrade dev --to 1.35", ("1.34", "1.36"), 2, "EKS takes one minor at a time"),
        ("upgrade dev --to 1.35", ("size: 1", "size: 1\n      rootVolumeGib: 200"), 1, "would change more than an upgrade does"),
    ],
)
def test_what_is_refused_changes_nothing(small: Path, command: str, edit: tuple[str, ...], code: int, says: str):
    """Before any step, and with the stack file as it was."""
    if edit:
        FILE.write_text(
            FILE.read_text().replace(f'"{edit[0]}"' if edit[0][0] == "1" else edit[0], f'"{edit[1]}"' if edit[0][0] == "1" else edit[1])
        )
        if edit[0] == "1.34":
            FILE.write_text(FILE.read_text().replace("1.34.7-20260505", "1.36.1-20260610"))
    before = FILE.read_text()
    found, out, err = trn(f"--practice {command}")
    assert (found, says in out + err) == (code, True), out + err
    assert (FILE.read_text(), steps_in(err)) == (before, [])


def test_a_control_plane_is_not_taken_back(small: Path):
    """Neither by the option, nor by a stack file that is older than the cluster."""
    assert trn("--practice upgrade dev --to 1.35 --yes")[0] == 0
    code, _, err = trn("--practice upgrade dev --to 1.34 --yes")
    assert (code, "EKS never takes it back to 1.34" in err) == (2, True)
    FILE.write_text(SMALL)
    code, _, err = trn(UPGRADE)
    assert (code, "it was upgraded elsewhere, and is never downgraded" in err) == (2, True)


def test_an_edit_while_it_runs_is_not_carried_out_unseen(small: Path, monkeypatch: pytest.MonkeyPatch):
    """A colleague commits between two steps: it stops there, names the key, and goes on once the edit is taken back."""
    do, old, new = RehearsalEngine.run, "size: 1", "size: 2"

    def run(self: Any, command: tuple[str, ...], more: Any) -> tuple[int, str]:
        if command[1] == "up" and "size: 1" in FILE.read_text():
            FILE.write_text(FILE.read_text().replace(old, new))
        return do(self, command, more)

    with monkeypatch.context() as patch:
        patch.setattr(RehearsalEngine, "run", run)
        code, _, err = trn(UPGRADE)
    assert (code, steps_in(err), "nodeGroups.train.size: 2, was 1" in err) == (1, WAY[:1], True), err
    # Neither does the next run take it for a part of the upgrade.
    code, _, err = trn(UPGRADE)
    assert (code, steps_in(err), "would change more than an upgrade does: " in err) == (1, [], True), err
    FILE.write_text(FILE.read_text().replace(new, old))
    code, _, err = trn(UPGRADE)
    assert (code, steps_in(err)[-1]) == (0, WAY[-1]), err


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("1.34.7-20260505", "1.34.9-20260618", "update aws:eks/nodeGroup:NodeGroup train"),
        ("trn:coreNodes:", "trn:coreNodes:\n    instanceType: m5.2xlarge", "replace aws:eks/nodeGroup:NodeGroup core"),
        ("supportType: EXTENDED", "supportType: STANDARD", "update aws:eks/cluster:Cluster control-plane-eksCluster"),
    ],
)
def test_an_edit_between_two_runs_is_no_part_of_the_upgrade(small: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, names: str):
    """Though a minor changes the same object, or the same key of it: a step that is not about these nodes would roll them unseen."""
    do = RehearsalEngine.run

    def run(self: RehearsalEngine, command: tuple[str, ...], more: Any) -> tuple[int, str]:
        if command[1] == "up" and not any("aws:eks/" in word for word in command):
            raise KeyboardInterrupt
        return do(self, command, more)

    with monkeypatch.context() as patch:
        patch.setattr(RehearsalEngine, "run", run)
        code, _, err = trn(UPGRADE)
    assert (code, steps_in(err)[-1]) == (130, "charts 1.35"), err
    before = FILE.read_text()
    FILE.write_text(before.replace(old, new))
    assert FILE.read_text() != before
    code, _, err = trn(UPGRADE)
    assert (code, steps_in(err), f"would change more than an upgrade does: {names}\n" in err) == (1, [], True), err
    FILE.write_text(before)
    code, _, err = trn(UPGRADE)
    assert (code, steps_in(err)[-1]) == (0, WAY[-1]), err


def test_a_size_that_was_set_beside_the_stack_file_is_not_set_back(small: Path, monkeypatch: pytest.MonkeyPatch):
    """`trn scale` changes no state: only a run that reads everything again sees it, and nobody agreed that these nodes go."""
    do, asked = RehearsalEngine.run, list[tuple[str, ...]]()

    def run(self: RehearsalEngine, command: tuple[str, ...], more: Any) -> tuple[int, str]:
        asked.append(command)
        return do(self, command, more)

    monkeypatch.setattr(RehearsalEngine, "run", run)
    assert trn("practice job dev bert")[0] == 0
    FILE.write_text(SMALL.replace("size: 1\n", "size: 1\n      maxSize: 3\n"))
    assert trn(UP)[0] == 0
    assert trn("--practice scale dev train 2 --yes")[0] == 0
    asked.clear()
    code, _, err = trn(f"{UPGRADE.removesuffix(' --yes')}", answer="y\nn\n")
    assert (code, steps_in(err), "would set sizes back" in err) == (1, WAY[:-1], False), err
    assert not [each for each in asked if "--refresh" in each]
    code, _, err = trn(f"{UPGRADE} --interrupt")
    assert (code, steps_in(err)) == (1, []), err
    assert "would set sizes back: train has 2 nodes, the stack file says 1" in err
    assert trn("--practice scale dev train 1 --yes")[0] == 0
    code, _, err = trn(f"{UPGRADE} --interrupt")
    assert (code, steps_in(err), "--refresh" in asked[-1]) == (0, WAY[-1:], True), err


def test_a_stack_file_that_cannot_be_written_is_refused_before_the_first_step(small: Path, monkeypatch: pytest.MonkeyPatch):
    """Read-only, or in a form whose keys cannot be changed alone: at a later step the cluster would be between two minors."""
    with monkeypatch.context() as patch:
        patch.setattr("trn.engine.stack_edit.os.access", lambda path, mode: False)
        code, _, err = trn(UPGRADE)
    assert (code, "it is read-only for this user" in err, steps_in(err)) == (1, True, []), err
    flow = "    train: {instanceType: trn1.2xlarge, size: 1, releaseVersion: 1.34.7-20260505} "
    head, _, rest = SMALL.partition("    train:\n")
    FILE.write_text(head + flow.rstrip() + "\n  trn:storage:" + rest.partition("  trn:storage:")[2])
    assert trn("--practice upgrade dev --to 1.35 --yes")[0] == 0
    assert yaml.safe_load(FILE.read_text())["config"]["trn:nodeGroups"]["train"]["releaseVersion"] == "1.35.4-20260505"
