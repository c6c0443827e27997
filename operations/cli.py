"""Entry point of `trn`. Commands import what they need when they run, so that `trn --help` answers at once.

Exit codes: 0 done, 1 refused or failed, 2 misuse or a configuration that cannot be used.
"""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

app = typer.Typer(
    name="trn",
    help="An AWS Trainium training cluster on EKS: rehearse it, run it, take it away.",
    no_args_is_help=True,
    add_completion=True,
)


class StackGroup(TyperGroup):
    """Takes `trn rehearse NAME` for `trn rehearse --stack NAME`; the names of its own commands come first."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Arguments with a leading stack name spelt out."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["--stack", *args]
        return super().parse_args(ctx, args)


rehearse_app = typer.Typer(cls=StackGroup, help="Rehearse a stack on the simulated cloud: times, cost, leftovers. No account is touched.")
app.add_typer(rehearse_app, name="rehearse")


@app.callback()
def root() -> None:
    """An AWS Trainium training cluster on EKS: rehearse it, run it, take it away."""


@rehearse_app.callback(invoke_without_command=True, epilog="Example: trn rehearse dev --json report.json")
def rehearse(
    context: typer.Context,
    stack: Annotated[str, typer.Option("--stack", "-s", help="Stack whose Pulumi.NAME.yaml is rehearsed.")] = "dev",
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the report here; - for standard output.")] = None,
    output: Annotated[Path, typer.Option("--output", help="Folder for report.json, timeline.svg and index.html.")] = Path(
        "build/rehearsal"
    ),
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of all latencies and ids.")] = 0,
    parallel: Annotated[int, typer.Option("--parallel", min=1, help="Operations that the engine runs at once.")] = 16,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress while it runs.")] = False,
) -> None:
    """Rehearse a stack on the simulated cloud: times, cost, leftovers. No account is touched."""
    if context.invoked_subcommand is not None:
        return
    from operations.rehearse import RehearseOptions, run

    raise typer.Exit(run(RehearseOptions(stack=stack, json_file=json_file, output=output, seed=seed, parallel=parallel, quiet=quiet)))


@app.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="Examples: trn engine -- up --yes | trn engine --time-scale 0.01 -- up | trn engine --fault no-capacity@trn1-32xl -- up --yes"
    " | trn engine -- destroy --yes",
)
def engine(
    arguments: Annotated[list[str], typer.Argument(metavar="-- PULUMI ARGUMENTS", help="Anything that the Pulumi CLI takes.")],
    stack: Annotated[str, typer.Option("--stack", "-s", help="Stack whose Pulumi.NAME.yaml is used.")] = "dev",
    time_scale: Annotated[
        float,
        typer.Option("--time-scale", min=0, help="Real seconds for each virtual one; 0.001 makes a ten-minute control plane in 0.6 s."),
    ] = 0,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            "--fault",
            metavar="NAME@RESOURCE[:TIMES]",
            help="What goes wrong, once or TIMES; can be given several times. RESOURCE is a logical name, or KIND/NAME where two share"
            " one: NodeGroup/trn1-32xl.",
        ),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Where state and simulated cloud are kept.", show_default="build/engine/STACK")
    ] = None,
) -> None:
    """Run the real Pulumi CLI on the program, with the simulated cloud in AWS's place. No account is touched.

    State and objects are kept in a folder of their own; the project is not written to. Delete a file under its world/ to
    lose an object. An update takes as long as a create would.

    Faults:

    create-fails: creating the resource is refused, and nothing is made

    webhook-not-ready: creating the object meets Volcano's webhook before it answers

    no-capacity: the node group is made, finds no instances, and stays as CREATE_FAILED

    kill-provider: the provider process dies while the resource is being made
    """
    from operations.engine import EngineOptions, run

    raise typer.Exit(run(EngineOptions(stack, tuple(arguments), time_scale, tuple(fault or ()), folder)))


def main() -> None:
    """Run `trn`."""
    app()
