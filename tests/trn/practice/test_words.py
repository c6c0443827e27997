"""In practice every hint and report names the command that works there; what it names is a value, and no text is looked through for it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from facts.typed import made_again, typed, typed_as
from stacks.config import parse_settings
from stacks.rules import notices
from tests.support import ROOT, dev_configuration
from tests.trn.practice.commands import trn
from trn.practice.words import in_practice
from trn.table import ENTRIES, InPractice

LINES = {
    "pulumi up": "trn practice up dev",
    "pulumi up --stack my.own": "trn practice up dev",
    "pulumi destroy": "trn practice down dev",
    "pulumi stack export --stack dev > state.json": "trn practice export dev > state.json",
    "trn sweep dev --state state.json": "trn --practice sweep dev --state state.json",
    "trn drain": "trn --practice drain dev",
    "trn sweep --delete": "trn --practice sweep dev --delete",
    "trn sweep dev --delete": "trn --practice sweep dev --delete",
    "PULUMI_K8S_DELETE_UNREACHABLE=true pulumi refresh": "trn --practice destroy dev",
    "pulumi cancel --stack dev": "trn engine dev -- cancel",
    "pulumi refresh": "trn engine dev -- refresh",
    "trn capacity find --hours 24": "trn --practice capacity find dev --hours 24",
    "trn logs": "trn --practice logs",
    "trn scale dev trn1 2": "trn --practice scale dev trn1 2",
    "trn data status dev": "trn --practice data status dev",
    "trn practice up dev": "trn practice up dev",
    "trn rehearse dev": "trn rehearse dev",
    "trn image build": "trn image build",
    "pulumi whoami --verbose": "pulumi whoami --verbose",
    "pulumi config set --stack dev --path 'trn:name' x": "pulumi config set --stack dev --path 'trn:name' x",
}


@pytest.mark.parametrize("line", LINES)
def test_a_command_is_typed_as_practice_has_it(line: str):
    """Its own stay, and so does what needs no account, is for AWS alone, or edits the stack file."""
    assert in_practice(line, "dev") == LINES[line]


@pytest.mark.parametrize("name", [place for place, entry in ENTRIES.items() if entry.in_practice is InPractice.SIMULATED])
def test_every_command_around_a_cluster_is_named_as_it_is_typed_in_practice(name: str):
    """A new one would otherwise ask for AWS credentials when it is copied."""
    assert in_practice(f"trn {name} bert", "dev") == f"trn --practice {name} bert"


def test_a_sentence_names_a_command_as_its_reader_types_it():
    """As it stands in the code, unless something else is said; and only inside that block."""
    with typed_as(lambda line: in_practice(line, "dev")):
        assert made_again("urn") == "trn engine dev -- up --replace 'urn'"
        assert typed("pulumi up") == "trn practice up dev"
    assert typed("pulumi up") == "pulumi up"


HELP = frozenset({"Option", "Argument", "CommandEntry", "GroupEntry"})
"""Calls whose texts are help, which is the same everywhere."""
AS_ON_AWS = frozenset({
    # Commands in mails and in the stack file, which are the same everywhere; and what is for AWS alone.
    "addons/idle_guard/pod/decision.py", "stacks/outputs.py", "trn/before/import_cluster/report.py", "trn/before/init/answers.py",
    "trn/before/init/making.py",
    # What was run, and not what is to be typed: a suite of JUnit, a part of a bundle, the command that is read.
    "trn/commands.py", "trn/engine/planned.py", "trn/running/bundle/writing.py", "trn/running/status/command.py", "trn/running/verify/command.py",
    "trn/cli/options.py", "trn/practice/engine/run.py",
})  # fmt: skip


def _named(tree: ast.Module) -> Iterator[str]:
    """Texts that name a command which practice types otherwise, and are not values of one."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or isinstance(parents[node], ast.Expr):
            continue
        lines = [line.removeprefix("next     ") for line in node.value.replace("`", "\n").split("\n")]
        if any(line.startswith(("pulumi ", "trn ")) and in_practice(line, "") != line for line in lines) and not _is_a_value(node, parents):
            yield node.value


def _is_a_value(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    while node in parents:
        node = parents[node]
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in {"typed", *HELP}:
            return True
        # A name of its own: read as a value where it is used.
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in (
            "command",
            "parts",
            "CANCEL",
            "RECOVER",
            "FORGET",
            "SWEEP",
            "DRAIN",
        ):
            return True
    return False


FOLDERS = ("addons", "facts", "local_kubernetes", "simulator", "stacks", "training", "trn")


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_sentence_of_the_code_names_a_command_as_mere_text(folder: str):
    """It would be AWS's where there is none."""
    files = sorted(path for path in (ROOT / folder).rglob("*.py") if not path.is_relative_to(ROOT / "training/recipes"))
    named = {str(file.relative_to(ROOT)): texts for file in files if (texts := list(_named(ast.parse(file.read_text()))))}
    assert {file: texts for file, texts in named.items() if file not in AS_ON_AWS} == {}


def test_a_users_own_text_stays_as_it_is(project: Path):
    """A name that reads like a command is a name, in an error too."""
    code, _, err = trn("--practice logs dev 'pulumi up'")
    assert (code != 0, "trn practice up dev" in err.replace("`trn practice up dev`", "")) == (True, False)


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
    settings = parse_settings(dev_configuration(), "dev", rehearsal=True)
    (said,) = [text for text in notices(settings) if "documentation address" in text]
    with typed_as(lambda line: in_practice(line, "dev")):
        assert said in notices(settings)


def test_findings_and_reports_name_them(up: Path):
    """On the screen and in JSON; the kubeconfig says that it leads nowhere."""
    assert trn("--practice scale trn1-32xl 0")[1].startswith("practice: ")
    code, _, err = trn("practice job dev bert")
    assert (code, "hint: `trn --practice scale dev trn1-32xl 2` starts two" in err) == (1, True)
    assert "the next `trn practice up dev` sets it back" in trn("--practice scale trn1-32xl 1")[1]
    code, out, err = trn("--practice kubeconfig dev")
    assert (code, "it leads nowhere" in err, "it leads nowhere" in out) == (0, True, False)
