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


@app.command(epilog="Example: trn addons --stack dev --json | jq '.[] | select(.on) | .title'")
def addons(
    stack: Annotated[str, typer.Option("--stack", "-s", help="Stack whose Pulumi.NAME.yaml is read.")] = "dev",
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, with images and what each leaves behind.")] = False,
) -> None:
    """List all add-ons: version, what each needs, whether it is on here, and why."""
    from operations.addons import show_addons

    raise typer.Exit(show_addons(stack, as_json=as_json))


@app.command(epilog="Example: trn images --mirror registry.example:5000/team")
def images(
    stack: Annotated[str, typer.Option("--stack", "-s", help="Stack whose Pulumi.NAME.yaml is read.")] = "dev",
    mirror: Annotated[
        str | None, typer.Option("--mirror", help="Registry that is to hold copies; also prints what points the charts there.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List the images of all add-ons that are on, for a cluster without a way to the internet."""
    from operations.addons import show_images

    raise typer.Exit(show_images(stack, mirror, as_json=as_json))


def main() -> None:
    """Run `trn`."""
    app()
