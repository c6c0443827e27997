"""Runs a command and prints the error that stops it on standard error, without a traceback where a user can cause it."""

import sys
from collections.abc import Callable

from operations.errors import INTERRUPTED, MISUSE, CommandError, CompleteError


def run_command(command: Callable[[], int]) -> int:
    """Run a command. Returns the exit code.

    An error that no user can cause is a bug: it is not caught, so that its traceback shows.
    """
    try:
        return command()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: what was done is listed above, and the command can be run again\n")
        return INTERRUPTED
    except Exception as error:
        known = error if isinstance(error, CommandError) else _as_command_error(error)
        if known is None:
            raise
        # Loaded when something went wrong: the help of a command answers at once.
        from operations.access import access

        sys.stderr.write(f"{access().words(str(known))}\n")
        return known.code


def _as_command_error(error: Exception) -> CommandError | None:
    """The error as a user reads it; None where no user can cause it."""
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
