"""Runs of random faults against random clusters, in several processes; each can be replayed by its seed."""

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.progress import Progress

from facts.document import Document, Part
from simulator.engine import chaos
from simulator.recorder.recorder import program_at, record
from simulator.recording import Recording
from trn.engine.program import rehearsing
from trn.engine.stack_file import as_pulumi
from trn.engine.stack_names import project_root
from trn.rehearsal.random_configurations import random_change, random_configuration

RUNS_PER_CONFIGURATION = 4
"""Recording the program takes most of a run's time, so some runs share a configuration."""
BLOCK = 5 * RUNS_PER_CONFIGURATION
"""Runs that one process does before it reports."""


class ChaosFailure(Part, frozen=True):
    """A run in which something was wrong; its seed replays it: `trn rehearse chaos --runs 1 --seed SEED`."""

    seed: int
    configuration: int
    """Number of the random configuration."""
    faults: list[str]
    why: list[str]


class ChaosReport(Document, frozen=True):
    """All runs."""

    schema_: Literal["trn-rehearse-chaos"] = "trn-rehearse-chaos"
    seed: int
    runs: int
    ended_well: int
    """Runs that converged, or stopped with errors that name resource, cause and remedy, and whose destroy left nothing."""
    converged: int
    """Of these, runs in which the cluster came up."""
    changed: int
    """Of these, runs in which it was then changed to another configuration, in half of them with a kill in the midst."""
    leftovers: int
    """Resources left behind in all runs together."""
    failures: list[ChaosFailure]


def chaotic(runs: int, seed: int, *, console: Console | None = None, workers: int | None = None) -> ChaosReport:
    """Runs with the seeds from `seed` on, in as many processes as there are processors."""
    seeds = range(seed, seed + runs)
    blocks = [list(seeds[start : start + BLOCK]) for start in range(0, runs, BLOCK)]
    processes = min(workers or os.cpu_count() or 1, len(blocks))
    outcomes: list[chaos.Outcome] = []
    with Progress(console=console, transient=True, disable=console is None) as progress:
        task = progress.add_task("random faults", total=runs)
        for block in _done(blocks, processes):
            outcomes += block
            progress.advance(task, len(block))
    return ChaosReport(
        seed=seed,
        runs=runs,
        ended_well=sum(outcome.ended_well for outcome in outcomes),
        converged=sum(outcome.ended_well and outcome.converged for outcome in outcomes),
        changed=sum(outcome.ended_well and outcome.changed for outcome in outcomes),
        leftovers=sum(len(outcome.leftovers) for outcome in outcomes),
        failures=[
            ChaosFailure(seed=item.seed, configuration=_number(item.seed), faults=list(item.faults), why=list(item.why))
            for item in outcomes
            if not item.ended_well
        ],
    )


def _done(blocks: Sequence[list[int]], processes: int) -> Iterator[list[chaos.Outcome]]:
    """Outcomes block by block, in the order of the seeds."""
    root = str(project_root(Path.cwd()))
    if processes <= 1:
        yield from (run_block(root, block) for block in blocks)
        return
    # Fresh processes: the recorder's threads and loops are not to be inherited.
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(run_block, [root] * len(blocks), blocks)


def run_block(root: str, seeds: Sequence[int]) -> list[chaos.Outcome]:
    """Runs of one process: each configuration is recorded once."""
    outcomes, number, recording, changed = [], None, None, None
    with rehearsing():
        for seed in seeds:
            if recording is None or number != _number(seed):
                number = _number(seed)
                recording, changed = (_recorded(root, number, drawn(number)) for drawn in (random_configuration, random_change))
            outcomes.append(chaos.run(recording, seed, changed=changed))
    return outcomes


def _recorded(root: str, number: int, configuration: dict[str, Any]) -> Recording:
    return record(program_at(Path(root)), project="trn", stack=f"chaos-{number}", configuration=as_pulumi(configuration))


def _number(seed: int) -> int:
    return seed // RUNS_PER_CONFIGURATION


def print_report(output: Console, report: ChaosReport, took: float) -> None:
    """Print how many runs ended well in `took` real seconds, and what was wrong with the others."""
    output.print(
        f"{report.ended_well} of {report.runs} runs ended well: {report.converged} came up, {report.changed} of them were changed, {report.ended_well - report.converged} stopped with an"
        f" error that says how to go on; {report.leftovers} resources left behind ({took:.0f} s)",
        markup=False,
    )
    for item in report.failures:
        output.print(f"failed   --seed {item.seed} ({', '.join(item.faults) or 'no fault'}): {'; '.join(item.why[:3])}", markup=False)
