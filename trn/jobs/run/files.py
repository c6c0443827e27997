"""The two files of `trn run`: the script that is read, and the job file that is written."""

from pathlib import Path

from facts.typed import typed
from trn.cli.errors import MISUSE, CommandError
from trn.cli.text_files import read_text, write_text

MOST_BYTES = 10_000_000
"""Of a script."""


def need_script(path: Path) -> str:
    """Its text. Raises CommandError for a file that is not there, or no text."""
    if path.is_dir():
        raise CommandError(f"`{path}` is a folder", f"name the script in it: `{typed(f'trn run {path}/train.py')}`", code=MISUSE)
    return read_text(path, MOST_BYTES, "name a script, such as train.py")


def save_file(path: Path, text: str) -> None:
    """Write it where there is none, or one that says the same. Raises CommandError."""
    if path.exists() and (not path.is_file() or path.read_text(errors="replace") != text):
        raise CommandError(f"`{path}` is there already, and says something else", "name another file with --save", code=MISUSE)
    write_text(path, text, "name a file in a folder that can be written")
