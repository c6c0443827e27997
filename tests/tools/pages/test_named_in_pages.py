"""Paths and commands that the written pages name: they exist, and are taken."""

import os
import re
from collections.abc import Iterator

import pytest
import typer

from tests.addons.test_kubernetes_objects import objects
from tests.simulator.account.standing import recording
from tests.support import ROOT
from tests.trn.cli.lines import taken
from trn.cli.placement import Unplaced

PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "docs/architecture.md",
    "docs/contributing/addon.md",
    "docs/recovery.md",
    "docs/rehearsal.md",
    "docs/batch.md",
    "docs/bundle.md",
    "docs/jobs.md",
    "docs/layers.md",
    "docs/practice-kubernetes.md",
    "docs/private.md",
    *sorted(f"docs/{folder}/{path.name}" for folder in ("launchers", "recipes") for path in (ROOT / "docs" / folder).glob("*.md")),
)
ALL = ("README.md", "CONTRIBUTING.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")))
"""Pages whose commands are read; those that are not in PAGES are made from the code, and name paths of others."""
FOLDERS = tuple(sorted(path.name for path in ROOT.iterdir() if (path / "__init__.py").exists() or path.name in ("docs", "tests", ".ci")))
LINE = re.compile(r"^\s*\$ (?:\.venv/bin/)?trn (.+?)(?:\s+#.*)?$", re.MULTILINE)


def paths(page: str) -> Iterator[str]:
    """Paths in backticks that begin at the root, and links, as paths from the root."""
    text = (ROOT / page).read_text()
    yield from (path for path in re.findall(r"`([\w./*-]+)`", text) if path.startswith(tuple(f"{folder}/" for folder in FOLDERS)))
    links = (link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link)
    yield from (os.path.normpath(f"{(ROOT / page).parent.relative_to(ROOT)}/{link}") for link in links if link)


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_exists(page: str):
    """Files move; the pages must move with them. NAME and CHART stand for any name."""
    named = {re.sub(r"\b(NAME|CHART|STACK)\b", "*", path) for path in paths(page)}
    assert sorted(path for path in named if not list(ROOT.glob(path.rstrip("/")))) == []


def test_the_warning_that_comes_with_every_up_is_explained():
    """pulumi-kubernetes looks for a storage class of each claim; the stack's names none, since it is bound to the stack's own volume."""
    claims = [item for item in objects("dev") if item.type.endswith(":PersistentVolumeClaim")]
    assert [item.inputs["spec"]["storageClassName"] for item in claims] == [""]
    warning = f'no storage class found for "{claims[0].inputs["metadata"]["name"]}"'
    assert f"`{warning}`" in (ROOT / "docs/recovery.md").read_text()


def test_the_update_that_another_profile_brings_is_explained():
    """The real component's provider of its own has the profile in its kubeconfig; nothing of the stack goes through it."""
    stack = recording()
    own = {item.urn for item in stack.of_type("pulumi:providers:kubernetes") if "$eks:index:Cluster$" in item.urn}
    assert len(own) == 1
    assert [item.name for item in stack.registrations.values() if item.type.startswith("kubernetes:") and own & set(item.providers)] == []
    assert "another `AWS_PROFILE`" in (ROOT / "docs/recovery.md").read_text()


def test_the_pages_name_many_paths():
    """A pattern that finds none would pass."""
    assert sum(len(set(paths(page))) for page in PAGES) > 60


@pytest.mark.parametrize("page", PAGES)
def test_every_make_target_that_a_page_names_exists(page: str):
    """They are the first commands that a reader types."""
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:`|\$ )make ([\w-]+)", (ROOT / page).read_text()))
    assert named <= targets


def parsed(line: str) -> tuple[str, ...]:
    """The command on a line of `trn`, its arguments read by the command line itself; nothing is run."""
    return taken(re.findall(r"'[^']*'|\S+", line))[0]


@pytest.mark.parametrize("page", ALL)
def test_every_command_that_a_page_shows_is_taken(page: str):
    """What a reader copies must run: each line is parsed, up to where it would act."""
    for line in LINE.findall((ROOT / page).read_text()):
        assert parsed(line), line


@pytest.mark.parametrize("page", ALL)
def test_every_command_that_a_page_names_in_a_sentence_is_taken(page: str):
    """Between backticks; there a name may stand without what it must be given."""
    text = re.sub(r"^(```|~~~).*?^\1", "", (ROOT / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    lines = re.findall(r"`trn ((?!--practice COMMAND)[a-z-][^`]*)`", text)
    refused = {line: refusal for line in lines if (refusal := refusal_of(re.sub(r"\s(>|\||&&|;).*", "", line)))}
    lacking = re.compile(r"is missing|are missing|Missing|requires an argument|has no name")
    assert {line: refusal for line, refusal in refused.items() if not lacking.search(refusal)} == {}


def refusal_of(line: str) -> str:
    """What the command line says against a line; empty where it takes it."""
    try:
        return "" if parsed(line) else "no command"
    except Unplaced as error:
        return str(error)
    except typer.BadParameter as error:
        return error.format_message()
    except typer.Exit:
        # A group alone, which shows its help.
        return ""


def test_a_command_that_there_is_not_is_refused():
    """So is an option."""
    with pytest.raises(Unplaced, match="no such command"):
        parsed("rehears dev")
    with pytest.raises(Unplaced, match="no such option"):
        parsed("rehearse dev --fautl no-capacity")
