"""Telling whether the simulator answered."""

import json
from pathlib import Path

import pytest

from simulator.providers.calls import Call
from simulator.providers.serve import PACKAGES
from trn.practice.engine.check import SERVED, Claim, claims, faults_met, summary, unanswered

VPC, QUEUE = "aws:ec2/vpc:Vpc", "kubernetes:scheduling.volcano.sh/v1beta1:Queue"


def log(path: Path, *steps: tuple[str, str, bool], custom: bool = True) -> Path:
    """An event log with steps: operation, type, whether it is planned only."""
    lines = [
        json.dumps({"resourcePreEvent": {"metadata": {"op": op, "type": kind, "new": {"custom": custom}}, "planning": planning}})
        for op, kind, planning in steps
    ]
    path.write_text("\n".join(['{"preludeEvent": {}}', *lines]))
    return path


@pytest.mark.parametrize(
    ("operation", "method"),
    [
        ("create", "Create"),
        ("create-replacement", "Create"),
        ("update", "Update"),
        ("delete", "Delete"),
        ("delete-replaced", "Delete"),
        ("read", "Read"),
        ("refresh", "Read"),
        ("import", "Read"),
        ("import-replacement", "Read"),
    ],
)
def test_a_step_asks_something_of_its_package(tmp_path: Path, operation: str, method: str):
    """One call for each kind of step."""
    assert list(claims(log(tmp_path / "e", (operation, VPC, False)))) == [Claim("aws", VPC, method)]


@pytest.mark.parametrize("operation", ["same", "replace", "discard", "remove-pending-replace"])
def test_other_steps_ask_nothing(tmp_path: Path, operation: str):
    """An unchanged resource that is not targeted is not even checked."""
    assert list(claims(log(tmp_path / "e", (operation, VPC, False)))) == []


def test_a_preview_asks_to_check(tmp_path: Path):
    """Of AWS; a Kubernetes provider whose cluster is not there yet is asked nothing, and a planned delete is none."""
    steps = [("create", VPC, True), ("create", QUEUE, True), ("delete", VPC, True), ("refresh", QUEUE, True)]
    assert list(claims(log(tmp_path / "e", *steps))) == [Claim("aws", VPC, "Check"), Claim("kubernetes", QUEUE, "Read")]


def test_what_is_in_the_engine_only_asks_nothing(tmp_path: Path):
    """Components, providers, the stack."""
    assert list(claims(log(tmp_path / "a", ("create", "trn:components:Network", False), custom=False))) == []
    assert list(claims(log(tmp_path / "b", ("create", "pulumi:providers:aws", False)))) == []
    assert list(claims(tmp_path / "none")) == []


def test_a_deleted_resource_is_known_by_what_it_was(tmp_path: Path):
    """It has no new state."""
    step = {"op": "delete", "type": VPC, "new": None, "old": {"custom": True}}
    (tmp_path / "e").write_text(json.dumps({"resourcePreEvent": {"metadata": step}}))
    assert list(claims(tmp_path / "e")) == [Claim("aws", VPC, "Delete")]


def test_steps_that_were_seen_are_well():
    """All of them, in whatever order."""
    claimed = [Claim("aws", VPC, "Create"), Claim("kubernetes", QUEUE, "Delete")]
    assert unanswered(claimed, [Call("Delete", "kubernetes"), Call("Create", "aws")]) == []
    assert unanswered([], []) == []


def test_steps_that_no_provider_saw_are_listed_by_package_and_kind():
    """With their count."""
    claimed = [Claim("aws", VPC, "Create"), Claim("aws", VPC, "Create"), Claim("aws", VPC, "Delete")]
    assert unanswered(claimed, [Call("Delete", "aws"), Call("Create", "kubernetes")]) == [
        "the engine took 2 steps that call Create of aws, and the simulator saw none of them"
    ]


def test_another_package_was_answered_by_a_real_plug_in():
    """The engine takes what it finds on PATH for a package that is not served."""
    (sentence,) = unanswered([Claim("random", "random:index/randomPet:RandomPet", "Create")], [])
    assert "random:index/randomPet:RandomPet is of a package that the simulator does not serve" in sentence


def test_the_packages_are_those_that_are_served():
    """A package that is served and not listed here would fail every run."""
    assert set(SERVED) == set(PACKAGES)


def test_a_run_is_summed_up_in_a_line():
    """Previews left out."""
    calls = [Call("Create", "aws"), Call("Create", "aws"), Call("Create", "aws", preview=True), Call("Cancel", "aws"), Call("Read", "aws")]
    assert summary(calls) == "2 create, 1 read"
    assert summary([]) == "nothing"


def test_faults_are_known_by_their_lines():
    """As they were asked for."""
    assert faults_met([Call("Create", "aws"), Call("Fault", "", "urn", fault="no-capacity@a")]) == {"no-capacity@a"}
