"""Lines by which a worker says how far it is; training/metrics_line.py defines and reads them.

One of the files that every pod has under /trn: standard library only, Python 3.9 or later. Only the first worker of a node writes.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any


def speaks() -> bool:
    """Whether this worker is the one of its node that writes."""
    return os.environ.get("LOCAL_RANK", "0") == "0"


def step(step: int, loss: float, samples_per_s: float | None = None, **more: Any) -> None:
    """Writes one step: mean loss over all workers, samples per second of the whole job."""
    measured = {} if samples_per_s is None else {"samples_per_s": round(samples_per_s, 3)}
    _write({"trn": "step", "step": step, "time": _now(), "rank": _rank(), "loss": loss, **measured, **more})


def event(event: str, **more: Any) -> None:
    """Writes something else that happened: `started`, `resumed`, `saved`, `stopped`, `measured` or `finished`."""
    _write({"trn": "event", "event": event, "time": _now(), "rank": _rank(), **more})


def _rank() -> int:
    return int(os.environ.get("RANK", "0"))


def _now() -> float:
    return round(time.time(), 3)


def _write(line: dict[str, Any]) -> None:
    if speaks():
        # In one call: lines of several workers must not mix.
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
