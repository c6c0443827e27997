"""A registry by its own protocol: manifests and blobs are read, mounted and sent, without any container tool.

Source: OCI distribution specification 1.1. Of the clients on the Python index, oras 0.2.43 is the one that is kept up; it cannot mount a
blob of another repository, nor begin an upload again where it broke off, and base layers have gigabytes. So this is the part of the
protocol that a push of files needs, over urllib3, which boto3 and the Kubernetes client bring.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode, urljoin

from urllib3 import HTTPResponse, PoolManager, Retry
from urllib3.exceptions import HTTPError
from urllib3.util import make_headers

from facts.typed import typed
from trn.change.clients import access
from trn.cli.errors import CommandError
from trn.jobs.image.manifest import ACCEPTED, Manifest, digest_of

CHUNK = 1 << 20
TRIES, WAIT_S = 5, 2
"""How often a blob is tried where nothing more of it arrives, and seconds before the second try; each further one waits twice as long."""
THROTTLED = 429
MOVED_ON = 416
"""The range is not where the upload stands: a registry may still write what arrived before a connection broke."""
_CHALLENGE = re.compile(r'([a-zA-Z]+)="([^"]*)"')
Read = Callable[[int], Iterator[bytes]]
"""Bytes of a blob from a position on."""


@dataclass(frozen=True)
class Reference:
    """An image as a job file has it."""

    host: str
    repository: str
    version: str
    """Tag or digest."""


def parsed(image: str) -> Reference:
    """The parts of an image's name; Docker Hub where it names no registry, as container tools read it."""
    name, _, digest = image.partition("@")
    first, slash, rest = name.partition("/")
    host, path = (first, rest) if slash and ("." in first or ":" in first or first == "localhost") else ("registry-1.docker.io", name)
    path, _, tag = path.partition(":")
    if host == "registry-1.docker.io" and "/" not in path:
        path = f"library/{path}"
    return Reference(host, path, digest or tag or "latest")


@dataclass
class Registry:
    """One registry. Raises CommandError for what it refuses, in its own words, and where it does not answer."""

    host: str
    login: Callable[[], tuple[str, str]] | None = None
    """User and password; None for what is public."""
    pause: Callable[[float], None] = time.sleep
    pool: PoolManager = field(default_factory=lambda: access().registries())
    _authorizations: dict[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Where its API begins. Only a registry on this machine is spoken to without TLS, as container tools do."""
        is_here = self.host.partition(":")[0] in ("localhost", "127.0.0.1")
        return f"{'http' if is_here else 'https'}://{self.host}/v2/"

    def manifest(self, repository: str, version: str) -> Manifest | None:
        """What a tag or a digest names; None where there is none."""
        answer = self._ask("GET", f"{repository}/manifests/{version}", accept=", ".join(ACCEPTED), allowed=(404,))
        if answer.status == 404:
            return None
        found = Manifest(answer.data, (answer.headers.get("Content-Type") or "").partition(";")[0])
        expected = version if ":" in version else answer.headers.get("Docker-Content-Digest", found.digest)
        if found.digest != expected:
            raise CommandError(f"{self.host} gave {found.digest} for {repository}, {expected} was asked for", "try again")
        if found.media_type not in ACCEPTED:
            raise CommandError(f"{self.host} gave a manifest of a kind that is not known: {found.media_type or 'none'}")
        return found

    def has_blob(self, repository: str, digest: str) -> bool:
        """Whether a repository has a blob."""
        return self._ask("HEAD", f"{repository}/blobs/{digest}", allowed=(404,)).status == 200

    def blob(self, repository: str, digest: str, start: int = 0) -> Iterator[bytes]:
        """A blob from a position on. A connection that breaks raises HTTPError."""
        headers = {"Range": f"bytes={start}-"} if start else {}
        answer = self._ask("GET", f"{repository}/blobs/{digest}", headers=headers, stream=True)
        # A server may pass over the range.
        skip = start if answer.status == 200 else 0
        for chunk in answer.stream(CHUNK, decode_content=False):
            if skip < len(chunk):
                yield chunk[skip:]
            skip = max(0, skip - len(chunk))

    def small_blob(self, repository: str, digest: str) -> bytes:
        """A whole blob, verified: for a configuration."""
        try:
            body = b"".join(self.blob(repository, digest))
        except HTTPError as error:
            raise CommandError(f"{self.host} broke off while {digest} was read: {error}", "run it again") from error
        if digest_of(body) != digest:
            raise CommandError(f"{self.host} gave {digest_of(body)} for {digest}", "try again")
        return body

    def mount(self, repository: str, digest: str, source: str) -> bool:
        """Take a blob over from another repository of the registry; false where the registry does not do so."""
        try:
            answer = self._begin(repository, {"mount": digest, "from": source})
        except HTTPError:
            return False
        if answer.status == 201:
            return True
        # It began an upload in place of it, which is of no use before it is known that the blob must be sent.
        with suppress(CommandError):
            self._ask("DELETE", self._location(answer), repository=repository, allowed=(400, 404, 405))
        return False

    def send(self, repository: str, digest: str, size: int, read: Read) -> None:
        """Send a blob. A connection that breaks is taken up where the registry says that it stands, else the blob begins again."""
        location, sent, tries = "", 0, 0
        while True:
            try:
                if not location:
                    location, sent = self._location(self._begin(repository, {})), 0
                if sent < size:
                    location = self._send_rest(repository, location, sent, size, read)
                self._end(repository, location, digest)
                return
            except HTTPError as error:
                tries += 1
                if tries == TRIES:
                    hint = "run it again: what is in the registry already is not sent again"
                    raise CommandError(f"{self.host} broke off {TRIES} times while {digest} was sent: {error}", hint) from error
                self.pause(WAIT_S * 2 ** (tries - 1))
                if self.has_blob(repository, digest):
                    # Only its last answer was lost.
                    return
                before = sent
                location, sent = self._standing(repository, location) if location else ("", 0)
                if sent > before:
                    tries = 0

    def _end(self, repository: str, location: str, digest: str) -> None:
        url = f"{location}{'&' if '?' in location else '?'}{urlencode({'digest': digest})}"
        self._ask("PUT", url, repository=repository, headers={"Content-Length": "0"}, breaks=True)

    def put_manifest(self, repository: str, version: str, manifest: Manifest) -> None:
        """Name an image, all of whose blobs are there."""
        self._ask("PUT", f"{repository}/manifests/{version}", body=manifest.body, headers={"Content-Type": manifest.media_type})

    def _begin(self, repository: str, query: Mapping[str, str]) -> HTTPResponse:
        more = f"?{urlencode(query)}" if query else ""
        return self._ask("POST", f"{repository}/blobs/uploads/{more}", headers={"Content-Length": "0"}, breaks=True)

    def _send_rest(self, repository: str, location: str, sent: int, size: int, read: Read) -> str:
        """The rest of a blob in one request; returns where the upload goes on."""
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size - sent)}
        if sent:
            headers["Content-Range"] = f"{sent}-{size - 1}"
        answer = self._ask("PATCH", location, repository=repository, body=read(sent), headers=headers, allowed=(MOVED_ON,) if sent else ())
        if answer.status == MOVED_ON:
            raise HTTPError("the registry had more of it than it said")
        return self._location(answer)

    def _standing(self, repository: str, location: str) -> tuple[str, int]:
        """Where a broken upload goes on, and how many bytes it has; empty where the registry does not say."""
        with suppress(CommandError, HTTPError):
            answer = self._ask("GET", location, repository=repository, allowed=(400, 404, 405))
            last = re.fullmatch(r"(?:bytes=)?0-(\d+)", answer.headers.get("Range", ""))
            # `0-0` is one byte, or as some registries write it none.
            if answer.status == 204 and last is not None:
                return self._location(answer, location), int(last[1]) + 1 if int(last[1]) else 0
        return "", 0

    def _location(self, answer: HTTPResponse, otherwise: str = "") -> str:
        found = answer.headers.get("Location") or otherwise
        if not found:
            raise CommandError(f"{self.host} began an upload and did not say where")
        return urljoin(self.address, found)

    def _ask(
        self, method: str, path: str, *, repository: str = "", accept: str = "", body: Any = None, headers: Mapping[str, str] | None = None,
        stream: bool = False, allowed: tuple[int, ...] = (), breaks: bool = False,
    ) -> HTTPResponse:  # fmt: skip
        """One request, with the right that the registry asks for. `allowed`: answers beside those of success.

        Raises CommandError where the registry does not answer; HTTPError in its place with `breaks`, and for what streams.
        """
        repository = repository or re.split("/(?:blobs|manifests)/", path)[0]
        url = path if "://" in path else self.address + quote(path, safe="/:?&=%")
        is_streamed = body is not None and not isinstance(body, bytes)
        waits, is_authorized = [1.0, 2.0, 4.0, 8.0], False
        while True:
            sent = {**(headers or {}), **({"Accept": accept} if accept else {})}
            if repository in self._authorizations:
                sent["Authorization"] = self._authorizations[repository]
            try:
                answer = self._request(method, url, body, sent, stream)
            except HTTPError as error:
                if is_streamed or stream or breaks:
                    raise
                hint = "is the registry's name right, and can it be reached from here?"
                raise CommandError(f"{self.host} does not answer: {error}", hint) from error
            if answer.status == 401 and not is_streamed and not is_authorized:
                # Also with a token: it has ended, or was for reading alone.
                is_authorized = True
                self._authorize(repository, answer.headers.get("WWW-Authenticate", ""))
            elif answer.status == 401 and is_streamed:
                # A token that ended on the way; the body cannot be sent twice.
                self._authorizations.pop(repository, None)
                raise HTTPError("the registry's token has ended")
            elif answer.status == THROTTLED and waits and not is_streamed:
                self.pause(waits.pop(0))
            else:
                break
        if answer.status >= 300 and answer.status not in allowed:
            raise self._refusal(method, repository, answer)
        return answer

    def _request(self, method: str, url: str, body: Any, headers: Mapping[str, str], stream: bool) -> HTTPResponse:
        # Blobs are often kept elsewhere; urllib3 leaves the authorization out of what it sends to another host.
        reads = Retry(5, connect=1, read=2, redirect=5, status=0, raise_on_redirect=True, backoff_factor=0.1)
        retries = reads if method in ("GET", "HEAD") else Retry(0, redirect=False)
        answer = self.pool.request(method, url, body=body, headers=headers, retries=retries, preload_content=not stream)
        assert isinstance(answer, HTTPResponse)
        return answer

    def _authorize(self, repository: str, challenge: str) -> None:
        """Get what the registry asks for: the login itself, or a token for one repository, without a login where it is public."""
        scheme, _, rest = challenge.partition(" ")
        basic = make_headers(basic_auth=":".join(self.login()))["authorization"] if self.login is not None else ""
        if scheme.lower() == "basic":
            if not basic:
                raise CommandError(f"{self.host} wants a login", "only public images, and those of the account's own registry, can be read")
            self._authorizations[repository] = basic
            return
        asked = dict(_CHALLENGE.findall(rest))
        if scheme.lower() != "bearer" or "realm" not in asked:
            raise CommandError(f"{self.host} wants an authorization of a kind that is not known: {challenge or 'none named'}")
        query = {key: asked[key] for key in ("service", "scope") if key in asked}
        headers = {"Authorization": basic} if basic else {}
        answer = self._request("GET", f"{asked['realm']}?{urlencode(query)}", None, headers, stream=False)
        if answer.status != 200:
            raise self._refusal("GET", repository, answer)
        said = json.loads(answer.data)
        self._authorizations[repository] = f"Bearer {said.get('token') or said['access_token']}"

    def _refusal(self, method: str, repository: str, answer: HTTPResponse) -> CommandError:
        """Its own code and words first."""
        try:
            first = json.loads(answer.data)["errors"][0]
            said = f"{first.get('code', answer.status)}: {first.get('message', '')}".rstrip(": ")
        except (ValueError, LookupError, TypeError, AttributeError):
            said = f"{answer.status} {answer.reason or ''}".rstrip()
        hints = {
            401: "the login was refused",
            403: f"the caller lacks a right: `{typed('trn iam --operator')}` writes the documents",
            THROTTLED: "wait a few minutes",
        }
        return CommandError(f"{said} ({method}, {repository} in {self.host})", hints.get(answer.status, ""))
