"""Serves to Prometheus how full a mounted file system is, as statvfs tells a client. Python's standard library only.

A file system that does not answer holds the call for ever. One call at a time is made, and every scrape meanwhile fails: the target
is then down, which is what an alert looks for.
"""

import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PREFIX = "lustre_client_"


def exposition(path: str, claim: str) -> str:
    """Size, free space and inodes of the file system at a path, in Prometheus's text format. Raises OSError where it gives none."""
    found = os.statvfs(path)
    figures = {
        "size_bytes": found.f_blocks * found.f_frsize,
        # What a process may write, without what is kept back for root.
        "available_bytes": found.f_bavail * found.f_frsize,
        "inodes": found.f_files,
        "free_inodes": found.f_ffree,
    }
    return "".join(f'# TYPE {PREFIX}{name} gauge\n{PREFIX}{name}{{claim="{claim}"}} {value}\n' for name, value in figures.items())


class Handler(BaseHTTPRequestHandler):
    """Answers every path alike."""

    path_of_claim = "/shared"
    claim = ""
    asking = threading.Lock()

    def do_GET(self) -> None:
        """Send the figures as they are now; 503 where the file system does not answer."""
        if not self.asking.acquire(blocking=False):
            self._send(503, "the file system has not answered the last call\n")
            return
        try:
            status, text = 200, exposition(self.path_of_claim, self.claim)
        except OSError as error:
            status, text = 503, f"{error}\n"
        finally:
            self.asking.release()
        self._send(status, text)

    def _send(self, status: int, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: one line per scrape would be noise."""


if __name__ == "__main__":
    Handler.path_of_claim, Handler.claim = os.environ["CLAIM_PATH"], os.environ["CLAIM"]
    ThreadingHTTPServer(("", int(sys.argv[1])), Handler).serve_forever()
