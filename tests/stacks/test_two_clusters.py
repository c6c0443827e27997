"""Two clusters in one program: names of their own, and a provider that is given."""

from collections.abc import Callable

import pulumi
import pulumi_aws as aws
import pytest

from simulator.doors.recorder import record
from simulator.errors import DuplicateUrn
from simulator.recording import Recording
from stacks.config import parse_settings
from stacks.settings import Settings
from stacks.trainium_cluster import TrainiumCluster
from tests.stacks.addon_sets import everything


def settings(name: str) -> Settings:
    """All add-ons on, under a name of its own."""
    return parse_settings({**everything(), "name": name}, "test", rehearsal=True)


def recorded(program: Callable[[], object]) -> Recording:
    """What a program of a test registers."""

    def run() -> None:
        program()

    return record(run, project="trn", stack="test", configuration={})


def test_two_clusters_of_one_program_share_no_name():
    """A URN has the types of all parents and the name of none: equal names below two clusters would be one resource."""

    def program() -> None:
        TrainiumCluster("east", settings("east"))
        TrainiumCluster("west", settings("west"))

    recording = recorded(program)
    parts = {name: [item.name for item in recording if item.name == name or item.name.startswith(f"{name}-")] for name in ("east", "west")}
    assert len(parts["east"]) == len(parts["west"]) == len(recording) / 2
    assert [name.removeprefix("east-") for name in parts["east"]] == [
        name.replace("west", "east").removeprefix("east-") for name in parts["west"]
    ]


def test_each_of_two_clusters_is_built_of_its_own_resources_only():
    """An edge between them would make one wait for the other, and a shared provider would put it into its region."""

    def program() -> None:
        TrainiumCluster("east", settings("east"))
        TrainiumCluster("west", settings("west"))

    recording = recorded(program)
    west = {item.urn for item in recording if item.name.startswith("west")}
    for item in recording:
        if item.name.startswith("east"):
            assert not (item.dependencies | item.providers) & west, item.name


def test_without_a_prefix_the_second_cluster_meets_the_first():
    """The recorder refuses it; so does the engine."""

    def program() -> None:
        TrainiumCluster("one", settings("one"), prefix="")
        TrainiumCluster("two", settings("two"), prefix="")

    with pytest.raises(DuplicateUrn):
        recorded(program)


def test_an_aws_provider_that_is_given_is_used():
    """A component takes its providers from its options; it makes one only where there is none."""

    def program() -> None:
        given = aws.Provider("given", region="us-west-2")
        TrainiumCluster("demo", settings("demo"), pulumi.ResourceOptions(providers=[given]))

    recording = recorded(program)
    (provider,) = recording.of_type("pulumi:providers:aws")
    assert provider.name == "given"
    (vpc,) = recording.of_type("aws:ec2/vpc:Vpc")
    assert vpc.providers == {provider.urn}
