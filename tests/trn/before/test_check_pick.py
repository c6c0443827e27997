"""`trn check --pick`: candidates are compared and one is written after asking; without it they change nothing."""

import json
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from stacks.config import parse_settings
from stacks.problems import ConfigurationError
from tests.documents import checked
from tests.support import ROOT, copy_project, dev_configuration, merged, record_stack
from tests.trn.aws.regions import Regions
from tests.trn.before.test_capacity_find import NOW, block, reservation, text
from tests.trn.change.owned import FakePulumi, state
from tests.trn.given import Given
from trn.app import app
from trn.change.action import written
from trn.engine.stack_edit import Edit, edit_stack
from trn.engine.stack_file import read_stack_file

GROUP = "trn1-32xl"
BOTH = [{"zoneId": "usw2-az1"}, {"region": "us-east-2", "zoneId": "use2-az3"}]


def with_group(**keys: Any) -> dict[str, Any]:
    """The shipped configuration with keys of its group."""
    return merged(dev_configuration(), nodeGroups={GROUP: keys})


def test_the_program_never_chooses_by_itself():
    """The same resources with the same inputs, with candidates and without."""
    plain, named = record_stack(dev_configuration()), record_stack(with_group(candidates=BOTH))
    assert named.registrations == plain.registrations


REFUSED = {
    "type not offered in the region": ([{"region": "eu-west-1", "zoneId": "euw1-az1"}], "trn1.32xlarge is not offered there", "us-east-1"),
    "type not offered in the zone": ([{"region": "us-east-2", "zoneId": "use2-az1"}], "trn1.32xlarge is not offered there", "use2-az3"),
    "zone not in the network": ([{"zoneId": "usw2-az2"}], "trn1.32xlarge is not offered there", "usw2-az1, usw2-az4"),
    "zone of another region": ([{"zoneId": "use2-az3"}], "no zone id of us-west-2", "usw2-az3"),
    "no region": ([{"region": "us-wset-2", "zoneId": "usw2-az1"}], "no region that has EKS", "us-west-2"),
    "another partition": ([{"region": "us-gov-west-1", "zoneId": "usgw1-az1"}], "another partition", "aws"),
    "named twice": ([{"zoneId": "usw2-az1"}, {"region": "us-west-2", "zoneId": "usw2-az1"}], "a candidate named twice", "remove one"),
    "no control plane": ([{"region": "us-east-1", "zoneId": "use1-az3"}], "not offered there", "use1-az4"),
    "unknown key": ([{"zone": "usw2-az1"}], "unknown key", "zoneId"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_candidate_that_cannot_be_is_refused(case: str):
    """By the catalogue alone, before any account is asked; with what is allowed."""
    named, wrong, allowed = REFUSED[case]
    with pytest.raises(ConfigurationError) as refused:
        parse_settings(with_group(candidates=named), "dev", rehearsal=True)
    assert (wrong in str(refused.value), allowed in str(refused.value)) == (True, True), str(refused.value)


@pytest.mark.parametrize(("zone", "is_refused"), [("use1-az3", True), ("use1-az4", False)])
def test_a_candidate_elsewhere_is_a_zone_that_takes_a_control_plane(zone: str, is_refused: bool):
    """The whole stack would be there. `use1-az3` takes none (EKS user guide, network requirements)."""
    group = {"instanceType": "trn1.2xlarge", "efa": False, "candidates": [{"region": "us-east-1", "zoneId": zone}]}
    stack = merged(dev_configuration(), nodeGroups={"small": group}, training={"toolchain": None})
    with pytest.raises(ConfigurationError, match="places no control plane") if is_refused else nullcontext():
        parse_settings(stack, "dev", rehearsal=True)


def test_a_candidate_of_the_own_region_is_a_zone_of_the_network():
    """With the fix; a type that no zone is known for may be anywhere in its region."""
    group = {"instanceType": "trn1.2xlarge", "efa": False, "candidates": [{"zoneId": "usw2-az2"}]}
    with pytest.raises(ConfigurationError, match=r"append it to .network\.zones"):
        parse_settings(merged(dev_configuration(), nodeGroups={"small": group}, training={"toolchain": None}), "dev", rehearsal=True)


@pytest.fixture
def regions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Given) -> Regions:
    """The shipped stack with two candidates, never up."""
    copy_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    write(candidates=BOTH)
    made = Regions(NOW)
    given.api, given.address, given.engine = made.api, lambda: "198.51.100.7", FakePulumi(None)
    return made


def write(**keys: Any) -> None:
    """The stack file with keys of the group; the allow-list is no documentation address, which `trn check` refuses."""
    loaded = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text())
    loaded["config"]["trn:nodeGroups"][GROUP] |= keys
    loaded["config"]["trn:controlPlane"]["publicAccessCidrs"] = ["198.18.0.7/32"]
    Path("Pulumi.dev.yaml").write_text(yaml.safe_dump(loaded))


def pick(*arguments: str, said: str = "y\n") -> tuple[int, str]:
    """Exit code and errors of `--pick` alone: what is checked afterwards is none of this file's matter."""
    result = CliRunner().invoke(app, ["check", "dev", "--pick", GROUP, *arguments], input=said, catch_exceptions=False)
    return result.exit_code, result.stderr


def now() -> dict[str, Any]:
    """The stack file."""
    return read_stack_file("dev").configuration


def full(regions: Regions, region: str) -> None:
    """No quota left for instances on demand."""
    regions.around(region).quotas |= {"L-2C3B7624": 0}


def test_the_best_place_is_written_after_a_yes(regions: Regions):
    """On demand costs the same everywhere: the group stays where it is; a no leaves the file as it is."""
    before = Path("Pulumi.dev.yaml").read_text()
    assert "trn1-32xl stays in usw2-az4: it is the best of them" in pick(said="")[1]
    assert Path("Pulumi.dev.yaml").read_text() == before
    full(regions, "us-west-2")
    code, err = pick(said="n\n")
    assert (code, "Write this into Pulumi.dev.yaml?" in err, Path("Pulumi.dev.yaml").read_text()) == (1, True, before)
    assert "FSx for Lustre: a new file system in use2-az3, empty" in err
    assert pick()[0] != 2
    made = now()
    assert (made["region"], made["network"]["zones"]) == ("us-east-2", ["use2-az3", "use2-az1"])
    assert made["nodeGroups"][GROUP]["candidates"] == [
        {"region": "us-west-2", "zoneId": "usw2-az1"}, {"region": "us-east-2", "zoneId": "use2-az3"},
    ]  # fmt: skip
    parse_settings(made, "dev", rehearsal=True)


def test_a_stack_that_is_up_keeps_its_region(regions: Regions, given: Given):
    """It would be destroyed, file system and all, by the next `pulumi up`; another zone of its region can be had."""
    full(regions, "us-west-2")
    before = Path("Pulumi.dev.yaml").read_text()
    given.engine = FakePulumi(state("trainium-dev", with_cluster=False))
    code, err = pick("--yes")
    assert (code, "is up in us-west-2" in err, "its region cannot be changed to us-east-2" in err) == (1, True, True)
    assert Path("Pulumi.dev.yaml").read_text() == before


def test_blocks_are_compared_for_a_group_on_blocks_and_the_old_ones_keys_go(regions: Regions):
    """The id of a block in another zone is wrong there: size 0, until the one that was picked is bought."""
    times = {"startsAt": "2026-12-01T11:30:00Z", "endsAt": "2026-12-03T11:30:00Z"}
    write(candidates=BOTH, capacityType="CAPACITY_BLOCK", capacityReservationId="cr-0123456789abcdef0", capacityBlock=times)
    regions.around("us-west-2").blocks = [
        block("cb-late", "us-west-24", 5, 100, hours=24),
        block("cb-soon", "us-west-21", 2, 900, hours=24),
    ]
    regions.around("us-east-2").blocks = [block("cb-far", "us-east-23", 3, 1, hours=24)]
    code, err = pick("--yes")
    assert (code != 2, f"trn capacity buy dev cb-soon --group {GROUP} --instances 2 --hours 24" in err) == (True, True)
    group = now()["nodeGroups"][GROUP]
    assert (group["zoneIds"], group["size"]) == (["usw2-az1"], 0)
    assert group.keys().isdisjoint({"capacityType", "capacityReservationId", "capacityBlock"})


def test_what_is_paid_for_and_left_behind_is_said(regions: Regions):
    """The id of a block that leaves the stack file, and the reservation of another group, which the new region does not have."""
    times = {"startsAt": "2026-12-01T11:30:00Z", "endsAt": "2026-12-03T11:30:00Z"}
    write(candidates=BOTH, capacityType="CAPACITY_BLOCK", capacityReservationId="cr-0123456789abcdef0", capacityBlock=times)
    second = {
        "instanceType": "trn1.32xlarge",
        "size": 0,
        "releaseVersion": "1.35.4-20260505",
        "capacityReservationId": "cr-0fedcba9876543210",
    }
    edit_stack("dev", [Edit(("nodeGroups", "second"), second)])
    regions.around("us-east-2").blocks = [block("cb-far", "us-east-23", 3, 1, hours=24)]
    _, err = pick(said="n\n")
    assert "note     cr-0123456789abcdef0 leaves the stack file and is billed all the same" in err
    assert "`nodeGroups.second.capacityReservationId`: cr-0fedcba9876543210 is in us-west-2" in err


def test_an_own_block_that_is_in_no_section_is_taken_before_one_on_offer(regions: Regions):
    """What to write then is said; one of another cluster, or of another group, is not taken."""
    write(candidates=BOTH, capacityType="CAPACITY_BLOCK", capacityReservationId="cr-0123456789abcdef0")
    ends = {"State": "active", "ReservationType": "capacity-block", "EndDate": text(NOW + timedelta(days=9))}
    others = [{"Key": "trn:cluster", "Value": "other"}]
    regions.around("us-west-2").reservations["cr-1"] = reservation("cr-1", "usw2-az1", 4, **ends, Tags=others)
    regions.around("us-west-2").blocks = [block("cb-soon", "us-west-21", 2, 900, hours=24)]
    assert "trn capacity buy dev cb-soon" in pick("--yes")[1]
    write(candidates=BOTH, capacityType="CAPACITY_BLOCK", capacityReservationId="cr-0123456789abcdef0")
    regions.around("us-west-2").reservations["cr-1"] = reservation("cr-1", "usw2-az1", 4, **ends)
    assert f"next     `nodeGroups.{GROUP}.capacityReservationId: cr-1`" in pick("--yes")[1]


def test_no_candidate_that_works_and_none_at_all(regions: Regions):
    """Said with each one's reason; a region that refuses is one of them."""
    full(regions, "us-west-2")
    regions.wire("us-east-2").denied.add("ec2.DescribeAvailabilityZones")
    before = Path("Pulumi.dev.yaml").read_text()
    code, err = pick("--yes")
    assert (code, "no candidate of `nodeGroups.trn1-32xl` works now" in err) == (1, True)
    assert ("quota L-2C3B7624 allows 0 vCPU" in err, "us-east-2, use2-az3: zones: AccessDeniedException" in err) == (True, True)
    assert Path("Pulumi.dev.yaml").read_text() == before
    write()
    code, err = pick()
    assert (code, "`nodeGroups.trn1-32xl` has no `candidates`" in err) == (2, True)


def test_an_edit_of_the_stack_file_at_the_question_stays(regions: Regions, monkeypatch: pytest.MonkeyPatch):
    """The places were compared for another group than it says by now."""
    full(regions, "us-west-2")
    path = Path("Pulumi.dev.yaml")

    def confirm(_: str, **__: Any) -> bool:
        path.write_text(path.read_text().replace("size: 2", "size: 1"))
        return True

    monkeypatch.setattr("typer.confirm", confirm)
    code, err = pick()
    assert (code, "Pulumi.dev.yaml has been edited since the plan was made" in err) == (1, True)
    assert (now()["region"], now()["nodeGroups"][GROUP]["size"]) == ("us-west-2", 1)


def test_an_edit_right_before_it_is_written_stays_and_is_not_checked(regions: Regions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Whatever was edited, a comment even: nobody has seen it beside the new place."""
    full(regions, "us-west-2")
    path = Path("Pulumi.dev.yaml")

    def late(*given: Any) -> Any:
        path.write_text(f"# a colleague's\n{path.read_text()}")
        return written(*given)

    monkeypatch.setattr("trn.before.check.picking.written", late)
    code, _ = pick("--yes", "--json", str(tmp_path / "check.json"))
    found = json.loads((tmp_path / "check.json").read_text())
    assert (code, found["end"], found["findings"]) == (1, "left", [])
    assert (now()["region"], path.read_text().partition("\n")[0]) == ("us-west-2", "# a colleague's")


def test_what_is_written_is_checked_and_all_of_it_is_in_the_report(regions: Regions, tmp_path: Path):
    """One document, with the findings of the new place."""
    full(regions, "us-west-2")
    code, _ = pick("--yes", "--json", str(tmp_path / "check.json"))
    found = checked((tmp_path / "check.json").read_text())
    assert found["schema"] == "trn-check-pick"
    assert [(each["verb"], each["kind"]) for each in found["done"]] == [("write", "file"), ("check", "stack")]
    assert (code, found["end"], any(each["verdict"] == "fail" for each in found["findings"])) == (1, "done", True)
    assert any("use2-az3" in each["what"] for each in found["findings"])
