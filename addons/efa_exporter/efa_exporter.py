"""Serves the hardware counters of this node's EFA devices to Prometheus. Python's standard library only.

The stock node exporter reads `counters`, but EFA keeps its own in `hw_counters`. Names are those of the EFA node exporter of
awslabs/awsome-distributed-ai, so that its dashboards work here too.
"""

import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PREFIX = "node_amazonefa_"


def exposition(root: Path) -> str:
    """All counters below a sysfs `class/infiniband`, in Prometheus's text format, sorted."""
    samples: dict[str, list[str]] = {}
    for path in sorted(root.glob("*/ports/*/hw_counters/*")):
        try:
            value = int(path.read_text())
        except (OSError, ValueError):
            # A device may go while it is read, and `lifespan` is no counter.
            continue
        port, device = path.parent.parent, path.parent.parent.parent.parent
        samples.setdefault(f"{PREFIX}{path.name}", []).append(f'{{device="{device.name}",port="{port.name}"}} {value}')
    lines = [line for name in sorted(samples) for line in (f"# TYPE {name} counter", *(name + sample for sample in samples[name]))]
    return "\n".join(lines) + "\n"


class Handler(BaseHTTPRequestHandler):
    """Answers every path alike."""

    root = Path("/sys/class/infiniband")

    def do_GET(self) -> None:
        """Send the counters as they are now."""
        body = exposition(self.root).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: one line per scrape and node would be noise."""


if __name__ == "__main__":
    Handler.root = Path(os.environ.get("EFA_SYSFS", str(Handler.root)))
    ThreadingHTTPServer(("", int(sys.argv[1])), Handler).serve_forever()
