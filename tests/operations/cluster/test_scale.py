"""`trn scale`: limits moved no further than they must, EKS's own words where it fails, and the bill from there on."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from operations.aws.api import BotoApi
from operations.aws.node_groups import resize, scaling, sized
from operations.cli import app
from simulator.doors.wire.wire import Refused, Wire
from tests.operations.aws.cloud import Cloud
from tests.operations.aws.leftovers import leave_control_plane
from tests.operations.owned import hold
from tests.support import ROOT


class Group:
    """One node group whose updates take two looks."""

    def __init__(self, desired: int = 2, end: str = "Successful", errors: tuple[dict[str, str], ...] = ()) -> None:
        self.sizes, self.end, self.errors, self._looks = {"minSize": 0, "maxSize": 2, "desiredSize": desired}, end, errors, 0
        self.wire = Wire(
            {
                "eks.DescribeNodegroup": lambda given: {
                    "nodegroup": {"nodegroupName": given["nodegroupName"], "scalingConfig": self.sizes}
                },
                "eks.UpdateNodegroupConfig": self._update,
                "eks.DescribeUpdate": self._describe,
            }
        )
        self.cloud = Cloud()
        leave_control_plane(self.cloud, "trainium-dev")
        self.wire.handlers = {**self.cloud.wire.handlers, **self.wire.handlers}
        self.api = BotoApi("us-west-2", self.wire.session())

    def _update(self, given: dict[str, Any]) -> dict[str, Any]:
        self.sizes = given["scalingConfig"]
        return {"update": {"id": "u-1", "status": "InProgress"}}

    def _describe(self, given: dict[str, Any]) -> dict[str, Any]:
        self._looks += 1
        status = self.end if self._looks > 1 else "InProgress"
        return {"update": {"id": given["updateId"], "status": status, "errors": list(self.errors) if status == self.end else []}}


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, (0, 2, 0)), (1, (1, 2, 1)), (2, (1, 2, 2)), (4, (1, 4, 4))],
)
def test_limits_move_no_further_than_the_count_takes(count: int, expected: tuple[int, int, int]):
    """EKS refuses a size outside its limits."""
    found = sized({"minSize": 1, "maxSize": 2, "desiredSize": 2}, count)
    assert (found["minSize"], found["maxSize"], found["desiredSize"]) == expected
    assert sized({"minSize": 0, "maxSize": 0, "desiredSize": 0}, 0)["maxSize"] == 1


def test_it_waits_for_eks_and_tells_its_words():
    """A group without capacity says so here, not in `kubectl get nodes`."""
    pauses, shown = list[float](), list[tuple[int, int]]()
    group = Group()
    sizes = sized(scaling(group.api, "train", "trn"), 0)
    assert resize(group.api, "train", "trn", sizes, pauses.append, lambda number, rounds: shown.append((number, rounds))) == []
    assert (len(pauses), group.sizes["desiredSize"], shown) == (2, 0, [(0, 120), (1, 120), (2, 120)])
    words = ({"errorCode": "AsgInstanceLaunchFailures", "errorMessage": "no capacity"},)
    failed = Group(end="Failed", errors=words)
    assert resize(failed.api, "train", "trn", {"desiredSize": 1}, pauses.append) == ["AsgInstanceLaunchFailures: no capacity"]
    assert resize(Group(end="Cancelled").api, "train", "trn", {"desiredSize": 1}, pauses.append) == ["the update is Cancelled"]
    assert resize(Group(end="InProgress").api, "train", "trn", {"desiredSize": 1}, pauses.append) == ["EKS is still at it after 30 minutes"]


@pytest.fixture
def group(monkeypatch: pytest.MonkeyPatch) -> Group:
    """The shipped stack's group."""
    monkeypatch.chdir(ROOT)
    made = Group()
    monkeypatch.setattr("operations.access.Live.aws", lambda _, stack, region: made.api)
    hold(monkeypatch, "trainium-dev")
    monkeypatch.setattr("time.sleep", lambda _: None)
    return made


def trn(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(app, ["scale", *arguments], catch_exceptions=False)
    return result.exit_code, result.stdout, result.stderr


def test_down_to_zero_lists_what_goes_on_billing(group: Group, tmp_path: Path):
    """And how to keep it so."""
    code, out, _ = trn("trn1-32xl", "0", "--json", str(tmp_path / "scale.json"))
    assert (code, group.sizes) == (0, {"minSize": 0, "maxSize": 2, "desiredSize": 0})
    assert "the stack now costs 0.80 USD an hour" in out
    assert "0.100  control-plane-eksCluster, EKS control plane" in out
    assert "trn1.32xlarge" not in out
    assert "pulumi config set --stack dev --path 'trn:nodeGroups.trn1-32xl.size' 0" in out
    assert json.loads((tmp_path / "scale.json").read_text())["sizes"]["desiredSize"] == 0


def test_a_group_that_has_its_size_is_left_alone(group: Group):
    """No update, and nothing that a next `pulumi up` would set back."""
    code, out, _ = trn("trn1-32xl", "2", "--stack", "dev")
    assert (code, "sets it back" in out) == (0, False)
    assert group.wire.count()["eks.UpdateNodegroupConfig"] == 0


def test_more_than_the_stack_file_allows_is_priced_too(group: Group):
    """The file's own limit is no limit of EKS."""
    assert "the stack now costs 86.84 USD" in trn("trn1-32xl", "4")[1]


def test_slips_and_failures_have_their_exit_codes(group: Group):
    """2 for a group or cluster that is not there, 1 for what EKS could not do."""
    code, _, err = trn("trn9", "0")
    assert (code, "its groups: trn1-32xl, trn1n-32xl" in err) == (2, True)
    group.end, group.errors = "Failed", ({"errorCode": "InsufficientFreeAddresses", "errorMessage": "x"},)
    code, out, _ = trn("trn1-32xl", "1")
    assert (code, "EKS says InsufficientFreeAddresses: x" in out) == (1, True)
    group.wire.faults["eks.DescribeNodegroup"] = [Refused("ResourceNotFoundException", "No cluster found for name: trainium-dev.", 404)]
    code, _, err = trn("trn1-32xl", "1")
    assert (code, "No cluster found" in err) == (2, True)
