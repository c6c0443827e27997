"""`trn rehearse upgrade`: two minors in the virtual clock with busy nodes, and what the account refuses on the way."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import copy_project
from tests.trn.practice.commands import trn
from tests.trn.practice.test_upgrade import SMALL, WAY
from trn.engine.stack_edit import Edit
from trn.engine.stack_file import StackFile, read_stack_file, with_edits
from trn.running.upgrade.steps import (
    CONTROL_PLANE_KEY,
    Group,
    Standing,
    Step,
    groups_at,
    readable,
    release_for,
    sections,
    settings_before,
    standing_file,
    steps,
)
from trn.running.upgrade.timed import timed


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StackFile:
    """The small stack of 1.34, as a file alone."""
    copy_project(tmp_path)
    (tmp_path / "Pulumi.dev.yaml").write_text(SMALL.replace("    supportType: EXTENDED\n", ""))
    monkeypatch.chdir(tmp_path)
    return read_stack_file("dev")


def test_two_minors_with_a_job_on_the_nodes(small: StackFile):
    """Nothing but the last step stops a job, and each step says how long it takes; the stack file on disk stays as it was."""
    before = Path("Pulumi.dev.yaml").read_text()
    code, out, _ = trn("rehearse upgrade dev --to 1.36 --accept volcano --json upgrade.json")
    assert code == 0, out
    data: dict[str, Any] = json.loads(Path("upgrade.json").read_text())
    assert [step["step"] for step in data["steps"]] == WAY
    assert [step["step"] for step in data["steps"] if "jobs on them stop" in step["stops"]] == ["nodes of train 1.36"]
    assert [step["seconds"] > 500 for step in data["steps"] if step["kind"] == "control plane"] == [True, True]
    assert data["seconds"] == sum(step["seconds"] for step in data["steps"])
    assert list(data["charts"]) == ["volcano"]
    assert "a job on train runs on for" in out
    assert Path("Pulumi.dev.yaml").read_text() == before
    assert trn("rehearse upgrade dev --to 1.36")[0] == 1, "volcano is not accepted"
    assert trn("rehearse upgrade dev --to 1.35")[0] == 0, "volcano lists 1.35"


def test_what_eks_refuses_ends_the_rehearsal(small: StackFile):
    """A way that skips a minor, moves nodes first, or leaves the skew is refused by the account, whoever planned it."""
    settings = settings_before(small)
    standing = Standing("1.34", groups_at(settings, "1.34"))
    held = [Edit((*group.section, "kubernetesVersion"), "1.34") for group in standing.groups]
    skipping = Step("control plane", "1.36", (Edit(CONTROL_PLANE_KEY, "1.36"), *held))
    (found,) = timed(small, standing, [skipping, skipping])
    assert "Unsupported Kubernetes minor version update from 1.34 to 1.36" in found.errors[0]
    ahead = Step("add-ons", "1.35", (Edit(CONTROL_PLANE_KEY, "1.35"), *held))
    (found,) = timed(small, standing, [ahead])
    assert any("Addon version specified is not supported: kube-proxy v1.35" in error for error in found.errors)


def test_an_outgoing_minor_is_readable_and_a_stopped_run_is_read_from_the_cluster(small: StackFile):
    """The program refuses 1.34 for a new cluster; one that is of it has to get away from it."""
    assert readable(small).configuration["controlPlane"]["supportType"] == "EXTENDED"
    assert readable(readable(small)) == readable(small)
    settings = settings_before(small)
    assert [name for name, *_ in sections(settings)] == ["core", "train"]
    standing = Standing("1.34", groups_at(settings, "1.34"))
    planned = steps(standing, "1.36", lambda group, minor: release_for(group, minor, settings))
    half = with_edits(small, [edit for step in planned for edit in step.edits])
    again = standing_file(half, standing)
    assert again.configuration["controlPlane"]["kubernetesVersion"] == "1.34"
    assert again.configuration["nodeGroups"]["train"]["releaseVersion"] == "1.34.7-20260505"
    assert settings_before(again) == settings


def test_groups_take_the_release_of_the_minor_that_is_tried(small: StackFile):
    """`--from` asks of a cluster that the file does not describe."""
    later = groups_at(settings_before(small), "1.35")
    assert [(group.name, group.minor, group.pinned) for group in later] == [("core", "1.35", None), ("train", "1.35", "1.35.4-20260505")]
    assert later[1] == Group("train", ("nodeGroups", "train"), "1.35", "1.35.4-20260505", True)
