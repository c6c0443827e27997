"""Ways to an API server: kubeconfigs as programs take them, and clients of the official library."""

import json
import os
import ssl
import urllib.request
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from kubernetes.client import ApiClient, Configuration
from urllib3 import Retry

NAME = "test"
"""Of cluster and context in a kubeconfig that is written here."""


class Unusable(Exception):
    """A kubeconfig that says too little."""


@dataclass(frozen=True)
class Administrator:
    """What a kubeconfig says of its current context."""

    server: str
    authority: bytes
    certificate: bytes
    key: bytes
    """All three as PEM."""

    def write(self, folder: Path) -> None:
        """As files, for `admin_client`: ca.crt, admin.crt and admin.key."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in (("ca.crt", self.authority), ("admin.crt", self.certificate), ("admin.key", self.key)):
            (folder / name).touch(mode=0o600)
            (folder / name).write_bytes(text)

    def write_kubeconfig(self, path: Path) -> None:
        """For programs."""
        user = {"client-certificate-data": b64encode(self.certificate).decode(), "client-key-data": b64encode(self.key).decode()}
        write_kubeconfig(path, kubeconfig(self.server, self.authority, user))


def administrator_of(text: str, folder: Path) -> Administrator:
    """Reads a kubeconfig whose user has a certificate. `folder`: of the file, for paths in it. Raises Unusable.

    Source: kubernetes.io, kubeconfig (v1): each of the three is data in base64, or a file.
    """
    try:
        tree = yaml.safe_load(text)
        context = _named(tree["contexts"], tree["current-context"])["context"]
        cluster = _named(tree["clusters"], context["cluster"])["cluster"]
        user = _named(tree["users"], context["user"])["user"]
        parts = [
            _part(cluster, "certificate-authority", folder),
            _part(user, "client-certificate", folder),
            _part(user, "client-key", folder),
        ]
        return Administrator(str(cluster["server"]), *parts)
    except (yaml.YAMLError, KeyError, TypeError, StopIteration, OSError, ValueError) as error:
        raise Unusable(f"a kubeconfig with a server, its authority and a client certificate is wanted: {error!r}") from error


def _named(entries: list[Mapping[str, Any]], name: str) -> Mapping[str, Any]:
    return next(entry for entry in entries if entry["name"] == name)


def _part(entry: Mapping[str, Any], name: str, folder: Path) -> bytes:
    return b64decode(entry[f"{name}-data"]) if f"{name}-data" in entry else (folder / entry[name]).read_bytes()


def kubeconfig(server: str, authority: bytes, user: Mapping[str, str]) -> dict[str, Any]:
    """A kubeconfig for one user: a token, or a certificate and its key."""
    cluster = {"server": server, "certificate-authority-data": b64encode(authority).decode()}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": NAME, "cluster": cluster}],
        "users": [{"name": "user", "user": dict(user)}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": "user"}}],
        "current-context": NAME,
    }


def write_kubeconfig(path: Path, content: Mapping[str, Any]) -> None:
    """For its owner only: Helm warns of one that others can read."""
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text(json.dumps(content))


def environment_of(tools: Mapping[str, Path], folder: Path, own: Path) -> dict[str, str]:
    """For a user's program: the tools on its PATH, the kubeconfig `own` as its default, and a home in `folder` where nothing is."""
    paths = dict.fromkeys(str(path.parent) for path in tools.values())
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return os.environ | {"PATH": os.pathsep.join([*paths, os.environ["PATH"]]), "KUBECONFIG": str(own), "HOME": str(home)}


def admin_client(server: str, pki: Path) -> ApiClient:
    """A client of an administrator. `pki`: folder of the control plane's certificates."""
    configuration = configuration_of(server, pki / "ca.crt")
    configuration.cert_file, configuration.key_file = (str(pki / f"admin.{end}") for end in ("crt", "key"))
    return ApiClient(configuration)


def client_of(server: str, authority: Path) -> ApiClient:
    """A client without a user: each request names its own."""
    return ApiClient(configuration_of(server, authority))


def configuration_of(server: str, authority: Path) -> Configuration:
    """Of a client that trusts an authority."""
    configuration = Configuration(host=server)
    configuration.ssl_ca_cert = str(authority)
    # As the commands' own client has it: what is put off comes back at once, and who waits looks again.
    configuration.retries = Retry(1, respect_retry_after_header=False)
    return configuration


def answers(url: str, context: ssl.SSLContext | None = None) -> bool:
    """Whether a GET is answered with 200."""
    try:
        with urllib.request.urlopen(url, context=context, timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False
