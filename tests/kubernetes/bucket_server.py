"""A bucket as `trn data stage` reads it, by addresses that carry a signature: the command of a pod that runs as a process. Standard library only.

Object NAME is so many bytes that follow from its name. The first answer to each whole object stops for ever in its middle, as
a connection that hangs; from then on it answers, the rest where the rest is asked for. An unsigned address is refused as S3 refuses it.
"""

import hashlib
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

PORT, SIZE, HALF = 8000, 6 << 20, 3 << 20


def body(name: str) -> bytes:
    """The object of a name."""
    return hashlib.sha256(name.encode()).digest() * (SIZE // 32)


def etag(name: str) -> str:
    """S3's, of an object that was uploaded in one part: its MD5."""
    return hashlib.md5(body(name), usedforsecurity=False).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Answers GET."""

    begun: ClassVar[set[str]] = set()

    def do_GET(self) -> None:
        """The object, or the rest of it."""
        address = urlsplit(self.path)
        name, asked = address.path.strip("/"), self.headers.get("Range", "")
        line = f"GET {name} {asked or 'whole'} {self.headers.get('If-Match', '')}".rstrip()
        os.write(1, f"{line}\n".encode())  # at once: two threads' lines would run into each other
        if "X-Amz-Signature" not in parse_qs(address.query):
            self.send_error(403, "AccessDenied")
            return
        if self.headers.get("If-Match", f'"{etag(name)}"') != f'"{etag(name)}"':
            self.send_error(412, "PreconditionFailed")
            return
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(SIZE - start))
        self.send_header("ETag", f'"{etag(name)}"')
        self.end_headers()
        if os.environ.get("HANGS") and name not in self.begun:
            self.begun.add(name)
            self.wfile.write(body(name)[:HALF])
            time.sleep(3600)
        self.wfile.write(body(name)[start:])

    def log_message(self, format: str, *args: object) -> None:
        """Only the lines above."""


if __name__ == "__main__":
    ThreadingHTTPServer(("", PORT), Handler).serve_forever()
