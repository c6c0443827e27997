"""Runs a command and prints the error that stops it on standard error, without a traceback where a user can cause it."""

import errno
import sys
from collections.abc import Callable
from typing import Any

from trn.cli.control_characters import escaped
from trn.cli.errors import INTERRUPTED, INTERRUPTION, MISUSE, CommandError, CompleteError
from trn.cli.streams import FULL, flush_output


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
        sys.stderr.write(f"{escaped(str(known))}\n")
        return known.code
    finally:
        flush_output()


def _as_command_error(error: Exception) -> CommandError | None:
    """The error as a user reads it; None where no user can cause it."""
    if isinstance(error, OSError) and error.errno in FULL:
        where = f"`{error.filename}`" if error.filename else "all of the output"
        return CommandError(f"cannot write {where}: {error.strerror}", "free some space there, and run the command again")
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        hint = "check the path: most file systems take names of 255 bytes"
        return CommandError(f"no file can have the name `{str(error.filename)[:40]}...`: {error.strerror}", hint, code=MISUSE)
    # Looked up, not imported: a command that never loaded these modules cannot have met their errors.
    if "botocore.exceptions" in sys.modules:
        from trn.aws.errors import command_error

        known = command_error(error)
        if known is not None:
            return known
    for module, name, known_as in _KNOWN:
        if module in sys.modules and isinstance(error, getattr(sys.modules[module], name)):
            return known_as(error)
    return None


def _failed(error: Any) -> CommandError:
    return CommandError(str(error), getattr(error, "hint", ""))


def _misused(error: Any) -> CommandError:
    return CommandError(str(error), error.hint, code=MISUSE)


_KNOWN: tuple[tuple[str, str, Callable[[Any], CommandError]], ...] = (
    # Of the tree itself, which who adds an add-on changes: a contract, or a declaration.
    ("facts.charts", "ContractError", _failed),
    ("addons.declaration", "DeclarationError", _failed),
    ("stacks.problems", "ConfigurationError", lambda error: CompleteError(str(error), code=MISUSE)),
    ("simulator.faults_syntax", "FaultSyntaxError", _misused),
    ("simulator.scenario_files", "ScenarioError", _misused),
    ("pulumi", "RunError", lambda error: CommandError(f"the program stopped: {error}")),
    ("simulator.errors", "SimulationError", _failed),
    ("local_kubernetes.errors", "LocalKubernetesError", lambda error: CommandError(str(error), error.hint, code=error.code)),
)
"""Errors of other rooms, by module and name, and what a user reads of each. The first that fits counts."""
