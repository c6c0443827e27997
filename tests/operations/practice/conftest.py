"""A copy of the project's own files, in which every test practises alone."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.operations.practice.commands import UP, trn
from tests.support import ROOT


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder. There is no Pulumi CLI, and there are no credentials that could be read."""
    for name in ("Pulumi.yaml", "Pulumi.dev.yaml", "__main__.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("operations.practice.engines.shutil.which", lambda _name: None)

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a command in practice looked for AWS credentials")

    monkeypatch.setattr("operations.access.Live.aws", refuse)
    monkeypatch.setattr("operations.access.Live.kubernetes", refuse)
    monkeypatch.setattr("operations.access.Live.pulumi", refuse)
    monkeypatch.setattr("operations.access.Live.own_address", refuse)
    monkeypatch.setattr("botocore.credentials.CredentialResolver.load_credentials", refuse)
    return tmp_path


@pytest.fixture(scope="package")
def brought_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a stack that is up, made once. Not to be changed."""
    root = tmp_path_factory.mktemp("practice")
    for name in ("Pulumi.yaml", "Pulumi.dev.yaml", "__main__.py"):
        shutil.copy(ROOT / name, root / name)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(root)
        monkeypatch.setattr("operations.practice.engines.shutil.which", lambda _name: None)
        assert trn(UP)[0] == 0
    return root / "build"


@pytest.fixture
def up(project: Path, brought_up: Path) -> Path:
    """A stack that is up, to be changed."""
    shutil.copytree(brought_up, project / "build")
    return project
