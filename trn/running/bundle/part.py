"""One part of a bundle: a file, what it says, where it comes from, and what became of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Origin = Literal["this machine", "Pulumi", "AWS", "the cluster"]
"""Where a part is read. A origin that gives no answer is not asked again."""
YAML = ".yaml"


@dataclass(frozen=True)
class Part:
    """Something to be read."""

    file: str
    """Its place in the archive; the ending says how it is written."""
    what: str
    origin: Origin
    source: str
    """The command or call that reads the same."""
    read: Callable[[], Any]
    """Gives a text, or an object of JSON. Raises what the origin raises; Absent for what is not there and need not be."""


class Absent(Exception):
    """There is nothing to read, and nothing is wrong."""


class OriginSilent(Exception):
    """The origin of a part gave no answer: what else is behind it is not asked for."""


@dataclass(frozen=True)
class Outcome:
    """What became of a part."""

    part: Part
    text: str | None = None
    """Redacted and bounded; None where it could not be got."""
    why: str = ""
    """Why there is none, or what is missing in it."""
    is_absent: bool = False
    """There is nothing to have."""
    is_skipped: bool = False
    """It was not asked for: its origin gave no answer before."""
    trace: str = ""
    """Of an error that is a bug of this program."""
