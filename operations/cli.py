"""Entry point of `trn`. A command is a function: its signature is the command line, its docstring the help, its result the exit code.

Modules of commands import nothing but options at the top; each function imports what it works with. So `trn --help`, the help of
a command and the shell's completion answer at once: the SDKs take a second or two.

Exit codes: 0 done, 1 refused or failed, 2 misuse: of the command line, the configuration, the credentials, or no such cluster, 130 stopped by
Ctrl-C.
"""

import functools
import inspect
import platform
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from operations.cluster.addons.command import addons, images
from operations.cluster.bundle.command import bundle
from operations.cluster.check.command import check
from operations.cluster.cost.command import cost
from operations.cluster.destroy.command import destroy
from operations.cluster.drain.command import drain
from operations.cluster.iam.command import iam
from operations.cluster.init.command import init
from operations.cluster.kubeconfig import kubeconfig
from operations.cluster.logs.command import logs
from operations.cluster.plan.command import plan
from operations.cluster.recover.command import recover
from operations.cluster.scale.command import scale
from operations.cluster.shell.command import shell
from operations.cluster.status.command import status
from operations.cluster.sweep.command import sweep
from operations.cluster.top.command import top
from operations.cluster.verify.command import verify
from operations.engine.command import PULUMI_ARGUMENTS, engine
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
from operations.rehearse.change.command import change
from operations.rehearse.chaos.command import chaos
from operations.rehearse.command import rehearse
from operations.rehearse.crash.command import crash
from operations.rehearse.rules.command import rules
from operations.run_command import run_command
from operations.streams import drop_output, open_closed_streams

CLUSTER = (
    init, check, cost, plan, iam, status, verify, kubeconfig, shell, top, logs, scale, drain, recover, destroy, sweep, bundle, addons, images,
)  # fmt: skip
"""Commands around a cluster on AWS, in the order in which its life needs them."""
IMAGE = (build, push)
"""Commands below `trn image`."""
DATA = (stage, export_data, data_status)
"""Commands below `trn data`."""
PRACTICE = (up, job, event, export, down)
"""Commands below `trn practice`."""
JOBS = (precompile, submit, lint, jobs, why, watch, cancel)
"""Commands around training jobs."""
REHEARSALS = (rules, crash, chaos, change)
"""Commands below `trn rehearse`."""


class StackGroup(TyperGroup):
    """Takes `trn rehearse NAME` for `trn rehearse --stack NAME`, at any place on the line; the names of its own commands come first."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Arguments with the stack's name spelt out."""
        _, rest, _ = self.make_parser(ctx).parse_args(list(args))
        if rest and rest[0] not in self.commands:
            near = get_close_matches(rest[0], self.commands, n=1)
            if near and not Path(f"Pulumi.{rest[0]}.yaml").is_file():
                ctx.fail(f"No such command '{rest[0]}', and no stack of that name here. Did you mean '{near[0]}'?")
            args = [*args[: len(args) - len(rest)], "--stack", *rest]
        return super().parse_args(ctx, args)


def add(group: typer.Typer, command: Callable[..., int], **settings: Any) -> None:
    """Add a command to a group, under the name of its function."""
    group.command(**described(command), **settings)(ending(command))


def described(command: Callable[..., int]) -> dict[str, Any]:
    """Help of a command, from its docstring: the last paragraph is the example."""
    text, _, example = (inspect.getdoc(command) or "").partition("\n\nExample")
    return {"help": text, "short_help": text.partition("\n\n")[0], "epilog": " ".join(f"Example{example}".split())}


def ending(command: Callable[..., int]) -> Callable[..., None]:
    """The command with its result as exit code, and its errors in one line on standard error."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        from operations.access import access

        if isinstance(stack := options.get("stack"), str):
            access().acts_on(stack)
        code = run_command(lambda: command(*arguments, **options))
        # Not for 0: a group continues with its own command.
        if code:
            raise typer.Exit(code)

    return run


# Plain help: rich's takes longer to load than all commands together. Commands below take the names of the option from here.
app = typer.Typer(name="trn", no_args_is_help=True, rich_markup_mode=None, context_settings={"help_option_names": ["--help", "-h"]})
practice_app = typer.Typer(
    help="A simulated account that is kept on disk, for trying every command.",
    epilog="Example: trn practice up dev",
    no_args_is_help=True,
    rich_markup_mode=None,
)
image_app = typer.Typer(
    help="The image of a job: built by a container tool, or pushed as one more layer without any.",
    epilog="Example: trn image push src --stack dev",
    no_args_is_help=True,
    rich_markup_mode=None,
)
data_app = typer.Typer(
    help="A data set on its way to the file system, and checkpoints on their way to S3.",
    epilog="Example: trn data status bert",
    no_args_is_help=True,
    rich_markup_mode=None,
)
rehearse_app = typer.Typer(cls=StackGroup, rich_markup_mode=None)


def version() -> str:
    """Versions of trn, Python and Pulumi's SDK. trn's own is in pyproject.toml only: it is always run from its checkout."""
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
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
    if practice:
        context.with_resource(practising())


@contextmanager
def practising() -> Iterator[None]:
    """Everything that a command does, it does to the practice accounts."""
    from operations.access import using
    from operations.practice.access import Practice

    given = Practice()
    with using(given):
        try:
            yield
        finally:
            # Of a command that printed no result.
            given.announce(on_standard_error=True)
            if code := run_command(given.close):
                raise typer.Exit(code)


@practice_app.callback()
def in_practice(context: typer.Context) -> None:
    """A simulated account that is kept on disk, for trying every command."""
    context.with_resource(practising())


for command in CLUSTER:
    add(app, command)
for command in JOBS:
    add(app, command)
app.add_typer(image_app, name="image")
for command in IMAGE:
    add(image_app, command)
app.add_typer(data_app, name="data")
for command in DATA:
    add(data_app, command)
app.add_typer(practice_app, name="practice")
for command in PRACTICE:
    add(practice_app, command)
add(app, engine, context_settings=PULUMI_ARGUMENTS)
app.add_typer(rehearse_app, name="rehearse")
rehearse_app.callback(invoke_without_command=True, **described(rehearse))(ending(rehearse))
for command in REHEARSALS:
    add(rehearse_app, command)


def main() -> None:
    """Run `trn`."""
    open_closed_streams()
    try:
        code = run_command(_whole_line)
    except BrokenPipeError:
        # The reader has what it wanted: `| head -1`.
        drop_output()
        code = 1
    sys.exit(code)


def _whole_line() -> int:
    """Exit code of the command line, whatever ended it: also the help is written to a stream that may be full."""
    try:
        app()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0
