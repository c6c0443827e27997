"""Ctrl-C at several moments of the commands that take long: one line, exit code 130, and nothing half written.

destroy and drain are stopped after each of their calls in cluster/test_stopped.py, sweep in cluster/test_sweep.py, practice up and down
in practice/test_damage.py, the engine in engine/test_engine_signals.py; a real terminal is in tests/engine/test_walk.py.
"""

import json
import pkgutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests import sharing
from tests.support import copy_project
from tools.pages import pages
from trn.app import app
from trn.cli.errors import INTERRUPTION
from trn.cli.text_files import write_text

OLD = "what was there before\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project, in which Ctrl-C is Python's own."""
    copy_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("trn.practice.engines.shutil.which", lambda _name: None)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield tmp_path
    signal.signal(signal.SIGINT, before)


def press_at(monkeypatch: pytest.MonkeyPatch, place: str, call: int = 1) -> None:
    """The key is pressed as a function is called for this time."""
    real, calls = pkgutil.resolve_name(place), 0

    def act(*arguments: Any, **settings: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            signal.raise_signal(signal.SIGINT)
        return real(*arguments, **settings)

    monkeypatch.setattr(place, act)


def stopped(*words: str) -> Result:
    """A command line that Ctrl-C ended: in one line, which is its last."""
    result = CliRunner().invoke(app, list(words))
    assert (result.exit_code, result.stderr.endswith(INTERRUPTION)) == (130, True), result.output
    assert "Traceback" not in result.output
    return result


@pytest.mark.parametrize(
    ("place", "call"),
    [
        ("trn.engine.stack_file.read_stack_file", 1),
        ("simulator.rehearsal.record", 1),
        ("simulator.rehearsal.take_down", 1),
        ("trn.rehearsal.files.page_html", 1),
    ],
)
def test_a_rehearsal_that_is_stopped_writes_nothing(project: Path, monkeypatch: pytest.MonkeyPatch, place: str, call: int):
    """While the file is read, the program runs, the cluster is destroyed, the page is drawn."""
    # A recording that is kept would not be made.
    sharing.forget()
    press_at(monkeypatch, place, call)
    stopped("rehearse", "dev", "-q")
    assert not (project / "build").exists()


def test_a_rehearsal_that_is_stopped_as_it_writes_leaves_whole_files(project: Path, monkeypatch: pytest.MonkeyPatch):
    """Those that it had come to are new, the others as they were."""
    folder = project / "build" / "rehearsal"
    folder.mkdir(parents=True)
    for name in ("report.json", "timeline.svg", "index.html"):
        (folder / name).write_text(OLD)
    press_at(monkeypatch, "pathlib.Path.replace", call=2)
    stopped("rehearse", "dev", "-q")
    assert json.loads((folder / "report.json").read_text())["stack"] == "dev"
    assert [(folder / name).read_text() for name in ("timeline.svg", "index.html")] == [OLD, OLD]
    assert sorted(path.name for path in folder.iterdir()) == ["index.html", "report.json", "timeline.svg"]


@pytest.mark.parametrize("place", ["trn.engine.program.record_stack", "trn.rehearsal.change.page.page_html"])
def test_a_change_that_is_stopped_leaves_no_page(project: Path, monkeypatch: pytest.MonkeyPatch, place: str):
    """Its figures alone are whole."""
    press_at(monkeypatch, place)
    stopped("rehearse", "change", "dev", "--set", "nodeGroups.trn1-32xl.size=4")
    assert not (project / "build" / "rehearsal" / "index.html").exists()


@pytest.mark.parametrize("place", ["trn.before.init.making.File.write", "pathlib.Path.replace"])
def test_init_that_is_stopped_leaves_no_stack_file(project: Path, monkeypatch: pytest.MonkeyPatch, place: str):
    """Half of one would be taken for a stack."""
    press_at(monkeypatch, place)
    stopped("init", "night", "--yes", "--allow", "198.18.0.7/32")
    assert [path.name for path in project.iterdir() if "night" in path.name] == []


def test_a_practice_up_that_is_stopped_before_the_engine_begins_has_made_nothing(monkeypatch: pytest.MonkeyPatch):
    """Later on what was made is kept, and the next one goes on: practice/test_damage.py."""
    press_at(monkeypatch, "trn.practice.run.settings_of")
    stopped("practice", "up", "dev", "-q")


def test_pages_that_are_being_written_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """All are made before the first is written, and each is put in its place at once."""
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setattr(pages, "pages", lambda: {"docs/one.md": "new\n", "docs/two.md": "new\n"})
    monkeypatch.setattr(pages, "slow_pages", dict)
    (tmp_path / "docs").mkdir()
    for name in ("one", "two"):
        (tmp_path / "docs" / f"{name}.md").write_text(OLD)
    press_at(monkeypatch, "pathlib.Path.replace", call=2)
    with pytest.raises(KeyboardInterrupt):
        pages.write()
    assert {path.name: path.read_text() for path in (tmp_path / "docs").iterdir()} == {"one.md": "new\n", "two.md": OLD}


def test_a_file_keeps_its_mode_and_a_link_its_target(tmp_path: Path):
    """Writing beside and moving would lose both."""
    (tmp_path / "kept").write_text(OLD)
    (tmp_path / "kept").chmod(0o600)
    (tmp_path / "link").symlink_to("kept")
    write_text(tmp_path / "link", "new\n", "")
    assert (tmp_path / "link").is_symlink()
    assert ((tmp_path / "kept").read_text(), (tmp_path / "kept").stat().st_mode & 0o777) == ("new\n", 0o600)
