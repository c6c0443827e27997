"""Entry point of `trn`. A command is a function: its signature is the command line, its docstring the help, its result the exit code.

The rows of `table.py` say which there are. Modules of commands import nothing but options at the top; each function imports what it works
with. So `trn --help`, the help of a command and the shell's completion answer at once: the SDKs take a second or two.

Exit codes: 0 done, 1 refused or failed, 2 misuse: of the command line, the configuration, the credentials, or no such cluster, 130 stopped by
Ctrl-C.
"""

import inspect
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from trn import completers, table
from trn.cli import completion
from trn.cli.control_characters import escaped
from trn.cli.errors import INTERRUPTED
from trn.cli.streams import open_closed_streams
from trn.commands import PRACTICE as IN_PRACTICE
from trn.commands import CommandGroup, StackGroup, command_of
from trn.run_command import run_command

ROOT = Path(__file__).parent.parent
TRACEBACK = "TRN_TRACEBACK"
"""Variable with which a mistake of trn itself shows where it came from."""


def described(command: Callable[..., int]) -> dict[str, Any]:
    """Help of a command, from its docstring: the last paragraph is the example."""
    text, _, example = (inspect.getdoc(command) or "").partition("\n\nExample")
    return {"help": text, "short_help": text.partition("\n\n")[0], "epilog": " ".join(f"Example{example}".split())}


def group_of(place: str, **settings: Any) -> typer.Typer:
    """A group with the commands of its rows. Plain help: rich's takes longer to load than all commands together."""
    group = typer.Typer(cls=CommandGroup, rich_markup_mode=None, **settings)
    for row in (row for rows in table.SECTIONS.values() for row in rows if row.place.rpartition(" ")[0] == place):
        if isinstance(row, table.GroupEntry):
            group.add_typer(group_of(row.place, help=row.help, epilog=f"Example: {row.example}"), name=row.place)
        elif any(table.below(row.place)):
            below = group_of(row.place)
            below.info.cls = StackGroup
            below.callback(invoke_without_command=True, **described(row.function))(row.function)
            group.add_typer(below, name=row.name)
        else:
            group.command(row.name, cls=command_of(row), context_settings=dict(row.settings), **described(row.function))(row.function)
    return group


completion.use(completers.COMPLETERS)
app = group_of("", name="trn")


def _print_version(wanted: bool) -> None:
    if wanted:
        from trn.cli.version import version

        typer.echo(version())
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    practice: Annotated[
        bool, typer.Option("--practice", help="Act on the stack's simulated account in build/practice instead of AWS: `trn practice up`.")
    ] = False,
    _version: Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print versions and exit.")] = False,
) -> None:
    """An AWS Trainium training cluster on EKS: rehearse it, run it, destroy it."""
    context.meta[IN_PRACTICE] = practice


def main() -> None:
    """Run `trn`."""
    open_closed_streams()
    try:
        code = run_command(_whole_line)
    except BrokenPipeError:
        # The reader has what it wanted: `| head -1`.
        code = 1
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        sys.stderr.write(f"{escaped(bug(error))}\n")
        code = 1
    if code == INTERRUPTED:
        # It is ending: a second Ctrl-C has nothing to stop.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)


def bug(error: Exception) -> str:
    """What a user reads of an error that no user can cause."""
    import traceback

    from trn.cli.version import version

    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(ROOT) and ".venv" not in frame.filename] or frames
    where = f" in {Path(own[-1].filename).name}, line {own[-1].lineno}" if own else ""
    said = f"error: a mistake of trn itself: {type(error).__name__}: {error}{where}"
    return f"{said}\n\nhint: run it again with {TRACEBACK}=1 for all of it, and report that with {version()}"


def _whole_line() -> int:
    """Exit code of the command line, whatever ended it: also the help is written to a stream that may be full."""
    try:
        app()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0
