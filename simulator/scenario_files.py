"""Where scenarios are, by name or by path; without reading any."""

from difflib import get_close_matches
from pathlib import Path

DIRECTORY = Path(__file__).parent / "scenarios"


class ScenarioError(Exception):
    """There is no such scenario, or it cannot be read."""

    def __init__(self, wrong: str, hint: str) -> None:
        super().__init__(wrong)
        self.hint = hint


def names() -> list[str]:
    """Scenarios that come with the project."""
    return sorted(path.stem for path in DIRECTORY.glob("*.yaml"))


def path_of(name: str) -> Path:
    """The file of a scenario, from its name or its path.

    Raises ScenarioError, with a hint.
    """
    path = DIRECTORY / f"{name}.yaml" if name in names() else Path(name)
    if not path.is_file():
        near = get_close_matches(name, names(), n=1)
        hint = f"did you mean `{near[0]}`?" if near else "name one of these"
        raise ScenarioError(f"there is no scenario `{name}`\n  allowed: {', '.join(names())}, or the path of a file", hint)
    return path
