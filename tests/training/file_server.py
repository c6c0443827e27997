"""Files served over HTTP on this machine, with the ways in which a server breaks off or refuses."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Server:
    """Files by name, how they are served, and what was asked."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.headers: dict[str, dict[str, str]] = {}
        self.breaks: dict[str, list[int]] = {}
        """Bytes after which the connection ends, for each of the next answers."""
        self.status: dict[str, int] = {}
        self.passes_over_ranges = False
        self.asked: list[tuple[str, str]] = []
        self.address = ""


@contextmanager
def serving() -> Iterator[Server]:
    """A server that runs until the block ends."""
    found = Server()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is printed."""

        def do_GET(self) -> None:
            name = self.path.removeprefix("/")
            given = self.headers.get("Range", "")
            found.asked.append((name, given))
            if name in found.status:
                self.send_error(found.status[name])
                return
            body = found.files[name]
            etag = found.headers.get(name, {}).get("ETag", "")
            if self.headers.get("If-Match", etag) != etag:
                self.send_error(412)
                return
            start = 0 if found.passes_over_ranges or not given else int(given.removeprefix("bytes=").rstrip("-"))
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(body) - start))
            for key, value in found.headers.get(name, {}).items():
                self.send_header(key, value)
            self.end_headers()
            stop = found.breaks[name].pop(0) if found.breaks.get(name) else len(body)
            self.wfile.write(body[start : start + stop])

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.daemon_threads = True
        found.address = f"http://127.0.0.1:{running.server_port}"
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield found
        running.shutdown()
        thread.join()
