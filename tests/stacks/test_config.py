"""Reading the configuration: what is accepted, and how each mistake is reported."""

import json
from typing import Any

import pulumi
import pytest
from pulumi.runtime import config as pulumi_config

from facts.neuron_releases import AMI_RELEASES
from stacks.config import load_settings, parse_settings
from stacks.problems import ConfigurationError
from tests.support import dev_configuration, merged


def mistakes(configuration: dict[str, Any], *, rehearsal: bool = True) -> list[str]:
    """The text of every problem of a configuration."""
    with pytest.raises(ConfigurationError) as caught:
        parse_settings(configuration, "dev", rehearsal=rehearsal)
    return [str(problem) for problem in caught.value.problems]


def test_the_shipped_stack_file_is_valid_in_a_rehearsal():
    """It is the first thing a newcomer runs."""
    settings = parse_settings(dev_configuration(), "dev", rehearsal=True)
    assert settings.node_groups["trn1-32xl"].size == 2


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"training": {"namespace": {"secure": "v1:c4nary"}}}, "training.namespace"),
        ({"tags": {"team": {"secure": "v1:c4nary"}, "cost": "a"}}, "tags.team"),
        ({"network": {"zones": ["usw2-az4", {"secure": "v1:c4nary"}]}}, "network.zones[1]"),
        ({"name": {"secure": "v1:c4nary"}}, "name"),
    ],
)
def test_a_key_of_a_stack_file_that_is_secret_is_refused(changes: dict[str, Any], path: str):
    """And is not shown: names, tags and manifests with it would be in each preview."""
    (text,) = mistakes(merged(dev_configuration(), **changes))
    assert text.startswith(f"error: `{path}` is kept as a secret, and previews, names and tags would show it\n\nhint: ")
    assert "c4nary" not in text


def test_a_key_that_pulumi_hands_over_as_secret_is_refused(monkeypatch: pytest.MonkeyPatch):
    """The CLI gives the program the value in clear, and beside it the names of the keys that are secret."""
    pairs = {f"trn:{key}": value if isinstance(value, str) else json.dumps(value) for key, value in dev_configuration().items()}
    monkeypatch.setenv("TRN_REHEARSAL", "1")
    monkeypatch.setenv("PULUMI_CONFIG", "{}")
    before = pulumi_config.CONFIG.get(), sorted(pulumi_config._SECRET_KEYS.get())
    try:
        pulumi_config.set_all_config({**pairs, "trn:tags": '{"team": "c4nary"}', "other:key": "x"}, ["trn:tags", "other:key"])
        with pytest.raises(ConfigurationError) as refusal:
            load_settings()
        pulumi_config.set_all_config({**pairs, "other:key": "x"}, ["other:key"])
        assert load_settings().name == "trainium-dev"
    finally:
        pulumi_config.set_all_config(*before)
    assert [problem.path for problem in refusal.value.problems] == ["tags"]
    assert "c4nary" not in str(refusal.value)


def test_the_shipped_stack_file_is_refused_by_a_real_run():
    """Its allow-list is a documentation address, which no host has: a real up would lock its user out."""
    (text,) = mistakes(dev_configuration(), rehearsal=False)
    assert "`controlPlane.publicAccessCidrs[0]` is `203.0.113.0/24`" in text
    assert "pulumi config set --path 'trn:controlPlane.publicAccessCidrs[0]'" in text


def test_all_mistakes_of_single_keys_come_at_once():
    """One run, one list: not a mistake per run."""
    broken = merged(dev_configuration(), name="Train_1", coreNodes={"minSize": 0}, nodeGroups={"trn1-32xl": {"size": -1}})
    assert len(mistakes(broken)) == 3


def test_all_mistakes_between_keys_come_at_once():
    """The same for what keys get wrong together."""
    broken = merged(
        dev_configuration(),
        network={"nat": "none"},
        storage={"lustre": {"capacityGib": 1300}},
        nodeGroups={"small": {"instanceType": "trn1.2xlarge", "efa": True, "releaseVersion": AMI_RELEASES["1.35"]}},
    )
    assert len(mistakes(broken)) == 3


def test_a_broken_key_hides_no_mistake_of_another_section():
    """Rules on sound sections speak at once; those that read the broken one wait, and never judge a stand-in."""
    broken = merged(
        dev_configuration(),
        coreNodes={"minSize": 0},
        storage={"lustre": {"capacityGib": 1300}},
        network={"zones": ["usw2-az4", "use1-az1"]},
    )
    texts = mistakes(broken)
    assert len(texts) == 3
    assert [text.split("`")[1] for text in texts] == ["coreNodes.minSize", "network.zones[1]", "storage.lustre.capacityGib"]


def test_a_date_is_refused_like_any_other_wrong_value():
    """YAML turns 2026-11-21 into a date, which is no text."""
    import datetime

    broken = dev_configuration()
    broken["tags"] = {"created": datetime.date(2026, 11, 21), "cost": 7}
    (text,) = mistakes(broken)
    assert "`tags.cost` is `7`" in text


def test_a_mistake_names_value_allowed_and_fix():
    """The form every message of the house has."""
    broken = merged(
        dev_configuration(), nodeGroups={"train": {"instanceType": "trn1.2xlarge", "efa": True, "releaseVersion": AMI_RELEASES["1.35"]}}
    )
    (text,) = mistakes(broken)
    assert text == (
        "error: EFA needs an instance type with EFA, `nodeGroups.train.instanceType` is `trn1.2xlarge`\n"
        "  allowed: trn1.32xlarge, trn1n.32xlarge, trn2.3xlarge, trn2.48xlarge, trn2u.48xlarge\n"
        "\n"
        "hint: set it to `trn1.32xlarge`, or `nodeGroups.train.efa: false` for single-node runs"
    )


def test_a_slip_of_the_pen_gets_the_right_word():
    """`nodeGroup` is what most people write first."""
    configuration = dev_configuration()
    configuration["nodeGroup"] = configuration.pop("nodeGroups")
    assert mistakes(configuration)[0].startswith("error: unknown key `nodeGroup`; did you mean `nodeGroups`?\n  allowed: name, region")


def test_a_slip_deep_down_is_compared_with_the_keys_of_its_place():
    """The close match must come from the section the key stands in."""
    broken = merged(dev_configuration(), nodeGroups={"trn1-32xl": {"releaseversion": AMI_RELEASES["1.35"]}})
    assert "unknown key `nodeGroups.trn1-32xl.releaseversion`; did you mean `releaseVersion`?" in mistakes(broken)[0]


def test_an_unquoted_version_is_reported_to_be_quoted():
    """YAML reads 1.35 as a number and 1.30 as 1.3."""
    (text,) = mistakes(merged(dev_configuration(), controlPlane={"kubernetesVersion": 1.35}))
    assert "`controlPlane.kubernetesVersion` is `1.35`" in text
    assert "put it in quotes" in text


def test_a_missing_section_is_named_with_the_command_that_sets_it():
    """An empty stack file is the usual beginning."""
    texts = mistakes({"name": "train", "region": "us-west-2"})
    assert texts == ["error: `network` is missing\n\nhint: `pulumi config set --path 'trn:network.zones[0]' usw2-az4`, and a second zone"]


def test_a_wrong_kind_of_value_is_refused_and_not_converted():
    """`size: "2"` may be a typing slip or a template that was not filled in."""
    (text,) = mistakes(merged(dev_configuration(), nodeGroups={"trn1-32xl": {"size": "2"}}))
    assert '`nodeGroups.trn1-32xl.size` is `"2"`' in text


def test_the_error_is_one_that_pulumi_prints_without_a_traceback():
    """The language host prints a RunError's text and nothing else."""
    with pytest.raises(pulumi.RunError, match=r"1 mistake in the configuration of stack `dev`; nothing was created"):
        parse_settings(merged(dev_configuration(), region="us_west_2"), "dev", rehearsal=True)


@pytest.mark.parametrize("key", ["efaLayout", "capacityType"])
def test_a_choice_lists_its_values(key: str):
    """A user should not need the documentation for three words."""
    (text,) = mistakes(merged(dev_configuration(), nodeGroups={"trn1-32xl": {key: "nope"}}))
    assert "allowed: " in text
    assert "nope" in text


def test_settings_cannot_be_changed():
    """A component that changed them would change another one's input."""
    settings = parse_settings(dev_configuration(), "dev", rehearsal=True)
    with pytest.raises(ValueError, match="frozen"):
        settings.name = "other"


def test_the_key_that_the_toolchain_replaced_names_it():
    """A stack file of before still has it; a slip of the pen is not what happened."""
    (text,) = mistakes(merged(dev_configuration(), training={"neuronSdk": "2.30"}))
    assert "unknown key `training.neuronSdk`" in text
    assert "did you mean" not in text
    assert "hint: set `training.toolchain` in its place, to one of: xla-2.28, xla-2.30, jax-2.32, torch-2.33" in text
