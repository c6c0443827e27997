"""What the program makes one resource wait for another says why, and cannot be dropped unseen.

edges.txt is the list; `make mutants` drops each `depends_on`, `after` and provider of the program and shows that these tests fail.
"""

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from simulator.recording import Recording
from stacks.config import parse_settings
from tests.stacks.addon_sets import ALTERNATIVES, everything
from tests.stacks.edges import label, laws, problems, said_edges
from tests.support import dev_configuration, merged, record_stack

DATA = {"s3Uri": "s3://corpus", "path": "/data"}


def configurations() -> dict[str, dict[str, Any]]:
    """Stacks that have between them each edge that the list speaks of."""
    private = merged(
        dev_configuration(),
        network={"interfaceEndpoints": ["ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "sts"]},
        storage={"lustre": {"dataRepository": DATA}},
        nodeGroups={"trn1-32xl": {"schedule": {"downAt": "0 20 * * *", "upAt": "0 7 * * *"}}},
        addons={"etcd": {"enabled": True, "persistent": True}},
    )
    return {"dev": dev_configuration(), "private": private, **{name: everything(name) for name in ALTERNATIVES}}


STACKS = tuple(configurations())


@cache
def stack(name: str) -> tuple[Recording, dict[str, Any]]:
    """What the program registers, and all settings by the keys of the stack file. Not to be changed."""
    configuration = configurations()[name]
    return record_stack(configuration), parse_settings(configuration, "test", rehearsal=True).model_dump(by_alias=True)


@pytest.mark.parametrize("name", STACKS)
def test_each_edge_is_there_and_has_its_reason(name: str):
    """A missing one is named, with what it is for; so is one without a line in edges.txt."""
    assert problems(*stack(name)) == []


def test_each_line_is_about_something():
    """A line that speaks of nothing would hold whatever the program did."""
    unused = list(laws())
    for name in STACKS:
        recording, settings = stack(name)
        said = said_edges(recording)
        pairs = [(recording.registrations[urn], recording.registrations[need]) for urn, needs in said.items() for need in needs]
        unused = [law for law in unused if not (law.holds_with(settings) and any(law.is_about(*pair) for pair in pairs))]
    assert [str(law) for law in unused] == []


def without(recording: Recording, dependent: str, dependency: str) -> Recording:
    """The same with one edge dropped; both ends by kind and name."""
    (urn,) = [item.urn for item in recording if item.custom and label(item) == dependent]
    item = recording.registrations[urn]
    kept = frozenset(need for need in item.dependencies if label(recording.registrations[need]) != dependency)
    assert kept != item.dependencies
    return replace(recording, registrations={**recording.registrations, urn: replace(item, dependencies=kept)})


@pytest.mark.parametrize(
    ("name", "dependent", "dependency"),
    [
        ("the other scaler", "Deployment training-operator", "Release volcano"),
        ("dev", "Release volcano", "Namespace volcano-system-namespace"),
        ("dev", "NodeGroup trn1-32xl", "SecurityGroupIngressRule nodes-from-self"),
        ("private", "Service etcd-server", "StorageClass default-storage-class"),
        ("everything", "Release slurm-operator-crds", "Namespace slinky-namespace"),
    ],
)
def test_a_dropped_edge_is_named(name: str, dependent: str, dependency: str):
    """Also where depth alone would keep the order, where it hangs on a setting, and where others lead the same way."""
    recording, settings = stack(name)
    assert any(
        text.startswith(f"missing edge: {dependent} -> {dependency}: ")
        for text in problems(without(recording, dependent, dependency), settings)
    )


def test_an_edge_without_a_reason_is_named():
    """It makes the cluster later for nothing, until somebody says what it is for."""
    recording, settings = stack("dev")
    listed = [law for law in laws() if law.dependency != "StatefulSet etcd-server"]
    text = "unexplained edge: Service etcd-client -> StatefulSet etcd-server: write a line for it into edges.txt"
    assert problems(*stack("private"), listed=listed) == [text]
    assert problems(recording, settings, [law for law in laws() if law.setting is None]) == []


def test_a_resource_without_a_provider_of_ours_is_named():
    """The default provider goes to whichever account or cluster the shell is set to."""
    recording, settings = stack("dev")
    (urn,) = [item.urn for item in recording if label(item) == "Release volcano"]
    stray = replace(recording.registrations[urn], providers=frozenset())
    changed = replace(recording, registrations={**recording.registrations, urn: stray})
    assert problems(changed, settings) == ["missing provider: Release volcano -> Provider kubernetes: it has none"]


def test_a_line_that_is_none_is_refused():
    """A slip in the list must not make it shorter."""
    with pytest.raises(ValueError, match="not `dependent -> dependency: why`: NodeGroup"):
        laws("NodeGroup * -> Route *")
