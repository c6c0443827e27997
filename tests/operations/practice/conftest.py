"""A copy of the project's own files, in which every test practises alone."""

import shutil
from pathlib import Path
from typing import Any

import pytest

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
