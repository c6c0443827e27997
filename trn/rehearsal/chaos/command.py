"""`trn rehearse chaos`: random faults against random clusters, each of which can be replayed by its seed."""

import time
from pathlib import Path
from typing import Annotated

import typer

from trn.cli.options import Quiet


def chaos(
    runs: Annotated[int, typer.Option("--runs", min=1, help="Runs; each takes the next seed.")] = 100,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the first run: it alone decides configuration and faults.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the runs here; - for standard output.")] = None,
    quiet: Quiet = False,
) -> int:
    """Run random faults against random clusters: each comes up, or stops with an error that helps, and is destroyed without leftovers.

    Example: trn rehearse chaos --runs 500 --seed 0
    """
    from trn.cli.output import errors, results, write_json
    from trn.rehearsal.chaos.runs import chaotic, print_report

    began = time.perf_counter()
    report = chaotic(runs, seed, console=None if quiet else errors())
    took = time.perf_counter() - began
    write_json(report, json_file)
    print_report(results(json_file), report, took)
    return 1 if report.failures else 0
