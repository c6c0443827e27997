"""What add-ons wait for each other for is declared, and what is declared is so."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from addons.declaration import Declaration
from addons.registry import SWITCHED
from facts.toolchains import TOOLCHAINS
from simulator.recording import Recording, Registration
from tests.stacks.addon_sets import ALTERNATIVES, everything
from tests.stacks.edges import label
from tests.support import record_stack

KEY_OF = {declaration.component: key for key, declaration in SWITCHED.items()}


@cache
def recorded(alternative: str) -> Recording:
    """The program with one set of add-ons. Not to be changed."""
    return record_stack(everything(alternative))


def addon_of(recording: Recording, item: Registration) -> str | None:
    """Key of the add-on below whose component a resource is."""
    above: Registration | None = item
    while above is not None:
        if not above.custom and above.name in KEY_OF:
            return KEY_OF[above.name]
        above = recording.registrations.get(above.parent)
    return None


def pairs(recording: Recording) -> dict[tuple[str, str], str]:
    """Edges between two add-ons: dependent and dependency, with one example, those of values too."""
    found = {}
    for item in recording.resources():
        for need in item.dependencies:
            ends = addon_of(recording, item), addon_of(recording, recording.registrations[need])
            if ends[0] is not None and ends[1] is not None and ends[0] != ends[1]:
                found[ends[0], ends[1]] = f"{label(item)} -> {label(recording.registrations[need])}"
    return found


def undeclared(recording: Recording, declarations: Mapping[str, Declaration]) -> dict[tuple[str, str], str]:
    """Edges between add-ons that no declaration speaks of."""

    def is_declared(dependent: Declaration, dependency: Declaration) -> bool:
        return dependency.key in dependent.after or bool(dependent.fenced) or dependency.early

    found = pairs(recording)
    return {ends: edge for ends, edge in found.items() if not is_declared(declarations[ends[0]], declarations[ends[1]])}


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_each_edge_between_two_add_ons_is_declared(alternative: str):
    """`making_order` makes the dependency first because of the declaration; without it, it would by luck."""
    assert undeclared(recorded(alternative), SWITCHED) == {}


def test_each_declared_order_has_its_edge():
    """One that has none makes add-ons wait for nothing, or has lost the edge it was declared for."""
    edges = {ends for alternative in ALTERNATIVES for ends in pairs(recorded(alternative))}
    declared = {(key, other) for key, declaration in SWITCHED.items() for other in declaration.after}
    assert declared - edges == set()
    fenced = {key for key, declaration in SWITCHED.items() if declaration.fenced}
    assert fenced - {dependent for dependent, _ in edges} == set()


def test_the_runtime_of_trainer_is_a_gang_where_volcano_is():
    """Half of a TrainJob's pods would hold nodes and wait for the other half."""
    runtimes = [item for item in recorded("everything") if item.name.startswith("training-runtime-")]
    assert {item.inputs["metadata"]["name"] for item in runtimes} == {f"neuron-{name}" for name in TOOLCHAINS}
    runtime = runtimes[0]
    (job,) = runtime.inputs["spec"]["template"]["spec"]["replicatedJobs"]
    assert runtime.inputs["spec"]["podGroupPolicy"] == {"volcano": {}}
    assert job["template"]["spec"]["template"]["spec"]["schedulerName"] == "volcano"


def test_what_mounts_the_claim_is_replaced_with_its_volume():
    """Another file system replaces claim and volume: with a pod on it, the claim would wait for ever. Jobs are their users' to end."""
    recording = recorded("everything")
    (claim,) = [item for item in recording if label(item) == "PersistentVolumeClaim fsx-claim"]
    (volume,) = [item for item in recording if label(item) == "PersistentVolume fsx-claim"]
    with_pods = [
        item for item in recording.resources() if item.type.rsplit(":", 1)[-1] in ("Release", "Deployment", "DaemonSet", "StatefulSet")
    ]
    mounting = {item.name: item for item in with_pods if f"'claimName': '{claim.name}'" in str(item.inputs)}
    assert mounting.keys() == {"lustre-exporter", "slurm"}
    assert {name: item.options.get("replace_with") for name, item in mounting.items()} == {name: [volume.urn] for name in mounting}


@pytest.mark.parametrize(
    ("key", "changes", "dependency"),
    [
        ("slurm", {"after": ()}, "certManager"),
        ("kueue", {"fenced": ""}, "volcano"),
        ("grafana", {"after": ("prometheus",)}, "managedPrometheus"),
    ],
)
def test_an_edge_that_is_not_declared_is_named(key: str, changes: dict[str, Any], dependency: str):
    """With its two resources."""
    declarations = {**SWITCHED, key: replace(SWITCHED[key], **changes)}
    assert " -> " in undeclared(recorded("everything"), declarations)[key, dependency]
