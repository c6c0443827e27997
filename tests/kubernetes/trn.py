"""`trn` on a practice account whose cluster is a real API server.

The account gives the API server's address and certificate, the commands make EKS's own tokens, and the API server asks who they are.
"""

import itertools
import os
import shlex
import shutil
from base64 import b64encode, urlsafe_b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from typer.testing import CliRunner

from local_kubernetes.api import Object, wait
from local_kubernetes.authenticator import User
from local_kubernetes.control_plane import ADMINISTRATORS, ControlPlane
from trn.app import app
from trn.aws.eks import described
from trn.kubernetes.client import connect

PREFIX = "k8s-aws-v1."
_lives = itertools.count()


class Trn:
    """The command line on a practice account whose cluster is real."""

    def __init__(self, control_plane: ControlPlane, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.be(User("cluster-creator", (ADMINISTRATORS,)))
        control_plane.authenticator.readers.append(self.read)

    def be(self, user: User) -> None:
        """Let the account's caller be this user to the API server, as its access entry says."""
        self._user = user
        # The API server remembers a token for 10 s: another life makes another token within the same second.
        self._monkeypatch.setattr("trn.kubernetes.client.TOKEN_LIFE_S", 60 + next(_lives))

    def read(self, token: str) -> User | None:
        """As EKS's authenticator reads a token: a signed request to STS, made for this very cluster."""
        if not token.startswith(PREFIX):
            return None
        text = token.removeprefix(PREFIX)
        url = urlsplit(urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode())
        asked = {key: values[0] for key, values in parse_qs(url.query).items()}
        is_meant = asked["Action"] == "GetCallerIdentity" and "x-k8s-aws-id" in asked["X-Amz-SignedHeaders"].split(";")
        return self._user if is_meant and url.hostname == "sts.us-west-2.amazonaws.com" else None

    def __call__(self, command: str, *, code: int | None = 0) -> str:
        """Run `trn --practice`; gives its output and errors. The exit code must be this one, any where None."""
        done = CliRunner().invoke(app, ["--practice", *shlex.split(command)], catch_exceptions=False)
        assert code is None or done.exit_code == code, done.output
        return done.output


@contextmanager
def trn_on(control_plane: ControlPlane, practised: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Trn]:
    """Inside the block, in a copy of the account in `folder`, whose cluster is the control plane."""
    shutil.copytree(practised, folder, dirs_exist_ok=True)
    monkeypatch.chdir(folder)

    def entry(api: object, name: str) -> Object | None:
        found = described(api, name)  # type: ignore[arg-type]
        real = {"endpoint": control_plane.server, "certificateAuthority": {"data": b64encode(control_plane.authority).decode()}}
        return found if found is None else {**found, **real}

    monkeypatch.setattr("trn.change.cluster.described", entry)
    monkeypatch.setattr("trn.practice.access.Practice.kubernetes", lambda _, api, found: connect(api, found))
    monkeypatch.setattr("trn.practice.access.Practice.need_tools", lambda _, *tools: None)
    monkeypatch.setattr("trn.practice.access.Practice.pause", lambda _, seconds: wait(lambda: True, "a moment"))
    monkeypatch.setattr("trn.practice.engines.shutil.which", lambda _name: None)
    monkeypatch.setenv("PATH", os.pathsep.join([str(control_plane.tools["kubectl"].parent), os.environ["PATH"]]))
    made = Trn(control_plane, monkeypatch)
    try:
        yield made
    finally:
        control_plane.authenticator.readers.remove(made.read)
