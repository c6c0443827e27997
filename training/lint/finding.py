"""A document as the linter reads it, and what it finds there."""

from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]
"""Keys and list positions from the root of a document."""


@dataclass(frozen=True)
class Document:
    """One object of a manifest."""

    index: int
    """Its place in the file, from 0."""
    value: dict[str, Any]

    @property
    def kind(self) -> str:
        """`PyTorchJob`, or another kind."""
        return str(self.value.get("kind", ""))

    @property
    def name(self) -> str:
        """`metadata.name`, or what stands in its place."""
        metadata = self.value.get("metadata")
        return str(metadata.get("name") or metadata.get("generateName") or "") if isinstance(metadata, dict) else ""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or will be."""

    rule: str
    """Name of the rule, such as `dead-resource`."""
    document: int
    path: Path
    wrong: str
    why: str
    fix: str

    @property
    def path_text(self) -> str:
        """`spec.template.spec.containers[0].image`."""
        text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path)
        return text.removeprefix(".")

    @property
    def sort_key(self) -> tuple[tuple[bool, str, int], ...]:
        """Paths in the order of their parts; a number is less than a name."""
        return tuple(
            (isinstance(part, str), str(part) if isinstance(part, str) else "", part if isinstance(part, int) else 0) for part in self.path
        )
