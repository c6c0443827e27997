"""`trn` in this process, and what it leaves in the practice account."""

import shlex

from typer.testing import CliRunner

from operations.cli import app
from operations.engine.project import practice_folder
from operations.practice.account import PracticeAccount

UP = "practice up dev --quiet"


def trn(command: str, *, answer: str = "") -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(app, shlex.split(command), input=answer, catch_exceptions=False)
    return result.exit_code, result.stdout, result.stderr


def leftovers() -> list[tuple[str, str]]:
    """Everything in the account on disk."""
    account = PracticeAccount(practice_folder("dev")).open()
    try:
        return account.world.state.leftovers()
    finally:
        account.close()
