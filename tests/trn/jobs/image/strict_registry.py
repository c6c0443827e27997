"""A registry in this process, as strict as the OCI distribution specification allows, which keeps what was asked of it."""

import base64
import hashlib
import http.client
import io
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

MANIFESTS = ("application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json")
INDEXES = ("application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json")
NAME = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*"
CODES = {"BLOB_UNKNOWN": 404, "BLOB_UPLOAD_UNKNOWN": 404, "MANIFEST_UNKNOWN": 404, "NAME_UNKNOWN": 404, "DIGEST_INVALID": 400, "SIZE_INVALID": 400, "MANIFEST_BLOB_UNKNOWN": 400,
         "MANIFEST_INVALID": 400, "RANGE": 416, "UNAUTHORIZED": 401, "TAG_IMMUTABLE": 400, "UNSUPPORTED": 405}  # fmt: skip


class No(Exception):
    """What the registry refuses."""


def digest_of(body: bytes) -> str:
    """sha256, as registries spell it."""
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


@dataclass
class Repository:
    """One repository."""

    blobs: dict[str, bytes] = field(default_factory=dict)
    manifests: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)


@dataclass
class StrictRegistry:
    """What is in it, how it behaves, and what was asked."""

    host: str = ""
    repositories: dict[str, Repository] = field(default_factory=dict)
    makes_repositories: bool = True
    """ECR makes none on push."""
    mounts: bool = True
    immutable: bool = False
    password: str | None = None
    """`Basic` with this password, where there is one."""
    tokens: bool = False
    """`Bearer`: a token for what is asked, without a login; each is good for so many requests."""
    token_life: int = 1000
    breaks: list[int] = field(default_factory=list)
    """For each of the next uploads, after how many bytes the connection ends."""
    breaks_reads: list[int] = field(default_factory=list)
    """The same for blobs that are read."""
    status_works: bool = True
    """Whether it says how far an upload is."""
    lags: int = 0
    """So often it says of a broken upload that less arrived than did."""
    throttles: int = 0
    """So many of the next requests are put off."""
    asked: list[str] = field(default_factory=list)
    """Method, what of, and for uploads the bytes that arrived."""
    uploads: dict[str, bytearray] = field(default_factory=dict)
    issued: dict[str, list[Any]] = field(default_factory=dict)

    def put(self, repository: str, tag: str, manifest: bytes, media_type: str, *blobs: bytes) -> str:
        """An image that is there already; its digest."""
        found = self.repositories.setdefault(repository, Repository())
        found.blobs |= {digest_of(blob): blob for blob in blobs}
        found.manifests[digest_of(manifest)] = (media_type, manifest)
        found.tags[tag] = digest_of(manifest)
        return digest_of(manifest)

    def sent(self) -> int:
        """Bytes of blobs that arrived."""
        return sum(int(line.split()[-1]) for line in self.asked if line.startswith("PATCH"))

    def count(self, start: str) -> int:
        """How many requests begin so."""
        return sum(line.startswith(start) for line in self.asked)

    def of(self, name: str) -> Repository:
        """The repository that is pushed to."""
        if name not in self.repositories:
            if not self.makes_repositories:
                raise No("NAME_UNKNOWN")
            self.repositories[name] = Repository()
        return self.repositories[name]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    registry: StrictRegistry

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed."""

    def do_GET(self) -> None:
        self._serve()

    def do_HEAD(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PATCH(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def _serve(self) -> None:
        url = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        try:
            if url.path == "/token":
                self._token(query)
                return
            if self.registry.throttles:
                self.registry.throttles -= 1
                self._answer(429, b'{"errors": [{"code": "TOOMANYREQUESTS", "message": "slow down"}]}')
                return
            self._authorized(url.path)
            found = re.fullmatch(rf"/v2/({NAME})/(blobs|manifests)/(.+|uploads/)", url.path)
            if found is None:
                raise No("NAME_UNKNOWN")
            name, kind, rest = found.groups()
            if kind == "manifests":
                self._manifest(name, rest)
            elif rest.startswith("uploads/"):
                self._upload(name, rest.removeprefix("uploads/"), query)
            else:
                self._blob(name, rest)
        except No as refusal:
            code = str(refusal)
            body = b"" if self.command == "HEAD" else json.dumps({"errors": [{"code": code, "message": f"refused: {code}"}]}).encode()
            self.close_connection = True
            self._answer(CODES[code], body, getattr(refusal, "headers", {}))

    def _authorized(self, path: str) -> None:
        registry, given = self.registry, self.headers.get("Authorization", "")
        realm = f'http://{registry.host}/token",service="{registry.host}'
        if registry.password is not None:
            if given != f"Basic {base64.b64encode(f'AWS:{registry.password}'.encode()).decode()}":
                self._unauthorized('Basic realm="https://here/",service="ecr"')
        elif registry.tokens:
            repository = re.split("/(?:blobs|manifests)/", path.removeprefix("/v2/"))[0]
            right = "pull" if self.command in ("GET", "HEAD") else "pull,push"
            token = registry.issued.get(given.removeprefix("Bearer "))
            fits = token is not None and token[0] == repository and (right == "pull" or token[1] == right) and token[2] > 0
            if not fits:
                self._unauthorized(f'Bearer realm="{realm}",scope="repository:{repository}:{right}"')
            else:
                assert token is not None
                token[2] -= 1

    def _unauthorized(self, challenge: str) -> None:
        # What is on its way is read, so that the answer arrives.
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        refusal = No("UNAUTHORIZED")
        refusal.headers = {"WWW-Authenticate": challenge}  # type: ignore[attr-defined]
        raise refusal

    def _token(self, query: dict[str, str]) -> None:
        _, repository, right = query["scope"].split(":")
        token = f"t{len(self.registry.issued)}"
        self.registry.issued[token] = [repository, right, self.registry.token_life]
        self._answer(200, json.dumps({"token": token}).encode())

    def _blob(self, name: str, digest: str) -> None:
        self.registry.asked.append(f"{self.command} blob {name} {digest}")
        if name not in self.registry.repositories or digest not in self.registry.repositories[name].blobs:
            raise No("BLOB_UNKNOWN")
        body = self.registry.repositories[name].blobs[digest]
        begin = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        start = int(begin[1]) if begin else 0
        if self.command == "GET" and self.registry.breaks_reads:
            stop = self.registry.breaks_reads.pop(0)
            self.send_response(200 if not start else 206)
            self.send_header("Content-Length", str(len(body) - start))
            self.end_headers()
            self.wfile.write(body[start : start + stop])
            self.close_connection = True
            return
        self._answer(206 if start else 200, body[start:])

    def _manifest(self, name: str, version: str) -> None:
        registry = self.registry
        registry.asked.append(f"{self.command} manifest {name} {version}")
        if self.command == "PUT":
            self._put_manifest(name, version)
            return
        found = registry.repositories.get(name)
        digest = version if ":" in version else (found.tags.get(version, "") if found else "")
        if found is None or digest not in found.manifests:
            raise No("MANIFEST_UNKNOWN")
        media_type, body = found.manifests[digest]
        if media_type not in self.headers.get("Accept", ""):
            raise No("MANIFEST_UNKNOWN")
        self._answer(200, body, {"Content-Type": media_type, "Docker-Content-Digest": digest})

    def _put_manifest(self, name: str, version: str) -> None:
        repository = self.registry.of(name)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        media_type, value = self.headers.get("Content-Type", ""), json.loads(body)
        if media_type not in MANIFESTS or value.get("mediaType", media_type) != media_type or value["schemaVersion"] != 2:
            raise No("MANIFEST_INVALID")
        family = "oci" if "oci" in media_type else "docker"
        for item in (value["config"], *value["layers"]):
            if family not in item["mediaType"]:
                raise No("MANIFEST_INVALID")
            if item["digest"] not in repository.blobs:
                raise No("MANIFEST_BLOB_UNKNOWN")
            if item["size"] != len(repository.blobs[item["digest"]]):
                raise No("SIZE_INVALID")
        if ":" in version and version != digest_of(body):
            raise No("DIGEST_INVALID")
        if self.registry.immutable and repository.tags.get(version, digest_of(body)) != digest_of(body):
            raise No("TAG_IMMUTABLE")
        repository.manifests[digest_of(body)] = (media_type, body)
        repository.tags[version] = digest_of(body)
        self._answer(201, headers={"Location": f"/v2/{name}/manifests/{digest_of(body)}", "Docker-Content-Digest": digest_of(body)})

    def _upload(self, name: str, session: str, query: dict[str, str]) -> None:
        registry = self.registry
        if self.command == "POST":
            source = registry.repositories.get(query.get("from", ""))
            if "mount" in query and registry.mounts and source is not None and query["mount"] in source.blobs:
                registry.of(name).blobs[query["mount"]] = source.blobs[query["mount"]]
                registry.asked.append(f"MOUNT {name} {query['mount']} from {query['from']}")
                self._answer(201, Location=f"/v2/{name}/blobs/{query['mount']}")
                return
            registry.of(name)
            which = f"u{len(registry.asked)}"
            registry.uploads[which] = bytearray()
            registry.asked.append(f"POST {name}")
            self._answer(202, Location=f"/v2/{name}/blobs/uploads/{which}?state=0", Range="0-0")
            return
        if session not in registry.uploads:
            raise No("BLOB_UPLOAD_UNKNOWN")
        kept = registry.uploads[session]
        if self.command == "PATCH":
            self._patch(name, session, kept, query)
        elif self.command == "PUT":
            self._finish(name, session, kept, query)
        elif self.command == "DELETE":
            del registry.uploads[session]
            self._answer(204)
        elif registry.status_works:
            said = len(kept) // 2 if registry.lags else len(kept)
            registry.lags = max(0, registry.lags - 1)
            registry.asked.append(f"STATUS {name} {said}")
            self._answer(204, Location=f"/v2/{name}/blobs/uploads/{session}?state={len(kept)}", Range=f"0-{max(0, said - 1)}")
        else:
            raise No("UNSUPPORTED")

    def _patch(self, name: str, session: str, kept: bytearray, query: dict[str, str]) -> None:
        registry, length = self.registry, int(self.headers["Content-Length"])
        given = self.headers.get("Content-Range")
        if given is not None and int(given.split("-")[0]) != len(kept):
            # As a registry must that refuses before the end: the rest is read, so that the answer arrives.
            self.rfile.read(length)
        if (given is None and kept) or (given is not None and given != f"{len(kept)}-{len(kept) + length - 1}"):
            raise No("RANGE")
        if query.get("state") != str(len(kept)):
            # Each answer names the place of the next request; an old one is no good.
            raise No("BLOB_UPLOAD_UNKNOWN")
        stop = registry.breaks.pop(0) if registry.breaks else length
        body = self.rfile.read(min(length, stop))
        kept += body
        registry.asked.append(f"PATCH {name} {len(body)}")
        if stop < length:
            self.close_connection = True
            self.connection.close()
            return
        self._answer(202, Location=f"/v2/{name}/blobs/uploads/{session}?state={len(kept)}", Range=f"0-{len(kept) - 1}")

    def _finish(self, name: str, session: str, kept: bytearray, query: dict[str, str]) -> None:
        if digest_of(bytes(kept)) != query.get("digest"):
            raise No("DIGEST_INVALID")
        self.registry.of(name).blobs[query["digest"]] = bytes(kept)
        del self.registry.uploads[session]
        self._answer(201, Location=f"/v2/{name}/blobs/{query['digest']}")

    def _answer(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None, **more: str) -> None:
        self.send_response(status)
        for key, value in {**(headers or {}), **more}.items():
            self.send_header(key, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


class _Line:
    """A connection on which one request has arrived, and the answer is read back."""

    def __init__(self, sent: bytes) -> None:
        self.sent, self.got = io.BytesIO(sent), io.BytesIO()

    def makefile(self, mode: str, *_: Any) -> io.BytesIO:
        """What was sent, or what was got."""
        return self.sent if self.got.tell() == 0 and not self.got.getvalue() else io.BytesIO(self.got.getvalue())

    def sendall(self, data: bytes) -> None:
        """A part of the answer."""
        self.got.write(data)


def answered(
    registry: StrictRegistry, method: str, path: str, headers: Mapping[str, str], body: bytes
) -> tuple[int, dict[str, str], bytes]:
    """One request without a network: status, headers and body of the answer."""
    lines = [f"{method} {path} HTTP/1.1", *(f"{key}: {value}" for key, value in {"Content-Length": str(len(body)), **headers}.items())]
    line = _Line("\r\n".join([*lines, "Connection: close", "", ""]).encode() + body)
    type("Handler", (_Handler,), {"registry": registry})(cast("Any", line), ("stage", 0), cast("Any", None))
    answer = http.client.HTTPResponse(cast("Any", line), method=method)
    answer.begin()
    return answer.status, dict(answer.getheaders()), answer.read()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away in the middle is part of the tests."""


@contextmanager
def serving(registry: StrictRegistry) -> Iterator[StrictRegistry]:
    """The registry, on a port of this machine."""
    handler = type("Handler", (_Handler,), {"registry": registry})
    with _Server(("127.0.0.1", 0), handler) as server:
        registry.host = f"127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield registry
        finally:
            server.shutdown()
            thread.join()
