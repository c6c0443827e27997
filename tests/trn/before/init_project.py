"""A project without a stack file, in which `trn init` is tried."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support import ROOT
from tests.trn.given import Given
from trn.app import app


def empty_project(folder: Path, monkeypatch: pytest.MonkeyPatch, given: Given) -> Path:
    """Makes the folder a project, works in it, keeps answers in it; the caller's address cannot be learned."""

    def unknown() -> str:
        raise OSError("no network")

    for name in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(ROOT / name, folder / name)
    given.address = unknown
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    monkeypatch.chdir(folder)
    return folder


def trn(*arguments: str, answers: str = "") -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(app, ["init", *arguments], input=answers)
    return result.exit_code, result.stdout, result.stderr
