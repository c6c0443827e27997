"""A node's own endpoint, as the API server dials it: logs of its pods, and the way on to exec and port-forward.

TLS with a certificate that the kubelet signed itself, as the kubelet does where it has no other; the API server does not verify it
unless it is started with `--kubelet-certificate-authority`. There is no attach.
"""

import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from local_kubernetes.certificates import Authority
from tests.kubernetes.kubelet.attempts import Attempt
from tests.kubernetes.kubelet.log_lines import BadRequest, Wanted, read_query, select, show
from tests.kubernetes.kubelet.node import LOOPBACK
from tests.kubernetes.kubelet.streams import NoStreams, Streams

LOOK_S = 0.1
"""How often a log that is followed is looked at."""


class NotThere(Exception):
    """No such container, or none that has started, in the words of the kubelet."""


Find = Callable[[str, str, str, bool], Attempt]
"""The attempt of (namespace, pod, container or nothing for the first, previous one). Raises NotThere."""


class Endpoint(ThreadingHTTPServer):
    """Serves one node until it is closed."""

    daemon_threads = True

    def __init__(self, find: Find, certificate: tuple[Path, Path], streams: Streams) -> None:
        super().__init__((LOOPBACK, 0), _Handler)
        self.find, self.streams = find, streams
        self._open: set[socket.socket] = set()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve one connection, in a thread of its own, and know that it is open."""
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """A connection has ended."""
        self._open.discard(request)
        super().shutdown_request(request)

    def drop(self) -> None:
        """Close it with every connection: the API server keeps some to ask again, and logs and streams may be under way."""
        self.shutdown()
        self.server_close()
        for each in list(self._open):
            with suppress(OSError):
                # Not the TLS socket's own, which its thread is using.
                socket.socket.shutdown(each, socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """A reader that went away is no error."""


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint  # type: ignore[assignment]  # the base class names its own
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """A log, a stream, or what is wrong with the request."""
        url = urlsplit(self.path)
        parts = [unquote(each) for each in url.path.strip("/").split("/")]
        try:
            if parts == ["healthz"]:
                self._answer(200, b"ok")
            elif parts[0] == "containerLogs" and len(parts) == 4:
                self._log(parts, dict(parse_qsl(url.query)))
            elif parts[0] in ("exec", "portForward") and len(parts) in (3, 4):
                self._stream(parts)
            else:
                self._answer(404, f"the process kubelet has nothing at {url.path}\n".encode())
        except (BadRequest, NotThere) as error:
            self._answer(400, str(error).encode())

    def do_POST(self) -> None:
        """The same: streams are asked for in either way."""
        self.do_GET()

    def _log(self, parts: list[str], query: dict[str, str]) -> None:
        wanted = read_query(query, time.time())
        attempt = self.server.find(parts[1], parts[2], parts[3], query.get("previous") == "true")
        if query.get("follow") == "true":
            self._follow(attempt, wanted)
        else:
            self._answer(200, select(_lines(attempt), wanted))

    def _stream(self, parts: list[str]) -> None:
        container = parts[3] if parts[0] == "exec" else ""
        attempt = self.server.find(parts[1], parts[2], container, False)
        if not attempt.shim.alive:
            raise NotThere(f'container not found ("{container}")')
        self.close_connection = True
        try:
            self.server.streams.carry(self.connection, self.command, self.path, self.headers.items(), attempt)
        except NoStreams as error:
            self._answer(501, str(error).encode())

    def _answer(self, code: int, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _follow(self, attempt: Attempt, wanted: Wanted) -> None:
        """What is wanted of the log so far, then every further line until the container has ended."""
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with (attempt.folder / "log").open("rb") as log:
            sent, rest = select(log.readlines(), wanted), b""
            self._chunk(sent)
            while True:
                ended = not attempt.shim.alive
                text = rest + log.read()
                whole, _, rest = text.rpartition(b"\n")
                for line in whole.splitlines():
                    self._chunk(show(line + b"\n", wanted.timestamps))
                if ended:
                    break
                time.sleep(LOOK_S)
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, text: bytes) -> None:
        if text:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
            self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not noted."""


def _lines(attempt: Attempt) -> list[bytes]:
    path = attempt.folder / "log"
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """Certificate and key for the endpoints of one kubelet process."""
    authority = Authority(folder / "pki")
    authority.server("node", (LOOPBACK,))
    return authority.folder / "node.crt", authority.folder / "node.key"
