"""How a command that stops tells why: one line what is wrong, one hint how to fix it, and never a traceback."""

import sys
from collections.abc import Callable

MISUSE = 2
"""Exit code of misuse: a slip in the command line, the configuration, the credentials, or a cluster that is not there."""


class CommandError(Exception):
    """A command cannot go on."""

    def __init__(self, wrong: str, hint: str = "", *, code: int = 1) -> None:
        super().__init__(wrong)
        self.hint, self.code = hint, code

    def __str__(self) -> str:
        text = f"error: {self.args[0]}"
        return f"{text}\n\nhint: {self.hint}" if self.hint else text


def run_command(command: Callable[[], int]) -> int:
    """Run a command; what stops it is told on standard error. Returns the exit code.

    Errors of our own making are not caught: they are bugs and want their traceback.
    """
    try:
        return command()
    except CommandError as error:
        sys.stderr.write(f"{error}\n")
        return error.code
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted\n\nhint: every command may be run again\n")
        return 1
    except Exception as error:
        told = _told(error)
        if told is None:
            raise
        sys.stderr.write(f"{told}\n")
        return told.code


def _told(error: Exception) -> CommandError | None:
    """The error in the house's words, where it is one that a user can meet."""
    from operations.stack_file import StackFileError

    if isinstance(error, StackFileError):
        return CommandError(str(error), error.hint, code=MISUSE)
    # Looked up, not imported: a command that never loaded these cannot have met their errors.
    if "botocore.exceptions" in sys.modules:
        from operations.aws.errors import told

        found = told(error)
        if found is not None:
            return found
    return _told_of_program(error) if "pulumi" in sys.modules else None


def _told_of_program(error: Exception) -> CommandError | None:
    import pulumi

    from simulator.errors import SimulationError
    from simulator.faults_syntax import FaultSyntaxError
    from simulator.scenarios import ScenarioError
    from stacks.problems import ConfigurationError

    if isinstance(error, ConfigurationError):
        return _AsItIs(str(error), code=MISUSE)
    if isinstance(error, FaultSyntaxError | ScenarioError):
        return CommandError(str(error), error.hint, code=MISUSE)
    if isinstance(error, pulumi.RunError):
        return CommandError(f"the program stopped: {error}")
    return CommandError(str(error)) if isinstance(error, SimulationError) else None


class _AsItIs(CommandError):
    """A configuration's mistakes bring their own words and hints."""

    def __str__(self) -> str:
        return str(self.args[0])
