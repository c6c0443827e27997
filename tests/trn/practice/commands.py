"""`trn` in this process, and what it leaves in the practice account."""

import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support import copy_project
from trn.app import app
from trn.practice.account import PracticeAccount
from trn.practice.engine.project import practice_folder

UP = "practice up dev --quiet"


def trn(command: str, *, answer: str = "") -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(app, shlex.split(command), input=answer, catch_exceptions=False)
    return result.exit_code, result.stdout, result.stderr


def bring_up(root: Path) -> Path:
    """Make a folder a project whose stack dev is up in a practice account, by the rehearsal's engine; gives the folder."""
    copy_project(root)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(root)
        monkeypatch.setattr("trn.practice.engines.shutil.which", lambda _name: None)
        assert trn(UP)[0] == 0
    return root


def leftovers(stack: str = "dev") -> list[tuple[str, str]]:
    """Everything in a stack's account on disk."""
    account = PracticeAccount(practice_folder(stack)).open()
    try:
        return account.world.state.leftovers()
    finally:
        account.close()
