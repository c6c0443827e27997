"""The error with which a command stops: one line that says what is wrong, one hint how to fix it."""

MISUSE = 2
"""Exit code of misuse: a mistake in the command line, the configuration, the credentials, or a cluster that is not there."""
INTERRUPTED = 130
"""Exit code of a command that Ctrl-C, or the end of a pipeline, stopped: 128 and the number of SIGINT, as shells have it."""

INTERRUPTION = "interrupted: what was done is listed above, and the command can be run again\n"
"""All that a command says of Ctrl-C."""


class CommandError(Exception):
    """A command cannot go on."""

    def __init__(self, wrong: str, hint: str = "", *, code: int = 1) -> None:
        """`code`: exit code of the command."""
        super().__init__(wrong)
        self.hint, self.code = hint, code

    def __str__(self) -> str:
        text = f"error: {self.args[0]}"
        return f"{text}\n\nhint: {self.hint}" if self.hint else text


class OwnershipError(CommandError):
    """The cluster is not the one that the command was given, or another operator changes it: never passed over."""


class CompleteError(CommandError):
    """Several mistakes of a file: their text is complete, with a hint for each."""

    def __str__(self) -> str:
        return str(self.args[0])
