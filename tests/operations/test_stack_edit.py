"""Keys of a stack file that commands set: everything else stays as its author wrote it."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from operations.errors import CommandError
from operations.stack_edit import Edit, edited
from tests.support import ROOT

DEV = (ROOT / "Pulumi.dev.yaml").read_text()
VERSION = ("controlPlane", "kubernetesVersion")


def lines_changed(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines that are gone, and those that came."""
    old, new = before.splitlines(), after.splitlines()
    return [line for line in old if line not in new], [line for line in new if line not in old]


def test_a_value_is_set_in_its_place():
    """The diff of an upgrade is one line, which a reviewer sees at once."""
    gone, came = lines_changed(DEV, edited(DEV, [Edit(VERSION, "1.36")]))
    assert (gone, came) == (['    kubernetesVersion: "1.35"'], ['    kubernetesVersion: "1.36"'])


def test_a_value_keeps_its_form():
    """A release that stood without quotes gets none."""
    pin = ("nodeGroups", "trn1-32xl", "releaseVersion")
    _, came = lines_changed(DEV, edited(DEV, [Edit(pin, "1.36.1-20260610")]))
    assert came == ["      releaseVersion: 1.36.1-20260610"]
    assert edited("config:\n  trn:a:\n    b: 1.35\n", [Edit(("a", "b"), "1.36")]) == 'config:\n  trn:a:\n    b: "1.36"\n'


def test_a_key_comes_and_goes_without_a_trace():
    """What an upgrade holds and lets go of leaves the file as it was, in sections of lines and of braces alike."""
    paths = [("coreNodes", "kubernetesVersion"), ("nodeGroups", "trn1-32xl", "kubernetesVersion"), ("addons", "volcano", "x")]
    flow = "config:\n  trn:nodeGroups:\n    a: {size: 2, instanceType: trn1.32xlarge} # kept\n    b: {}\n"
    for text, path in [
        *((DEV, path) for path in paths),
        (flow, ("nodeGroups", "a", "kubernetesVersion")),
        (flow, ("nodeGroups", "b", "x")),
    ]:
        there = edited(text, [Edit(path, "1.35")])
        place = yaml.safe_load(there)["config"][f"trn:{path[0]}"]
        for key in path[1:]:
            place = place[key]
        assert place == "1.35"
        assert edited(there, [Edit(path, None)]) == text


def test_missing_sections_are_made_and_what_is_as_wanted_stays():
    """A file without a section takes its default, and can be given the one key."""
    text = "config:\n  trn:name: a # mine\n"
    assert yaml.safe_load(edited(text, [Edit(VERSION, "1.36")])) == {
        "config": {"trn:name": "a", "trn:controlPlane": {"kubernetesVersion": "1.36"}}
    }
    assert edited(text, [Edit(VERSION, None)]) == text
    assert edited(DEV, [Edit(VERSION, "1.35")]) == DEV
    assert edited(edited(DEV, [Edit(VERSION, "1.36")]), [Edit(VERSION, "1.35")]) == DEV
    assert yaml.safe_load(edited("config:\n  trn:controlPlane:\n    kubernetesVersion:\n", [Edit(VERSION, "1.36")]))["config"] == {
        "trn:controlPlane": {"kubernetesVersion": "1.36"}
    }


@given(st.permutations(["kubernetesVersion", "releaseVersion", "size"]), st.booleans(), st.sampled_from(["kubernetesVersion", "size"]))
def test_what_is_removed_is_all_that_is_removed(keys: list[str], flow: bool, gone: str):
    """Wherever the key stands, its neighbours stay."""
    entries = dict.fromkeys(keys, "7")
    text = yaml.safe_dump({"config": {"trn:coreNodes": entries, "trn:name": "a"}}, default_flow_style=flow, sort_keys=False)
    after = yaml.safe_load(edited(text, [Edit(("coreNodes", gone), None)]))["config"]
    assert after == {"trn:coreNodes": {key: "7" for key in keys if key != gone}, "trn:name": "a"}


def test_the_last_key_of_a_section_leaves_an_empty_section():
    """With nothing below it a section would be null, which the settings refuse."""
    text = "config:\n  trn:coreNodes:\n    kubernetesVersion: '1.35'\n  trn:name: a\n"
    assert yaml.safe_load(edited(text, [Edit(("coreNodes", "kubernetesVersion"), None)]))["config"]["trn:coreNodes"] == {}


def test_a_path_through_a_value_is_refused():
    """Nothing is guessed about a file that says something else."""
    with pytest.raises(CommandError, match="no section"):
        edited("config:\n  trn:controlPlane: 3\n", [Edit(VERSION, "1.36")])
