"""The client of a cluster that EKS described: no kubeconfig is read, and nothing is left on disk."""

import base64
import tempfile
from pathlib import Path
from typing import Any, cast

import pytest

from trn.kubernetes.client import connect

ENTRY = {"name": "demo", "endpoint": "https://example", "certificateAuthority": {"data": base64.b64encode(b"PEM").decode()}}


def test_the_authority_is_on_disk_for_as_long_as_the_client_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The official client wants a file; each command would leave one behind."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    client = connect(cast("Any", None), ENTRY)
    assert [path.read_bytes() for path in tmp_path.glob("*/ca.crt")] == [b"PEM"]
    del client
    assert list(tmp_path.iterdir()) == []
