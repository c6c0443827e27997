"""What a user lets a plan do, and the files that stand in for Pulumi's answers."""

from collections.abc import Sequence
from pathlib import Path

from trn.change.plan.report import MEANS
from trn.cli.errors import MISUSE, CommandError
from trn.cli.text_files import read_text as read_bounded
from trn.engine.effects import CLASSES

MAX_BYTES = 200_000_000
"""Largest state or preview; those of a cluster have some megabytes."""


def checked(allow: Sequence[str]) -> tuple[str, ...]:
    """The classes of --allow, given one by one or with commas between. Raises CommandError for one that there is not."""
    names = [name.strip() for text in allow for name in text.split(",")]
    for name in names:
        if name not in CLASSES or name == "safe":
            known = ", ".join(f"{known} ({MEANS[known]})" for known in CLASSES if known != "safe")
            raise CommandError(f"--allow takes no `{name}`", f"allowed: {known}", code=MISUSE)
    return tuple(names)


def read_text(path: Path) -> str:
    """A file's text. Raises CommandError."""
    return read_bounded(path, MAX_BYTES, "name what `pulumi` printed")
