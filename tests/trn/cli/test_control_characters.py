"""What users, logs and clusters say is shown on a terminal and never acted on by it."""

import io
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Group
from rich.table import Table
from rich.text import Text
from typer.testing import CliRunner

from tests.support import ROOT
from trn.app import app
from trn.cli import output
from trn.cli.control_characters import escaped
from trn.cli.findings import passed
from trn.cli.junit import write_junit

HOSTILE = "\x1b]0;title\x07\x9b31m\N{RIGHT-TO-LEFT OVERRIDE}"
SHOWN = r"\x1b]0;title\x07\x9b31m\u202e"


def test_text_without_them_stays_as_it_is():
    """Also other alphabets, curves, and tables of tabs."""
    assert escaped("Schöne ▁▂▃ 東京\n\tend") == "Schöne ▁▂▃ 東京\n\tend"
    assert escaped(HOSTILE + "\udcff\r") == SHOWN + r"\udcff\r"


def table_of(text: str) -> Table:
    """One cell."""
    made = Table.grid()
    made.add_row(text)
    return made


@pytest.mark.parametrize("make", [str, Text, table_of, lambda text: Group(Text("x"), Text(text))])
@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_console_shows_them(make: Any, is_terminal: bool, monkeypatch: pytest.MonkeyPatch):
    """In whatever they are printed; a table cuts what it had no room for."""
    screen, written = output._Console(force_terminal=is_terminal, width=200, highlight=False), io.StringIO()
    monkeypatch.setattr(screen, "file", written)
    screen.print(make(HOSTILE), markup=False)
    assert "\x1b]" not in written.getvalue()
    assert "\x9b" not in written.getvalue()
    assert r"\x1b]0;" in written.getvalue()


@pytest.mark.parametrize(
    "arguments",
    [
        ("rehearse", "-q", "--fault", HOSTILE),
        ("rehearse", "-q", HOSTILE),
        ("cost", HOSTILE),
        ("rehearse", "-q", "--scenario", HOSTILE),
        ("submit", HOSTILE, "--dry-run"),
        ("watch", "--log", "/dev/null", "--instance", HOSTILE),
    ],
    ids=lambda arguments: arguments[0],
)
def test_an_error_shows_them(arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch):
    """A name that was pasted from somewhere."""
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(app, list(arguments), color=True)
    assert result.exit_code == 2
    assert SHOWN in result.stderr
    assert "\x1b" not in result.output


def test_findings_with_them_are_xml(tmp_path: Path):
    """XML has no control characters: a build server would refuse the whole file."""
    write_junit([passed("name", HOSTILE)], "suite", tmp_path / "new" / "junit.xml")
    found = ElementTree.parse(tmp_path / "new" / "junit.xml").getroot()
    assert [case.get("name") for case in found] == [SHOWN]
