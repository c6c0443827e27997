"""Lines of `trn` read by the command line itself, up to where the command would act."""

from collections.abc import Sequence
from typing import Any

import typer.main

from trn.app import app
from trn.cli.reading import read
from trn.commands import grammar_of
from trn.engine.stack_names import stacks_here


def taken(words: Sequence[str], stacks: Sequence[str] | None = None) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The command that a line behind `trn` names, and the values of its options and arguments, each of its type."""
    command: Any = typer.main.get_command(app)
    reading = read(grammar_of(command), words, stacks_here() if stacks is None else stacks)
    name, *path = reading.path.split()
    rest = list(reading.args)
    for name in path:
        command, rest = command.commands[name], rest[rest.index(name) + 1 :]
    return tuple(path), command.make_context(name, rest).params if path else {}
