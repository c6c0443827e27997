"""The ready-made files: each comes up and goes, costs what it says, and is opened by `trn init --from`."""

from pathlib import Path

import pytest

from simulator.rehearsal import Rehearsal
from stacks.stack_yaml import read_yaml
from tests.trn.before.init_project import empty_project, trn
from tests.trn.given import Given
from trn.before.init.samples import EXAMPLE_RESERVATION, ROOT, SAMPLES, asks
from trn.engine.program import rehearse_stack
from trn.engine.stack_file import StackFile, read_stack_file


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Given) -> Path:
    """The project without a stack file."""
    return empty_project(tmp_path, monkeypatch, given)


def rehearsed(name: str) -> Rehearsal:
    """The rehearsal of a sample as it is shipped."""
    return rehearse_stack(StackFile(ROOT, "trn", name, read_yaml(SAMPLES[name].text)["config"]))


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_comes_up_and_leaves_nothing(name: str):
    """It is the first thing that somebody who wants this copies."""
    report = rehearsed(name).report
    assert (report.up.ended, report.reruns, report.problems) == ("well", [], [])
    assert report.destroy.leftovers == []
    expected = {"publicAccessCidrs holds", "the file system gives", "there is no public endpoint", "nodeGroups.trn2-3xl is bought as spot"}
    assert [notice for notice in report.notices if not notice.startswith(tuple(expected))] == []


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_is_opened(project: Path, name: str):
    """With the name of the stack, and an own address in place of the example; the comments stay."""
    address = () if name == "private" else ("--allow", "198.18.0.7/32")
    code, out, err = trn("mine", "--from", name, "--yes", *address)
    assert (code, "wrote Pulumi.mine.yaml: " in out) == (0, True), err
    text = (project / "Pulumi.mine.yaml").read_text()
    assert text.startswith("# yaml-language-server: $schema=docs/config.schema.json\n")
    assert "documentation address" not in text
    found = read_stack_file("mine", project).configuration
    assert found["name"] == "trainium-mine"
    assert found["controlPlane"]["publicAccessCidrs"] == ([] if name == "private" else ["198.18.0.7/32"])
    assert text.count("#") >= SAMPLES[name].text.count("#") - 1


def test_a_sample_asks_for_what_it_leaves_open(project: Path):
    """The name, the reservation where it has an example, and who may reach the API; wrong answers are asked again."""
    assert asks(SAMPLES["private"].text) == ("name",)
    assert asks(SAMPLES["capacity-block"].text) == ("name", "reservation", "allow")
    said = "big\ncr-1\ncr-00000000000000001\n198.18.0.7\n198.18.0.7/32\n"
    code, _, err = trn("mine", "--from", "capacity-block", answers=said)
    assert (code, "17 characters" in err, "write `198.18.0.7/32`" in err) == (0, True, True), err
    found = read_stack_file("mine", project).configuration
    assert (found["name"], found["nodeGroups"]["trn1-32xl"]["capacityReservationId"]) == ("big", "cr-00000000000000001")


def test_an_example_of_a_reservation_can_stay_for_a_rehearsal(project: Path):
    """Who looks around has no block yet; the address too is then an example, and what to do before `pulumi up` is said."""
    code, out, _ = trn("mine", "--from", "capacity-block", "--yes")
    assert (code, "before `pulumi up`" in out) == (0, True)
    assert read_stack_file("mine", project).configuration["nodeGroups"]["trn1-32xl"]["capacityReservationId"] == EXAMPLE_RESERVATION
    assert "documentation address" in (project / "Pulumi.mine.yaml").read_text()


def test_the_block_of_the_sample_is_in_its_headline():
    """Sixteen nodes that were paid in advance are never a sum of two dollars."""
    cost = rehearsed("capacity-block").report.cost
    for figure in (cost.now, cost.full_size, cost.idle):
        assert figure.without == ("16 x trn1.32xlarge (capacity block, paid in advance)",)


def test_learning_costs_less_than_two_dollars_an_hour():
    """That is what the file is for."""
    cost = rehearsed("learn").report.cost
    assert (cost.full_size.usd_per_hour < 2, cost.idle.usd_per_hour < 0.5, cost.without) == (True, True, ())
