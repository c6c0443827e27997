"""What `trn bundle` writes where `--json` says."""

from typing import Literal

from facts.document import Document, Part


class PartEntry(Part, frozen=True):
    """One file of a bundle."""

    file: str
    what: str
    source: str
    """The command or call that reads the same."""
    got: bool
    absent: bool
    """There is nothing to have."""
    why: str
    """Why there is none, or what is missing in it."""


class BundleReport(Document, frozen=True):
    """What is in the archive of `trn bundle`."""

    schema_: Literal["trn-bundle"] = "trn-bundle"
    stack: str
    path: str
    bytes: int
    notes: tuple[str, ...]
    parts: tuple[PartEntry, ...]
