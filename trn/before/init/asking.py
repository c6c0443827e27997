"""The terminal of `trn init`: prompts on standard error, and `q` to stop."""

import typer

from trn.cli.errors import CommandError
from trn.cli.output import errors

QUIT = ("q", "quit")


class Quit(Exception):
    """The user wants to stop."""


class Terminal:
    """Prompts on standard error."""

    def __init__(self) -> None:
        self._console = errors()

    def show(self, line: str) -> None:
        """A line between the questions."""
        self._console.print(f"  {line}", markup=False, soft_wrap=True)

    def ask(self, words: str, default: str | None) -> str:
        """One answer as it was typed. Raises Quit for `q`."""
        text = str(typer.prompt(words, default=default or "", show_default=bool(default), err=True)).strip()
        if text.lower() in QUIT:
            raise Quit
        return text

    def explain(self, wrong: CommandError) -> None:
        """What is wrong, what is allowed, and what may be meant."""
        for line in (*str(wrong.args[0]).splitlines(), *([wrong.hint] if wrong.hint else [])):
            self.show(line)

    def confirm(self, words: str) -> bool:
        """Yes or no, yes for an empty answer. Raises Quit."""
        return self.ask(f"{words} (y/n)", "y").lower() not in ("n", "no")
