"""Answers of an unfinished `trn init`, kept for a week in the user's state folder, readable by the user alone."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

DAYS = 7
MOST_BYTES = 100_000


@dataclass(frozen=True)
class Kept:
    """Where the answers of one stack of one project are kept, and what is there."""

    path: Path

    @classmethod
    def of(cls, root: Path, stack: str) -> "Kept":
        """The place: below XDG_STATE_HOME, or ~/.local/state."""
        state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
        project = hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:12]
        return cls(state / "trn" / "init" / f"{stack}-{project}.json")

    def read(self) -> dict[str, str] | None:
        """The answers as they were typed, by key; None where none are kept, or none that are young enough."""
        try:
            if self.path.stat().st_size > MOST_BYTES:
                return None
            held = json.loads(self.path.read_text("utf-8"))
            fresh = datetime.fromisoformat(held["until"]) > datetime.now(UTC)
            answers = {str(key): str(text) for key, text in held["answers"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        if not fresh:
            self.forget()
        return answers if fresh and answers else None

    def write(self, answers: Mapping[str, str]) -> datetime | None:
        """Keep them; gives the day on which they end, None where the folder cannot be written."""
        until = datetime.now(UTC) + timedelta(days=DAYS)
        text = json.dumps({"until": until.isoformat(), "answers": dict(answers)}, indent=2)
        beside = self.path.with_suffix(f".{os.getpid()}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
            # Whole or not at all: a second Ctrl-C leaves the file of before.
            beside.replace(self.path)
        except OSError:
            return None
        return until

    def forget(self) -> None:
        """Remove them; nothing where there are none."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError:
            return
