"""A newer chart, EKS add-on or image on a running stack: changed in place, and nothing beside it is touched."""

import copy
from dataclasses import replace
from typing import Any

import pytest

from addons.registry import SWITCHED
from simulator.engine.change import rehearse_change
from simulator.recording import Recording, Registration
from tests.stacks.order_laws import RELEASE
from tests.stacks.test_addons import alone, below

ADDON = "aws:eks/addon:Addon"
WORKLOADS = ("kubernetes:apps/v1:DaemonSet", "kubernetes:apps/v1:Deployment", "kubernetes:apps/v1:StatefulSet")


def upgraded(item: Registration) -> Registration | None:
    """The same resource with what a new version changes; None for what has no version of its own."""
    inputs: dict[str, Any] = copy.deepcopy(dict(item.inputs))
    if item.type == RELEASE:
        inputs["version"] = f"{inputs['version']}-next"
    elif item.type == ADDON:
        inputs["addonVersion"] = "v99.0.0-eksbuild.1"
    elif item.type in WORKLOADS:
        for container in inputs["spec"]["template"]["spec"]["containers"]:
            container["image"] = f"{container['image']}-next"
    else:
        return None
    return replace(item, inputs=inputs)


def changed_values(item: Registration) -> Registration | None:
    """The same release with one value more."""
    if item.type != RELEASE:
        return None
    return replace(item, inputs={**item.inputs, "values": {**item.inputs["values"], "nameOverride": ""}})


def exchanged(recording: Recording, new: dict[str, Registration]) -> Recording:
    """The recording with some registrations exchanged."""
    changed = copy.copy(recording)
    changed.registrations = {**recording.registrations, **new}
    return changed


@pytest.mark.parametrize("kind_of_change", [upgraded, changed_values])
@pytest.mark.parametrize("key", SWITCHED)
def test_an_upgrade_changes_its_own_in_place_and_touches_no_other(key: str, kind_of_change: Any):
    """A release that is replaced takes its CRDs along, and every job; one that touches others surprises their owners."""
    running = alone(key, on=True)
    own = sorted(below(running, SWITCHED[key].component))
    new = {urn: item for urn in own if (item := kind_of_change(running.registrations[urn])) is not None}
    declaration = SWITCHED[key]
    versioned = declaration.charts or (kind_of_change is upgraded and (declaration.managed or declaration.images))
    assert bool(new) == bool(versioned), "a version that no resource carries, or a resource with an undeclared version"
    if not new:
        return
    result = rehearse_change(running, exchanged(running, new), seed=0)
    assert {(change.kind, change.registration.urn) for change in result.touched} == {("update", urn) for urn in new}
    assert [step.error for step in result.phase.errors] == []
    assert result.cautions == []


def test_a_chart_under_another_name_would_be_replaced_and_said_so():
    """The check would see it: Volcano's jobs go with its release."""
    running = alone("volcano", on=True)
    (release,) = [item for item in running.of_type(RELEASE) if item.inputs["name"] == "volcano"]
    renamed = replace(release, inputs={**release.inputs, "name": "volcano-next"})
    result = rehearse_change(running, exchanged(running, {release.urn: renamed}), seed=0)
    assert ("replace", release.urn) in {(change.kind, change.registration.urn) for change in result.touched}
    assert [caution.severity for caution in result.cautions] == ["red"]
