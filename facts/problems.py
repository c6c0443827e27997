"""Mistakes in what a user wrote, and how they are shown: each with its fix."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One mistake, in the reader's words."""

    path: str
    """Key path in the file, such as `nodeGroups.train.instanceType`."""
    value: object
    wrong: str
    """What is wrong, as the first half of a sentence that goes on with the path and the value."""
    allowed: str = ""
    hint: str = ""

    def __str__(self) -> str:
        text = f"error: {self.wrong}, `{self.path}` is `{_shown(self.value)}`" if self.value is not _ABSENT else f"error: {self.wrong}"
        if self.allowed:
            text += f"\n  allowed: {self.allowed}"
        return f"{text}\n\nhint: {self.hint}" if self.hint else text


class _Absent:
    def __repr__(self) -> str:
        return "(absent)"


_ABSENT = _Absent()


def missing(path: str, wrong: str, *, allowed: str = "", hint: str = "") -> Problem:
    """A problem about a key that is not there, so that no value is shown."""
    return Problem(path, _ABSENT, wrong, allowed, hint)


def _shown(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
