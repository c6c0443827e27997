"""`trn rehearse crash`: kill the run at every resource, on the way up, on the way down or in a change, and see that it comes back."""

import time
from pathlib import Path
from typing import Annotated

import typer

from trn.cli.options import Quiet, Seed, Stack


def crash(
    stack: Stack,
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--change", metavar="KEY=VALUE", help="Kill this change of the running stack instead, value as YAML; may be repeated."
        ),
    ] = None,
    seed: Seed = 0,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write cases, converged and failures here; - for standard output.")
    ] = None,
    quiet: Quiet = False,
) -> int:
    """Kill the run at every resource, created and deleted, and see that the next run converges.

    With --change the stack is up, and the run that changes it is killed before, in and after each of its operations.

    Example: trn rehearse crash dev --change storage.lustre.zoneId=usw2-az1
    """
    from trn.cli.output import errors, results, write_json
    from trn.rehearsal.crash.matrix import matrix, print_report

    began = time.perf_counter()
    report = matrix(stack, change or (), seed=seed, console=None if quiet else errors())
    took = time.perf_counter() - began
    write_json(report, json_file)
    print_report(results(json_file), report, took)
    return 1 if report.failures else 0
