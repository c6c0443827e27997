"""What is known of a purchase while its end is not: a file in the project that is written before EC2 is asked and deleted after the stack
file has the id. With it a second run never takes a block that EC2 does not show yet for one that was not bought."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from trn.cli.text_files import read_text, write_text

FOLDER = Path("build") / "capacity"
MAX_BYTES = 10_000


@dataclass(frozen=True)
class PurchaseRecord:
    """The record of one offer for one stack."""

    path: Path

    @classmethod
    def of(cls, root: Path, stack: str, offer: str) -> "PurchaseRecord":
        """`root`: folder of the project."""
        return cls(root / FOLDER / f"{stack}.{offer}.json")

    def write(self, said: Mapping[str, str]) -> None:
        """Before EC2 is asked. Raises CommandError: without it nothing is bought."""
        since = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        write_text(self.path, json.dumps({**said, "since": since}, indent=2) + "\n", "make room, or let this user write there")

    @property
    def since(self) -> str:
        """When a purchase was begun whose end is not known; empty where there is none."""
        return self._said("since", "an unknown time")

    @property
    def token(self) -> str:
        """Of the run that began it, as on its block; empty where there is none, or release 0.1.0 wrote it."""
        return self._said("token", "")

    def _said(self, key: str, otherwise: str) -> str:
        if not self.path.exists():
            return ""
        try:
            return str(json.loads(read_text(self.path, MAX_BYTES, f"see what is in `{self.path}`"))[key])
        except (ValueError, KeyError, TypeError):
            return otherwise

    def delete(self) -> None:
        """The end is known."""
        self.path.unlink(missing_ok=True)
