"""Changing a stack file: exactly the keys that are named, and not one character of anything else."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from stacks.stack_yaml import read_yaml
from tests.support import ROOT
from trn.cli.errors import CommandError
from trn.engine.stack_edit import Edit, changed_data, edited

SHIPPED = (ROOT / "Pulumi.dev.yaml").read_text()
VERSION = ("controlPlane", "kubernetesVersion")
GROUP = ("nodeGroups", "trn1-32xl")


def differing(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines that are gone, and lines that are there for it."""
    old, new = before.splitlines(), after.splitlines()
    return [line for line in old if line not in new], [line for line in new if line not in old]


def test_only_the_lines_of_the_keys_change():
    """Comments, order and quotes of the shipped file stay."""
    edits = [
        Edit(("network", "zones"), ["usw2-az4", "usw2-az1", "usw2-az2"]),
        Edit((*GROUP, "capacityType"), "CAPACITY_BLOCK"),
        Edit((*GROUP, "capacityReservationId"), "cr-0123456789abcdef0"),
        Edit((*GROUP, "size"), 4),
        Edit(("storage", "lustre", "zoneId"), "usw2-az1"),
        Edit(("controlPlane", "logTypes"), None),
    ]
    assert differing(SHIPPED, edited(SHIPPED, edits)) == (
        ["    zones: [usw2-az4, usw2-az1]", "    logTypes: [api, audit, authenticator]", "      size: 2"],
        [
            "    zones: [usw2-az4, usw2-az1, usw2-az2]",
            "      size: 4",
            "      capacityType: CAPACITY_BLOCK",
            "      capacityReservationId: cr-0123456789abcdef0",
            "      zoneId: usw2-az1",
        ],
    )


def test_what_is_changed_back_is_the_same_file():
    """Byte by byte."""
    there = [Edit((*GROUP, "capacityType"), "SPOT"), Edit(("region",), "us-east-2")]
    back = [Edit((*GROUP, "capacityType"), None), Edit(("region",), "us-west-2")]
    assert edited(edited(SHIPPED, there), back) == SHIPPED


FORMS = {
    "a list in lines grows": (
        "config:\n  trn:network:\n    zones:\n      - a # first\n      - b\n    # about nat\n    nat: single\n",
        Edit(("network", "zones"), ["a", "b", "c"]),
        "config:\n  trn:network:\n    zones:\n      - a # first\n      - b\n      - c\n    # about nat\n    nat: single\n",
    ),
    "a list in lines is another one": (
        "config:\n  trn:network:\n    zones:\n      - a\n      - b\n    nat: single # one\n",
        Edit(("network", "zones"), ["c"]),
        "config:\n  trn:network:\n    zones: [c]\n    nat: single # one\n",
    ),
    "a list with comments is another one": (
        "config:\n  trn:network:\n    zones:\n      # near the data\n      - 'a#1' # first\n      - b # second\n    nat: single\n",
        Edit(("network", "zones"), ["c"]),
        "config:\n  trn:network:\n    # near the data\n    # first\n    zones: [c] # second\n    nat: single\n",
    ),
    "a list on several lines with comments": (
        "config:\r\n  trn:network:\r\n    zones: [\r\n      a, # first\r\n      'b #1' ] # all\r\n",
        Edit(("network", "zones"), ["c"]),
        "config:\r\n  trn:network:\r\n    # first\r\n    zones: [c] # all\r\n",
    ),
    "a mapping on one line": (
        "config:\n  trn:nodeGroups: {g: {size: 2}} # all\n",
        Edit(("nodeGroups", "g", "capacityType"), "SPOT"),
        "config:\n  trn:nodeGroups: {g: {size: 2, capacityType: SPOT}} # all\n",
    ),
    "an empty mapping": (
        "config:\n  trn:nodeGroups: {}\n",
        Edit(("nodeGroups", "g", "size"), 2),
        "config:\n  trn:nodeGroups: {g: {size: 2}}\n",
    ),
    "a key without a value": (
        "config:\n  trn:nodeGroups: # none yet\n  trn:name: x\n",
        Edit(("nodeGroups", "g", "size"), 2),
        "config:\n  trn:nodeGroups: # none yet\n    g:\n      size: 2\n  trn:name: x\n",
    ),
    "no end of line at the end": (
        "config:\n  trn:name: x",
        Edit(("region",), "us-east-2"),
        "config:\n  trn:name: x\n  trn:region: us-east-2\n",
    ),
    "lines of Windows": (
        "config:\r\n  trn:name: x\r\n  trn:region: y # here\r\n",
        Edit(("region",), "us-east-2"),
        "config:\r\n  trn:name: x\r\n  trn:region: us-east-2 # here\r\n",
    ),
    "the last of its mapping is deleted": (
        "config:\n  trn:name: x\n  trn:storage:\n    lustre:\n      zoneId: z\n# end\n",
        Edit(("storage", "lustre", "zoneId"), None),
        "config:\n  trn:name: x\n  trn:storage:\n    lustre:\n      {}\n# end\n",
    ),
    "one of a line is deleted": (
        "config:\n  trn:a: {b: 1, c: 2, d: 3}\n",
        Edit(("a", "c"), None),
        "config:\n  trn:a: {b: 1, d: 3}\n",
    ),
    "the last of a line is deleted": ("config:\n  trn:a: {b: 1, d: 3}\n", Edit(("a", "d"), None), "config:\n  trn:a: {b: 1}\n"),
    "text that would be read as a time": (
        "config:\n  trn:a:\n    b: 1\n",
        Edit(("a", "startsAt"), "2026-12-01T11:30:00Z"),
        'config:\n  trn:a:\n    b: 1\n    startsAt: "2026-12-01T11:30:00Z"\n',
    ),
    "a key that is not there is deleted": ("config:\n  trn:a: 1\n", Edit(("b", "c"), None), "config:\n  trn:a: 1\n"),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_file(form: str):
    """As people write them."""
    before, edit, after = FORMS[form]
    assert edited(before, [edit]) == after


@pytest.mark.parametrize(
    "text",
    [
        "config:\n  trn:nodeGroups:\n    a: &shared\n      size: 2\n    b: *shared\n",
        "config:\n  trn:nodeGroups:\n    a: &shared {size: 2}\n    b:\n      <<: *shared\n",
    ],
)
def test_a_value_that_is_shared_is_not_changed_for_one_alone(text: str):
    """An anchor's value is written in one place and read in two; what to type is said."""
    with pytest.raises(CommandError) as refused:
        edited(text, [Edit(("nodeGroups", "a", "size"), 4)])
    assert "size: 4" in refused.value.hint


_NAMES = st.sampled_from(["network", "nodeGroups", "storage", "coreNodes", "other"])
_KEYS = st.sampled_from(["zones", "trn1-32xl", "trn1n-32xl", "lustre", "size", "minSize", "new"])
_VALUES = st.one_of(
    st.none(), st.integers(0, 9), st.booleans(), st.sampled_from(["x-1", "yes", "1.30", "12:30", "a: b"]), st.lists(_KEYS, max_size=3)
)
_EDITS = st.builds(lambda first, rest, value: Edit((first, *rest), value), _NAMES, st.lists(_KEYS, min_size=1, max_size=3), _VALUES)


@given(st.lists(_EDITS, min_size=1, max_size=4))
def test_what_is_written_is_what_was_meant_or_nothing_is(edits: list[Edit]):
    """Whatever the keys: other values never change."""
    try:
        made = edited(SHIPPED, edits)
    except CommandError:
        return
    assert read_yaml(made) == changed_data(read_yaml(SHIPPED), edits)
    assert [line for line in SHIPPED.splitlines() if line.lstrip().startswith("#")] == [
        line for line in made.splitlines() if line.lstrip().startswith("#") and "# delete" not in line
    ] or any(edit.value is None or isinstance(edit.value, list) for edit in edits)


def test_a_value_is_set_in_its_place():
    """The diff of an upgrade is one line, which a reviewer sees at once."""
    gone, came = differing(SHIPPED, edited(SHIPPED, [Edit(VERSION, "1.36")]))
    assert (gone, came) == (['    kubernetesVersion: "1.35"'], ['    kubernetesVersion: "1.36"'])


def test_a_value_keeps_its_form():
    """A release that stood without quotes gets none."""
    pin = ("nodeGroups", "trn1-32xl", "releaseVersion")
    _, came = differing(SHIPPED, edited(SHIPPED, [Edit(pin, "1.36.1-20260610")]))
    assert came == ["      releaseVersion: 1.36.1-20260610"]
    assert edited("config:\n  trn:a:\n    b: 1.35\n", [Edit(("a", "b"), "1.36")]) == 'config:\n  trn:a:\n    b: "1.36"\n'


def test_a_key_comes_and_goes_without_a_trace():
    """What an upgrade holds and lets go of leaves the file as it was, in sections of lines and of braces alike."""
    paths = [("coreNodes", "kubernetesVersion"), ("nodeGroups", "trn1-32xl", "kubernetesVersion"), ("addons", "volcano", "x")]
    flow = "config:\n  trn:nodeGroups:\n    a: {size: 2, instanceType: trn1.32xlarge} # kept\n    b: {}\n"
    for text, path in [
        *((SHIPPED, path) for path in paths),
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
    assert edited(SHIPPED, [Edit(VERSION, "1.35")]) == SHIPPED
    assert edited(edited(SHIPPED, [Edit(VERSION, "1.36")]), [Edit(VERSION, "1.35")]) == SHIPPED
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
