"""The file system recipe runs as it is, and with a program in place of fio that writes a result in fio's form."""

import json
import os
import subprocess
import sys
from pathlib import Path

from training import payload
from training.metrics_line import Event, parse

FIO = {"jobs": [{"write": {"bw_bytes": 625_000_000}, "read": {"bw_bytes": 1_250_000_000}}]}
"""Made up, not recorded: the form in which fio prints with --output-format=json, as far as the recipe reads it (fio 3 documentation, JSON output)."""


def speeds(tmp_path: Path, path: str) -> dict[str, float]:
    """Rates that the recipe measured, with the programs of `path` alone."""
    for name, text in payload.files("file-system").items():
        (tmp_path / name).write_text(text)
    command = [sys.executable, str(tmp_path / "train.py"), "--folder", str(tmp_path / "fsx"), "--gib", "0.01", "--files", "2"]
    done = subprocess.run(command, env={"PATH": path, "RANK": "0", "TRN_JOB": "test"}, capture_output=True, text=True, check=True)
    said = [event for event in map(parse, done.stdout.splitlines()) if isinstance(event, Event) and event.event == "measured"]
    return {event.more["kind"]: event.more["mb_per_s"] for event in said}


def test_it_measures_without_fio_and_leaves_nothing(tmp_path):
    found = speeds(tmp_path, str(tmp_path / "nothing"))
    assert set(found) == {"write", "read"}
    assert min(found.values()) > 0
    assert list((tmp_path / "fsx").iterdir()) == []


def test_it_takes_fio_where_it_is(tmp_path):
    """The image need not have it."""
    fake = tmp_path / "bin" / "fio"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\necho '{json.dumps(FIO)}'\n")
    fake.chmod(0o755)
    assert speeds(tmp_path, f"{fake.parent}{os.pathsep}/bin{os.pathsep}/usr/bin") == {"write": 625.0, "read": 1250.0}
