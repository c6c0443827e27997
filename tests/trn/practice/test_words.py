"""In practice every hint and report names the command that works there."""

from pathlib import Path

import pytest

from stacks.config import parse_settings
from stacks.rules import notices
from tests.support import dev_configuration
from tests.trn.practice.commands import trn
from trn.practice.words import in_practice
from trn.table import ENTRIES, InPractice

SENTENCES = {
    "next     pulumi up --stack dev": "next     trn practice up dev",
    '["pulumi up --stack dev", "pulumi up --stack my.own."]': '["trn practice up dev", "trn practice up dev."]',
    "`pulumi up` makes it": "`trn practice up dev` makes it",
    "`pulumi destroy` first": "`trn practice down dev` first",
    "pulumi stack export --stack dev > state.json; trn sweep dev --state state.json": (
        "trn practice export dev > state.json; trn --practice sweep dev --state state.json"
    ),
    "`trn drain` ends the jobs; then `pulumi destroy` again": "`trn --practice drain dev` ends the jobs; then `trn practice down dev` again",
    "`trn sweep --delete` deletes it": "`trn --practice sweep dev --delete` deletes it",
    "`PULUMI_K8S_DELETE_UNREACHABLE=true pulumi refresh`": "`trn --practice destroy dev`",
    "`pulumi cancel --stack dev`, then": "`trn engine dev -- cancel`, then",
    "pulumi up --replace '**::trn1-32xl'": "trn engine dev -- up --replace '**::trn1-32xl'",
    "trn --practice recover dev; trn practice up dev": "trn --practice recover dev; trn practice up dev",
    "`trn capacity find --hours 24` lists them, and `trn logs` says why": (
        "`trn --practice capacity find dev --hours 24` lists them, and `trn --practice logs` says why"
    ),
    "`trn data status dev` follows it": "`trn --practice data status dev` follows it",
    "pulumi config set --stack dev --path 'trn:name' x": "pulumi config set --stack dev --path 'trn:name' x",
}


@pytest.mark.parametrize("said", SENTENCES)
def test_a_sentence_names_the_commands_of_practice(said: str):
    """Its own stay, and so does what edits the stack file."""
    assert in_practice(said, "dev") == SENTENCES[said]


@pytest.mark.parametrize("name", [place for place, entry in ENTRIES.items() if entry.in_practice is InPractice.SIMULATED])
def test_every_command_around_a_cluster_is_named_as_it_is_typed_in_practice(name: str):
    """A new one would otherwise ask for AWS credentials when it is copied."""
    assert in_practice(f"trn {name} bert", "dev") == f"trn --practice {name} bert"


def test_what_stops_a_command_names_them_too(project: Path):
    """An error and its hint, of a group's own commands and of those with --practice."""
    for command in ("practice job dev", "--practice status dev"):
        code, _, err = trn(command)
        assert (code, "`trn practice up dev` makes the cluster" in err) == (2, True)


def test_a_command_that_stops_before_it_reads_anything_names_its_own_stack(project: Path):
    """Not the one that commands act on where none is named."""
    (project / "Pulumi.other.yaml").write_text((project / "Pulumi.dev.yaml").read_text())
    code, _, err = trn("--practice iam other")
    assert (code, "`trn practice up other`" in err) == (2, True)


def test_a_notice_is_as_true_in_practice():
    """What AWS refuses, practice accepts: no command of Pulumi, or of practice, may be named as refusing it."""
    (said,) = [text for text in notices(parse_settings(dev_configuration(), "dev", rehearsal=True)) if "documentation address" in text]
    assert in_practice(said, "dev") == said


def test_findings_and_reports_name_them(up: Path):
    """On the screen and in JSON; the kubeconfig says that it leads nowhere."""
    assert trn("--practice scale trn1-32xl 0")[1].startswith("practice: ")
    code, _, err = trn("practice job dev bert")
    assert (code, "hint: `trn --practice scale dev trn1-32xl 2` starts two" in err) == (1, True)
    assert "the next `trn practice up dev` sets it back" in trn("--practice scale trn1-32xl 1")[1]
    code, out, err = trn("--practice kubeconfig dev")
    assert (code, "it leads nowhere" in err, "it leads nowhere" in out) == (0, True, False)
