"""A page for each launcher: what it says of the stack is enough, and of states is what the launcher reads."""

from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT
from tools.pages import launcher_pages
from tools.pages.launcher_table import PAGE
from training.launchers import launchers
from training.launchers.base import Launcher
from training.phase import Phase

LAUNCHERS = pytest.mark.parametrize("launcher", launchers(), ids=lambda launcher: launcher.name)


def test_every_launcher_has_a_page_and_no_page_is_left_over():
    """Linked from docs/jobs.md."""
    written = {path.stem for path in (ROOT / "docs/launchers").glob("*.md")} - {Path(PAGE).stem}
    assert written == {launcher.name for launcher in launchers()}
    jobs = (ROOT / "docs/jobs.md").read_text()
    assert all(f"(launchers/{name}.md)" in jobs for name in {*written, Path(PAGE).stem})


@LAUNCHERS
def test_the_shipped_stack_needs_no_more_than_the_page_says(launcher: Launcher):
    """The sample is rendered on it: what is wrong would raise."""
    found = launcher_pages.made(launcher, ROOT)
    assert found.launcher is launcher
    assert found.objects or found.documents


@pytest.mark.parametrize("name", ["slurm", "batch"])
def test_without_what_the_page_says_it_is_refused(name: str, monkeypatch: pytest.MonkeyPatch):
    """Else the page would ask for too much."""
    (launcher,) = (each for each in launchers() if each.name == name)
    monkeypatch.setattr(launcher_pages, "switches", lambda launcher: {})
    with pytest.raises(Exception, match="the cluster trainium-dev has no"):
        launcher_pages.made(launcher, ROOT)


def status(launcher: Launcher, word: str) -> dict[str, Any]:
    """The status that has a word of the launcher's table."""
    return {
        "batch": {"status": word},
        "hyperpod": {"ClusterStatus": word},
        "parallelcluster": {"job_state": [word]},
        "rayjob": {"jobDeploymentStatus": word},
        "sagemaker": {"TrainingJobStatus": word},
        "slurm": {"job_state": [word]},
        "torchx": {"state": {"phase": word}},
        "volcano": {"state": {"phase": word}},
    }.get(launcher.name, {"conditions": [{"type": word, "status": "True"}, {"type": "Unknown", "status": "True"}]})


@LAUNCHERS
def test_each_word_of_the_table_is_read_as_the_page_says(launcher: Launcher):
    """And no word at all is a job that waits."""
    assert {word: launcher.phase(status(launcher, word)) for word in launcher.states} == launcher.states
    assert launcher.phase(None) == launcher.phase(status(launcher, "no such word")) == Phase.WAITING


def test_a_page_shows_no_text_of_files_and_no_line_without_end():
    """Scripts are packed into some requests."""
    pages = launcher_pages.pages(ROOT)
    assert "def main(" not in "".join(pages.values())
    assert (
        max(len(line) for line in pages["docs/launchers/sagemaker.md"].split("```json\n")[1].split("```")[0].splitlines())
        <= launcher_pages.WIDTH
    )
    assert all(len(text.splitlines()) < 360 for text in pages.values())
