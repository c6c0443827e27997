"""Reads a job file, or that of an account's ids, in YAML as Pulumi reads it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from stacks.stack_yaml import MAX_BYTES, YamlError, read_yaml
from training.account import Account, parse_account
from training.job import Job, JobFileError, parse_job
from trn.cli.errors import MISUSE, CommandError, CompleteError
from trn.cli.text_files import read_text

Parsed = TypeVar("Parsed")


def read_job(path: Path) -> Job:
    """The job of a file.

    Raises CommandError for a file that cannot be read, CompleteError with every mistake in it.
    """
    return _read(path, parse_job, "name a job file; docs/jobs.md has one")


def read_account(path: Path) -> Account:
    """The ids of a file, for launchers outside of the cluster; raises as `read_job`."""
    return _read(path, parse_account, "name a file of ids; docs/jobs.md has its keys")


def _read(path: Path, parse: Callable[[Any, str], Parsed], hint: str) -> Parsed:
    try:
        return parse(read_yaml(read_text(path, MAX_BYTES, hint)), str(path))
    except YamlError as error:
        raise CommandError(f"{path}: {error}", error.hint, code=MISUSE) from error
    except JobFileError as error:
        raise CompleteError(str(error), code=MISUSE) from error
