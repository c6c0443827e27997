"""Runs a command and prints the error that stops it on standard error, without a traceback where a user can cause it."""

import errno
import sys
from collections.abc import Callable

from operations.control_characters import escaped
from operations.errors import INTERRUPTED, MISUSE, CommandError, CompleteError

INTERRUPTION = "interrupted: what was done is listed above, and the command can be run again\n"
"""All that a command says of Ctrl-C."""
_FULL = (errno.ENOSPC, errno.EDQUOT)
"""A full device, and a user's quota of it."""


def run_command(command: Callable[[], int]) -> int:
    """Run a command. Returns the exit code.

    An error that no user can cause is a bug: it is not caught, so that its traceback shows.
    """
    try:
        code = command()
        # What is left in the buffer may not fit on the device; at the interpreter's end it would be too late to say so.
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        sys.stderr.write(INTERRUPTION)
        return INTERRUPTED
    except Exception as error:
        known = error if isinstance(error, CommandError) else _as_command_error(error)
        if known is None:
            raise
        sys.stderr.write(f"{escaped(_worded(str(known)))}\n")
        return known.code


def _worded(text: str) -> str:
    """The text with its commands as they are typed where the command ran. One that never loaded its access ran on AWS."""
    return sys.modules["operations.access"].access().words(text) if "operations.access" in sys.modules else text


def _as_command_error(error: Exception) -> CommandError | None:
    """The error as a user reads it; None where no user can cause it."""
    if isinstance(error, OSError) and error.errno in _FULL:
        where = f"`{error.filename}`" if error.filename else "all of the output"
        return CommandError(f"cannot write {where}: {error.strerror}", "free some space there, and run the command again")
    # Looked up, not imported: a command that never loaded these modules cannot have met their errors.
    if "botocore.exceptions" in sys.modules:
        from operations.aws.errors import command_error

        known = command_error(error)
        if known is not None:
            return known
    # Of the tree itself, which who adds an add-on changes: a contract, or a declaration.
    for module, name in (("facts.charts", "ContractError"), ("addons.declaration", "DeclarationError")):
        if module in sys.modules and isinstance(error, getattr(sys.modules[module], name)):
            return CommandError(str(error), getattr(error, "hint", ""))
    return _of_program(error) if "pulumi" in sys.modules else None


def _of_program(error: Exception) -> CommandError | None:
    import pulumi

    from simulator.errors import SimulationError
    from simulator.faults_syntax import FaultSyntaxError
    from simulator.scenarios import ScenarioError
    from stacks.problems import ConfigurationError

    if isinstance(error, ConfigurationError):
        return CompleteError(str(error), code=MISUSE)
    if isinstance(error, FaultSyntaxError | ScenarioError):
        return CommandError(str(error), error.hint, code=MISUSE)
    if isinstance(error, pulumi.RunError):
        return CommandError(f"the program stopped: {error}")
    return CommandError(str(error), error.hint) if isinstance(error, SimulationError) else None
