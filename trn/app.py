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

from trn import completers
from trn.before.addons.command import addons, images
from trn.before.capacity.command import buy, find
from trn.before.capacity.command import calendar as capacity_calendar
from trn.before.check.command import check
from trn.before.cost.command import cost
from trn.before.iam.command import iam
from trn.before.import_cluster.command import import_cluster
from trn.before.init.command import init
from trn.before.network.command import describe
from trn.before.plan.command import plan
from trn.cli import completion
from trn.cli.control_characters import escaped
from trn.cli.errors import INTERRUPTED
from trn.cli.streams import open_closed_streams
from trn.commands import PRACTICE as IN_PRACTICE
from trn.commands import Command, CommandGroup, StackGroup
from trn.ending.destroy.command import destroy
from trn.ending.drain.command import drain
from trn.ending.recover.command import recover
from trn.ending.sweep.command import sweep
from trn.jobs.cancel.command import cancel
from trn.jobs.data.command import export as export_data
from trn.jobs.data.command import stage
from trn.jobs.data.command import status as data_status
from trn.jobs.image.command import build, push
from trn.jobs.lint.command import lint
from trn.jobs.listing.command import jobs
from trn.jobs.logs.command import logs
from trn.jobs.precompile.command import precompile
from trn.jobs.submit.command import submit
from trn.jobs.watch.command import watch
from trn.jobs.why.command import why
from trn.practice.engine.command import PULUMI_ARGUMENTS, engine
from trn.practice.events import event, job
from trn.practice.up import down, export, up
from trn.rehearsal.calendar.command import calendar
from trn.rehearsal.change.command import change
from trn.rehearsal.chaos.command import chaos
from trn.rehearsal.command import rehearse
from trn.rehearsal.crash.command import crash
from trn.rehearsal.rules.command import rules
from trn.run_command import run_command
from trn.running.bundle.command import bundle
from trn.running.kubeconfig import kubeconfig
from trn.running.roll.command import roll
from trn.running.scale.command import scale
from trn.running.shell.command import shell
from trn.running.status.command import status
from trn.running.top.command import top
from trn.running.upgrade.command import upgrade
from trn.running.upgrade.rehearsed.command import upgrade as rehearse_upgrade
from trn.running.verify.command import verify

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


completion.use(completers.COMPLETERS)
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


@practice_app.callback()
def in_practice(context: typer.Context) -> None:
    """A simulated account that is kept on disk, for trying every command."""
    context.meta[IN_PRACTICE] = True


for title, group in GROUPS.items():
    app.add_typer(group, name=title)
# `import` is a word of the language.
app.command("import", cls=Command, **described(import_cluster))(import_cluster)
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
