"""Errors of usage, in the shape of all errors; and the exit code of a command line, whatever ended it."""

import sys
from collections.abc import Callable
from typing import Any

from typer import BadParameter

from trn.cli.control_characters import escaped
from trn.cli.errors import INTERRUPTED, INTERRUPTION, MISUSE, CommandError

EXIT_CODES: tuple[tuple[int, str], ...] = (
    (0, "done; also help, and a list that is empty"),
    (1, "refused or failed: a check failed, AWS or the cluster refused something, a job is not as it should be, something is left"),
    (1, "the answer to a question was no, or nothing could be asked"),
    (1, "a result or a file could not be written, or its reader was gone"),
    (2, "a command, an option or a word that there is not, is missing, or can be read in two ways"),
    (2, "a name that there is not: of a stack, a node group, a job, a fault, a scenario, a file"),
    (2, "a stack file, a job file or another input with a mistake, or none at all: no project here"),
    (2, "credentials that do not work, a region that does not answer, no such cluster"),
    (130, "Ctrl-C, or the end of the pipeline: what was done is listed, the lock is given up, and the command can be run again"),
)
"""Exit codes of all commands by their causes. `trn shell` and `trn engine` end as what they ran."""


class Stopped(Exception):
    """Ctrl-C outside of a command: typer would end the process by its code, without a word."""


def as_command_error(error: BadParameter) -> CommandError:
    """A value that typer refuses, or one that is missing, as a user reads it."""
    context = error.ctx
    message = error.format_message().rstrip(".")
    usage = " ".join(context.get_usage().split()).removeprefix("Usage: ") if context is not None else "trn"
    help_option = f"`{context.command_path} --help` lists the options" if context is not None else "`trn --help` lists the commands"
    return CommandError(f"{message[:1].lower()}{message[1:]}", f"{usage}\n{help_option}", code=MISUSE)


def ended(run: Callable[[], Any]) -> int:
    """Exit code of a command line. Errors of usage, a question without an answer, and Ctrl-C are said in one place."""
    from typer import Abort

    try:
        return int(run() or 0)
    except (BadParameter, CommandError) as error:
        known = error if isinstance(error, CommandError) else as_command_error(error)
        sys.stderr.write(f"{escaped(str(known))}\n")
        return known.code
    except (KeyboardInterrupt, Stopped):
        sys.stderr.write(INTERRUPTION)
        return INTERRUPTED
    except Abort as error:
        # typer ends a question by the same error for a no, the end of the input, and Ctrl-C.
        if isinstance(error.__context__, KeyboardInterrupt):
            sys.stderr.write(f"\n{INTERRUPTION}")
            return INTERRUPTED
        sys.stderr.write("stopped: the answer was no\n")
        return 1
