"""Entry point of `trn`. Commands import what they need when they run, so that `trn --help` answers at once.

Exit codes: 0 done, 1 refused or failed, 2 misuse or a configuration that cannot be used.
"""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from operations import aws_commands
from operations.errors import run_command

app = typer.Typer(
    name="trn",
    help="An AWS Trainium training cluster on EKS: rehearse it, run it, take it away.",
    no_args_is_help=True,
    add_completion=True,
)


class StackGroup(TyperGroup):
    """Takes `trn rehearse NAME` for `trn rehearse --stack NAME`, wherever the name stands; the names of its own commands come first."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Arguments with the stack's name spelt out."""
        _, rest, _ = self.make_parser(ctx).parse_args(list(args))
        if rest and rest[0] not in self.commands:
            args = [*args[: len(args) - len(rest)], "--stack", *rest]
        return super().parse_args(ctx, args)


rehearse_app = typer.Typer(cls=StackGroup, help="Rehearse a stack on the simulated cloud: times, cost, leftovers. No account is touched.")
app.add_typer(rehearse_app, name="rehearse")


@app.callback()
def root() -> None:
    """An AWS Trainium training cluster on EKS: rehearse it, run it, take it away."""


@rehearse_app.callback(
    invoke_without_command=True,
    epilog="Example: trn rehearse dev --fault no-capacity@trn1-32xl --speed 600",
)
def rehearse(
    context: typer.Context,
    stack: Annotated[str, typer.Option("--stack", "-s", help="Stack whose Pulumi.NAME.yaml is rehearsed.")] = "dev",
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the report here; - for standard output.")] = None,
    output: Annotated[Path, typer.Option("--output", help="Folder for report.json, timeline.svg and index.html.")] = Path(
        "build/rehearsal"
    ),
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of all latencies and ids.")] = 0,
    parallel: Annotated[int, typer.Option("--parallel", min=1, help="Operations that the engine runs at once.")] = 16,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            "--fault", help="Something to go wrong, NAME[@resource][:times]; may be given again. `trn rehearse rules` lists them."
        ),
    ] = None,
    scenario: Annotated[str | None, typer.Option("--scenario", help="Scenario to meet: a name, or a file.")] = None,
    speed: Annotated[float, typer.Option("--speed", min=1, help="Virtual seconds per real one in the live view.")] = 500,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress while it runs.")] = False,
) -> None:
    """Rehearse a stack on the simulated cloud: times, cost, leftovers. No account is touched."""
    if context.invoked_subcommand is not None:
        return
    from operations.rehearse.command import RehearseOptions, run

    options = RehearseOptions(stack, json_file, output, seed, parallel, quiet, tuple(fault or ()), scenario, speed)
    raise typer.Exit(run_command(lambda: run(options)))


@rehearse_app.command(epilog="Example: trn rehearse rules --json rules.json")
def rules(json_file: Annotated[Path | None, typer.Option("--json", help="Write them here; - for standard output.")] = None) -> None:
    """List what the simulated cloud refuses and suffers, and the faults that can be asked for."""
    from operations.rehearse.rules import run

    raise typer.Exit(run_command(lambda: run(json_file)))


@rehearse_app.command(epilog="Example: trn rehearse crash --stack dev --json -")
def crash(
    stack: Annotated[str, typer.Option("--stack", "-s", help="Stack whose Pulumi.NAME.yaml is used.")] = "dev",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of all latencies and ids.")] = 0,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write cases, converged and failures here; - for standard output.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress while it runs.")] = False,
) -> None:
    """Kill the run at every resource, made and deleted, and see that the next one converges."""
    from operations.rehearse.crash import run

    raise typer.Exit(run_command(lambda: run(stack, seed=seed, json_file=json_file, quiet=quiet)))


@rehearse_app.command(epilog="Example: trn rehearse chaos --runs 500 --seed 0")
def chaos(
    runs: Annotated[int, typer.Option("--runs", min=1, help="Runs; each takes the next seed.")] = 100,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the first run: it alone decides configuration and faults.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the runs here; - for standard output.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress while it runs.")] = False,
) -> None:
    """Run random faults against random clusters: each comes up, or stops with an error that helps, and goes away whole."""
    from operations.rehearse.chaos import run

    raise typer.Exit(run_command(lambda: run(runs=runs, seed=seed, json_file=json_file, quiet=quiet)))


@rehearse_app.command(epilog="Example: trn rehearse change --from dev --set nodeGroups.trn1-32xl.size=4")
def change(
    before: Annotated[str, typer.Option("--from", help="Stack that is up.")] = "dev",
    after: Annotated[str | None, typer.Option("--to", help="Stack file to be changed to; without it the same one.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="key=value to change, value as YAML; may be given again.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of all latencies and ids.")] = 0,
    fault: Annotated[
        list[str] | None, typer.Option("--fault", help="Something to go wrong during the change, NAME[@resource][:times].")
    ] = None,
    output: Annotated[Path, typer.Option("--output", help="Folder for change.json and index.html.")] = Path("build/rehearsal"),
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the change here; - for standard output.")] = None,
) -> None:
    """Rehearse a change of a running cluster: what it replaces, which nodes stop, what it costs, and what would be lost."""
    from operations.rehearse.change import ChangeOptions, run

    options = ChangeOptions(before, after, tuple(settings or ()), seed, tuple(fault or ()), output, json_file)
    raise typer.Exit(run_command(lambda: run(options)))


aws_commands.register(app)


@app.command(epilog="Example: trn addons --stack dev --json - | jq '.[] | select(.on) | .title'")
def addons(
    stack: Annotated[str, typer.Option("--stack", "-s", help="Stack whose Pulumi.NAME.yaml is read.")] = "dev",
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write them here, with images and what each leaves behind; - for standard output.")
    ] = None,
) -> None:
    """List all add-ons: version, what each needs, whether it is on here, and why."""
    from operations.cluster.addons import show_addons

    raise typer.Exit(run_command(lambda: show_addons(stack, json_file)))


@app.command(epilog="Example: trn images --mirror registry.example:5000/team")
def images(
    stack: Annotated[str, typer.Option("--stack", "-s", help="Stack whose Pulumi.NAME.yaml is read.")] = "dev",
    mirror: Annotated[
        str | None, typer.Option("--mirror", help="Registry that is to hold copies; also prints what points the charts there.")
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write them here; - for standard output.")] = None,
) -> None:
    """List the images of all add-ons that are on, for a cluster without a way to the internet."""
    from operations.cluster.addons import show_images

    raise typer.Exit(run_command(lambda: show_images(stack, mirror, json_file)))


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
        Path | None, typer.Option("--folder", help="Where state and simulated cloud are kept.", show_default="build/practice/STACK")
    ] = None,
) -> None:
    """Run the real Pulumi CLI on the program, with the simulated cloud in AWS's place. No account is touched.

    State and objects are kept in a folder of their own; the project is not written to. Delete a file under its account/ to lose an object.

    It has the rules of the rehearsal, and its faults: `trn rehearse rules` lists both. An update takes as long as a create would.
    """
    from operations.engine.command import EngineOptions, run

    raise typer.Exit(run(EngineOptions(stack, tuple(arguments), time_scale, tuple(fault or ()), folder)))


def main() -> None:
    """Run `trn`."""
    app()
