"""An upgrade of the program replaces and deletes nothing that a released version has made."""

import tomllib
from dataclasses import replace
from typing import Any

import pytest

from facts.resources.table import TYPES
from simulator.account import kinds
from simulator.recording import Recording, Registration
from tests.stacks.samples import recorded
from tests.states.recorded import STACKS, Kept, compact, former_urns, lost, read, versions
from tests.support import ROOT


@pytest.mark.parametrize("version", versions())
@pytest.mark.parametrize("stack", STACKS)
def test_what_a_version_made_stays(version: str, stack: str):
    """A cluster that trains would lose its nodes, or its data, to a new release of this program."""
    assert list(lost(read(version)[stack], recorded(stack))) == []


def test_the_present_version_has_a_state():
    """A tag without one would be held to nothing."""
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] in versions()


def before() -> list[Kept]:
    """A state of the shipped stack."""
    return compact(recorded("shipped"))


def with_resource(old: Registration, new: Registration) -> Recording:
    """The shipped stack with one resource changed."""
    found = recorded("shipped")
    rest = {urn: item for urn, item in found.registrations.items() if urn != old.urn}
    return Recording(found.project, found.stack, {**rest, new.urn: new})


def file_system() -> Registration:
    """The one that holds the data."""
    (found,) = recorded("shipped").of_type(kinds.FILE_SYSTEM)
    return found


def renamed(old: Registration, **options: object) -> Recording:
    """The file system by another name in the program."""
    return with_resource(old, replace(old, urn=f"{old.urn}-2", name=f"{old.name}-2", options={**old.options, **options}))


def test_a_renamed_resource_is_found_out():
    """The engine would delete the old one, with its data."""
    (text,) = lost(before(), renamed(file_system()))
    assert text.startswith(f"{file_system().urn} would be deleted")


@pytest.mark.parametrize("alias", [{"spec": {"name": "lustre"}}, {"urn": ""}])
def test_a_renamed_resource_with_an_alias_stays(alias: dict[str, object]):
    """By its name, or by its whole URN."""
    old = file_system()
    assert list(lost(before(), renamed(old, aliases=[{"urn": old.urn} if "urn" in alias else alias]))) == []


def test_another_value_that_forces_a_replacement_is_found_out():
    """Such as another subnet of a file system, whatever its id is today."""
    old = file_system()
    assert "subnetIds" in TYPES[old.type].changes.replacing
    elsewhere = next(item for item in recorded("shipped").of_type(kinds.SUBNET) if item.id not in old.inputs["subnetIds"])
    (text,) = lost(before(), with_resource(old, replace(old, inputs={**old.inputs, "subnetIds": [elsewhere.id]})))
    assert text == f"{old.urn} would be replaced: subnetIds"


def test_ids_that_are_drawn_anew_are_no_change():
    """A recording has ids of its own: another draw of the same network is the same network."""
    found = recorded("shipped")

    def redrawn(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace("subnet-", "subnet-0f")
        if isinstance(value, dict):
            return {key: redrawn(item) for key, item in value.items()}
        return [redrawn(item) for item in value] if isinstance(value, list) else value

    registrations = {
        urn: replace(item, id=redrawn(item.id), inputs=redrawn(dict(item.inputs)), outputs=redrawn(dict(item.outputs)))
        for urn, item in found.registrations.items()
    }
    assert list(lost(before(), Recording(found.project, found.stack, registrations))) == []


def test_children_of_a_renamed_type_keep_their_place_by_its_alias():
    """A component's type is in the URNs of all its children; the engine derives their aliases from its own."""
    old = file_system()
    (parent,) = [item for item in recorded("shipped") if item.urn == old.parent]
    new_parent = replace(
        parent, urn=parent.urn.replace("components:Lustre", "components:FileSystem"), options={"aliases": [{"urn": parent.urn}]}
    )
    child = replace(old, urn=old.urn.replace("components:Lustre", "components:FileSystem"), parent=new_parent.urn)
    found = recorded("shipped")
    now = Recording(found.project, found.stack, {**found.registrations, new_parent.urn: new_parent, child.urn: child})
    assert old.urn in former_urns(child, now)
