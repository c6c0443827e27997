"""What the arguments of commands look like, by their names."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

ANY = "any"
"""Value of an option that was given without one."""
_SOURCE = re.compile(r"[a-z0-9]+://.*|.*\.ya?ml")
PULUMI_COMMANDS = frozenset(
    [
        "about",
        "ai",
        "cancel",
        "config",
        "console",
        "convert",
        "deployment",
        "destroy",
        "do",
        "env",
        "gen-completion",
        "help",
        "import",
        "install",
        "login",
        "logout",
        "logs",
        "new",
        "org",
        "package",
        "plugin",
        "policy",
        "preview",
        "project",
        "refresh",
        "schema",
        "stack",
        "state",
        "template",
        "up",
        "version",
        "watch",
        "whoami",
    ]
)
"""First words of the Pulumi CLI (CLI 3.260, `pulumi help`)."""


def _is_file(word: str) -> bool:
    return word == "-" or Path(word).is_file()


FITS: Mapping[str, Callable[[str], bool]] = {
    "count": str.isdecimal,
    "group": lambda word: not word.isdecimal(),
    "source": lambda word: _SOURCE.fullmatch(word) is not None,
    "path": lambda word: word.startswith("/"),
    "script": lambda word: word.endswith((".py", ".sh")),
    "offer": lambda word: word.startswith("cb-"),
}
"""Whether a word can be such an argument at all; any word can be one that is not listed."""
EXISTS: Mapping[str, Callable[[str], bool]] = {
    "file": _is_file,
    "script": _is_file,
    "source": _is_file,
    "folder": lambda word: Path(word).is_dir(),
    "arguments": PULUMI_COMMANDS.__contains__,
}
"""Whether a word names an argument that is there, where this machine knows it."""
NEED_MARK = ("command",)
"""Arguments that begin behind `--`: they are run."""
