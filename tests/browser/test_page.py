"""The page in a real browser: its script runs, and its filter filters."""

import shutil
import subprocess
from pathlib import Path

import pytest

from operations.rehearse import rehearse_stack
from operations.stack_file import read_stack_file
from simulator.drawing.page import page_html
from tests.support import ROOT

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH")]


def loaded(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The page's document after its script has run, and what the browser logged."""
    command = [
        str(CHROMIUM),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--enable-logging=stderr",
        *arguments,
        "--dump-dom",
        f"file://{path}",
    ]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)


def test_the_page_runs_without_an_error(tmp_path: Path):
    """A script that stops half-way leaves tables that cannot be filtered, and no test in Python would see it."""
    rehearsal = rehearse_stack(read_stack_file("dev", ROOT))
    path = tmp_path / "index.html"
    # Types into the filter box as a reader would, once the page's own script has been read.
    typing = (
        "<script>addEventListener('load', () => { const box = document.querySelector('input');"
        " box.value = 'queue-'; box.dispatchEvent(new Event('input', {bubbles: true}));"
        " document.title = [...document.querySelectorAll('#resources tbody tr')].filter(row => row.style.display !== 'none' && !row.hidden).length + ' shown'; });</script>"
    )
    path.write_text(page_html(rehearsal.report, rehearsal.recording).replace("</body>", f"{typing}</body>"))
    done = loaded(path)
    assert "Uncaught" not in done.stderr
    assert "<title>2 shown</title>" in done.stdout
