"""A copy of the project's own files, in which every test practises alone."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support import copy_project
from tests.trn.given import Given
from tests.trn.practice.commands import bring_up


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Given) -> Path:
    """The working folder. There is no Pulumi CLI, and there are no credentials that could be read."""
    copy_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("trn.practice.engines.shutil.which", lambda _name: None)

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a command in practice looked for AWS credentials")

    given.api = given.cluster = given.engine = given.address = refuse
    monkeypatch.setattr("botocore.credentials.CredentialResolver.load_credentials", refuse)
    return tmp_path


@pytest.fixture(scope="package")
def brought_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a stack that is up, made once. Not to be changed."""
    return bring_up(tmp_path_factory.mktemp("practice")) / "build"


@pytest.fixture
def up(project: Path, brought_up: Path) -> Path:
    """A stack that is up, to be changed."""
    shutil.copytree(brought_up, project / "build")
    return project
