"""The cluster as a component of a Pulumi package: its schema is the stack file's, and so are its refusals."""

import asyncio
import json
from typing import Any

import pulumi
import pytest

from stacks.config import parse_settings
from stacks.package import Package
from stacks.package_schema import COMPONENT, OPTIONAL, OUTPUTS, PACKAGE, package_schema
from stacks.problems import ConfigurationError
from tests.stacks.samples import SAMPLES, recorded
from tests.support import dev_configuration, merged
from tools.pages.configuration_keys import keys

SCHEMA = package_schema("0.1.0")


def property_at(path: str) -> dict[str, Any]:
    """What the schema says of a key; NAME stands for a name of the user's choice."""
    found: dict[str, Any] = {"$ref": ""}
    properties = SCHEMA["resources"][COMPONENT]["inputProperties"]
    for part in path.split("."):
        found = found["additionalProperties"] if part == "NAME" else properties[part]
        # Of a list of sections, the section.
        section = found.get("items", found)
        if "$ref" in section:
            properties = SCHEMA["types"][section["$ref"].removeprefix("#/types/")]["properties"]
    return found


def test_every_key_of_a_stack_file_is_a_typed_plain_input():
    known = [key.path for key in keys()]
    assert len(known) > 100
    for path in known:
        found = property_at(path)
        assert found["plain"] is True, path
        assert found.get("description") or path.endswith("NAME"), path


def test_what_is_required_is_required():
    assert SCHEMA["resources"][COMPONENT]["requiredInputs"] == ["name", "region", "network"]
    assert SCHEMA["types"][f"{PACKAGE}:index:NodeGroup"]["required"] == ["instanceType"]


def test_every_reference_leads_to_a_type():
    references = {part.split('"')[0] for part in json.dumps(SCHEMA).split('"$ref": "#/types/')[1:]}
    assert references == set(SCHEMA["types"])


def test_outputs_are_those_that_clusters_have():
    """A name that is missing here would be an output that no typed program can reach."""
    exported = {name: set(recorded(name).stack_outputs) for name in SAMPLES}
    assert set().union(*exported.values()) == set(OUTPUTS)
    assert set.intersection(*exported.values()) >= set(OUTPUTS) - OPTIONAL


@pytest.mark.parametrize(
    "changes",
    [
        {"region": "us-wset-2"},
        {"nodeGroups": {"trn1-32xl": {"instanceType": "trn1.33xlarge"}}},
        {"network": {"zones": ["usw2-az4"]}, "addons": {"volcano": {"replicas": 0}}},
    ],
)
def test_mistakes_are_refused_in_the_words_of_a_stack_file(monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]):
    monkeypatch.setenv("TRN_REHEARSAL", "1")
    configuration = merged(dev_configuration(), **changes)
    with pytest.raises(ConfigurationError) as told:
        parse_settings(configuration, "dev", rehearsal=True)
    with pytest.raises(pulumi.InputPropertiesError) as refused:
        Package().construct("training", COMPONENT, configuration)
    assert str(refused.value).partition("\n\n")[2] == "\n\n".join(map(str, told.value.problems))


def test_numbers_of_other_languages_and_keys_left_out_are_read():
    """Inputs arrive with all numbers as floats, and None where a key is left out; what is wrong in them is still said."""
    inputs = merged(
        dev_configuration(), nodeGroups={"trn1-32xl": {"size": 2.0, "maxSize": None}}, storage={"lustre": {"capacityGib": 1300.0}}
    )
    with pytest.raises(pulumi.InputPropertiesError) as refused:
        Package().construct("training", COMPONENT, inputs)
    assert "`storage.lustre.capacityGib` is `1300`" in str(refused.value)
    assert "`nodeGroups" not in str(refused.value)


def test_outputs_of_other_resources_and_secrets_are_refused_by_key():
    """YAML has no compiler that refuses them; their text would be Pulumi's advice on Output[T], and a secret's must not be shown."""

    async def refused(**changes: Any) -> pulumi.InputPropertiesError:
        with pytest.raises(pulumi.InputPropertiesError) as told:
            Package().construct("training", COMPONENT, {**dev_configuration(), **changes})
        return told.value

    async def several() -> pulumi.InputPropertiesError:
        vpc, zone = pulumi.Output.from_input("vpc-0123456789abcdef0"), pulumi.Output.secret("c4nary")
        return await refused(network={"zones": ["usw2-az4", zone], "existing": {"vpcId": vpc}}, tags=pulumi.Output.from_input({}))

    found = asyncio.run(several())
    assert str(found).startswith("training: 3 of its inputs cannot be used; nothing of it was created\n\nerror: ")
    reasons = str(found)
    for path in ("network.zones[1]", "network.existing.vpcId", "tags"):
        assert f"`{path}` is an output of another resource, or a secret" in reasons
    # The engine prints the value of each property that it is told of.
    assert found.errors == []
    assert "c4nary" not in reasons
    assert "Output[T]" not in reasons


def test_another_component_is_refused():
    with pytest.raises(ValueError, match="no component trn:index:Other"):
        Package().construct("training", "trn:index:Other", dev_configuration())
