"""The terminal that tests run on: a plain one, whatever the shell says that they were started from."""

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from os import environ

TERM = "xterm"
"""One that can move its cursor, with sixteen colours."""
ASKED = (
    "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "COLUMNS", "FORCE_COLOR", "GITHUB_ACTIONS", "JUPYTER_COLUMNS", "JUPYTER_LINES", "LINES",
    "NO_COLOR", "PY_COLORS", "TERMINAL_WIDTH", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "TYPER_USE_RICH",
)  # fmt: skip
"""What rich, typer and argparse ask the environment for, beside TERM."""
ENVIRONMENTS: dict[str, dict[str, str]] = {
    "dumb": {"TERM": "dumb"},
    "no TERM": {},
    "no colour": {"TERM": TERM, "NO_COLOR": "1"},
    "narrow": {"TERM": TERM, "COLUMNS": "40"},
}
"""Terminals on which the commands must say what they have to say."""


def pin(environment: MutableMapping[str, str]) -> None:
    """Make an environment say nothing of the shell's terminal."""
    for name in ASKED:
        environment.pop(name, None)
    environment["TERM"] = TERM


@contextmanager
def terminal(name: str) -> Iterator[None]:
    """One of ENVIRONMENTS, and the plain terminal again."""
    del environ["TERM"]
    environ.update(ENVIRONMENTS[name])
    try:
        yield
    finally:
        pin(environ)
