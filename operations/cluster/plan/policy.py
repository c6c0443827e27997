"""What a user lets a plan do, and the files that stand in for Pulumi's answers."""

from collections.abc import Sequence
from pathlib import Path

from operations.cluster.plan.effects import CLASSES
from operations.cluster.plan.report import MEANS
from operations.errors import MISUSE, CommandError


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
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise CommandError(f"cannot read `{path}`: {reason}", "name what `pulumi` printed", code=MISUSE) from error
