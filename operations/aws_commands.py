"""Command lines of everything that meets AWS: names, options, help. What they do is loaded when they run.

Exit codes: 0 done, 1 refused or failed, 2 misuse, unusable credentials or region, or no such cluster.
"""

from pathlib import Path
from typing import Annotated

import typer

Stack = Annotated[str, typer.Argument(help="Stack, as in Pulumi.NAME.yaml.")]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Also write the result here as JSON; - for standard output.")]


def register(app: typer.Typer) -> None:
    """Add the commands to `trn`, in the order in which a cluster's life needs them."""
    app.command(epilog="Example: trn cost dev --hours 24, or: trn cost dev --compare night")(cost)


def cost(
    stack: Stack = "dev",
    hours: Annotated[float, typer.Option("--hours", min=0, help="Length of a training run.")] = 8,
    compare: Annotated[str | None, typer.Option("--compare", help="A second stack, set beside the first.")] = None,
    live: Annotated[bool, typer.Option("--live", help="Ask the Pricing API; needs credentials. Else the table's prices.")] = False,
    json_file: JsonFile = None,
) -> None:
    """What a stack costs by the hour, the day and the run, running and idle, item by item."""
    from operations.cost_command import CostOptions, run
    from operations.errors import run_command

    options = CostOptions(stack, hours, compare, live, json_file)
    raise typer.Exit(run_command(lambda: run(options)))
