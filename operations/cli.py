"""Entry point of `trn`. A command is a function: its signature is the command line, its docstring the help, its result the exit code.

Modules of commands import nothing but options at the top; each function imports what it works with. So `trn --help`, the help of
a command and the shell's completion answer at once: the SDKs take a second or two.

Exit codes: 0 done, 1 refused or failed, 2 misuse: of the command line, the configuration, the credentials, or no such cluster, 130 stopped by
Ctrl-C.
"""

import inspect
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from operations.cluster.addons.command import addons, images
from operations.cluster.bundle.command import bundle
from operations.cluster.capacity.command import buy, find
from operations.cluster.capacity.command import calendar as capacity_calendar
from operations.cluster.check.command import check
from operations.cluster.cost.command import cost
from operations.cluster.destroy.command import destroy
from operations.cluster.drain.command import drain
from operations.cluster.iam.command import iam
from operations.cluster.init.command import init
from operations.cluster.kubeconfig import kubeconfig
from operations.cluster.logs.command import logs
from operations.cluster.network.command import describe
from operations.cluster.plan.command import plan
from operations.cluster.recover.command import recover
from operations.cluster.roll.command import roll
from operations.cluster.scale.command import scale
from operations.cluster.shell.command import shell
from operations.cluster.status.command import status
from operations.cluster.sweep.command import sweep
from operations.cluster.takeover.command import take_over
from operations.cluster.top.command import top
from operations.cluster.upgrade.command import upgrade
from operations.cluster.verify.command import verify
from operations.command_line.commands import PRACTICE as IN_PRACTICE
from operations.command_line.commands import Command, CommandGroup, StackGroup
from operations.control_characters import escaped
from operations.engine.command import PULUMI_ARGUMENTS, engine
from operations.errors import INTERRUPTED
from operations.jobs.cancel.command import cancel
from operations.jobs.data.command import export as export_data
from operations.jobs.data.command import stage
from operations.jobs.data.command import status as data_status
from operations.jobs.image.command import build, push
from operations.jobs.lint.command import lint
from operations.jobs.listing.command import jobs
from operations.jobs.precompile.command import precompile
from operations.jobs.submit.command import submit
from operations.jobs.watch.command import watch
from operations.jobs.why.command import why
from operations.practice.events import event, job
from operations.practice.up import down, export, up
from operations.rehearse.calendar.command import calendar
from operations.rehearse.change.command import change
from operations.rehearse.chaos.command import chaos
from operations.rehearse.command import rehearse
from operations.rehearse.crash.command import crash
from operations.rehearse.rules.command import rules
from operations.rehearse.upgrade.command import upgrade as rehearse_upgrade
from operations.run_command import run_command
from operations.streams import open_closed_streams

ROOT = Path(__file__).parent.parent
TRACEBACK = "TRN_TRACEBACK"
"""Variable with which a mistake of trn itself shows where it came from."""
CLUSTER = (
    init, check, cost, plan, upgrade, iam, status, verify, kubeconfig, shell, top, logs, scale, roll, drain, recover, destroy, sweep, bundle, addons, images,
)  # fmt: skip
"""Commands around a cluster on AWS, in the order in which its life needs them."""
IMAGE = (build, push)
"""Commands below `trn image`."""
DATA = (stage, export_data, data_status)
"""Commands below `trn data`."""
CAPACITY = (find, buy, capacity_calendar)
"""Commands below `trn capacity`."""
NETWORK = (describe,)
"""Commands below `trn network`."""
PRACTICE = (up, job, event, export, down)
"""Commands below `trn practice`."""
JOBS = (precompile, submit, lint, jobs, why, watch, cancel)
"""Commands around training jobs."""
REHEARSALS = (rules, crash, chaos, change, rehearse_upgrade, calendar)
"""Commands below `trn rehearse`."""


def add(group: typer.Typer, command: Callable[..., int], **settings: Any) -> None:
    """Add a command to a group, under the name of its function."""
    group.command(cls=Command, **described(command), **settings)(command)


def described(command: Callable[..., int]) -> dict[str, Any]:
    """Help of a command, from its docstring: the last paragraph is the example."""
    text, _, example = (inspect.getdoc(command) or "").partition("\n\nExample")
    return {"help": text, "short_help": text.partition("\n\n")[0], "epilog": " ".join(f"Example{example}".split())}


def group_of(commands: Sequence[Callable[..., int]] = (), **settings: Any) -> typer.Typer:
    """A group with its commands. Plain help: rich's takes longer to load than all commands together."""
    group = typer.Typer(cls=CommandGroup, no_args_is_help=True, rich_markup_mode=None, **settings)
    for command in commands:
        add(group, command)
    return group


app = group_of(CLUSTER + JOBS, name="trn")
practice_app = group_of(
    PRACTICE, help="A simulated account that is kept on disk, for trying every command.", epilog="Example: trn practice up dev"
)
GROUPS = {
    "image": group_of(
        IMAGE,
        help="The image of a job: built by a container tool, or pushed as one more layer without any.",
        epilog="Example: trn image push dev src",
    ),
    "data": group_of(
        DATA, help="A data set on its way to the file system, and checkpoints on their way to S3.", epilog="Example: trn data status bert"
    ),
    "capacity": group_of(
        CAPACITY,
        help="Scarce instances: what there is, capacity blocks, and the time that they are for.",
        epilog="Example: trn capacity find dev --instances 4 --hours 72",
    ),
    "network": group_of(
        NETWORK, help="A network that others keep and a stack uses.", epilog="Example: trn network describe dev --output network.yaml"
    ),
    "practice": practice_app,
}
"""Groups of `trn`, in the order of its help."""
rehearse_app = typer.Typer(cls=StackGroup, rich_markup_mode=None)


def version() -> str:
    """Versions of trn, Python and Pulumi's SDK. trn's own is in pyproject.toml only: it is always run from its checkout."""
    import platform
    import tomllib
    from importlib import metadata

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return f"trn {project['version']} (Python {platform.python_version()}, Pulumi SDK {metadata.version('pulumi')})"


def _print_version(wanted: bool) -> None:
    if wanted:
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


@practice_app.callback()
def in_practice(context: typer.Context) -> None:
    """A simulated account that is kept on disk, for trying every command."""
    context.meta[IN_PRACTICE] = True


for title, group in GROUPS.items():
    app.add_typer(group, name=title)
# `import` is a word of the language.
app.command("import", cls=Command, **described(take_over))(take_over)
add(app, engine, context_settings=PULUMI_ARGUMENTS)
app.add_typer(rehearse_app, name="rehearse")
rehearse_app.callback(invoke_without_command=True, **described(rehearse))(rehearse)
for command in REHEARSALS:
    add(rehearse_app, command)


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
