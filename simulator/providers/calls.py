"""What the engine asked of the simulated cloud in one run: one line a call, kept in a file that outlives the process."""

import json
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FAULT = "Fault"
"""Method of the lines that tell of a fault."""


@dataclass(frozen=True)
class Call:
    """One call of the protocol, or a fault that a resource met."""

    method: str
    """The protocol's name, such as Create."""
    package: str
    urn: str = ""
    preview: bool = False
    fault: str = ""


class CallLog:
    """Appends calls to a file as they arrive, before they are answered: a process that dies has recorded all its calls."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()

    def add(self, call: Call) -> None:
        """Append one call."""
        with self._lock, self._path.open("a") as file:
            file.write(json.dumps(asdict(call)) + "\n")


def read_calls(path: Path) -> Iterator[Call]:
    """The calls of a file, in order; none where there is no file."""
    for entry in json_lines(path):
        yield Call(**entry)


def json_lines(path: Path) -> Iterator[Any]:
    """The values of a file with one in each line, of which there may be none. A last line that a killed process cut off is left out."""
    for line in path.read_text().splitlines(keepends=True) if path.exists() else ():
        try:
            yield json.loads(line)
        except ValueError:
            if line.endswith("\n"):
                raise
