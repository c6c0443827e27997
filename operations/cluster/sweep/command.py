"""`trn sweep`: show what is left and what it costs a day, ask, delete, and say what stays."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from operations.access import access
from operations.aws.api import Api
from operations.aws.found import CLUSTERS, KINDS, Found
from operations.cluster.sweep.plan import SweepPlan, plan_sweep, state_ids
from operations.cluster.sweep.run import Outcome, Sweep, look, place_of
from operations.errors import MISUSE, CommandError
from operations.output import errors, gauge, results, tracked, write_json
from operations.rehearse.command import settings_of
from operations.stack_file import read_stack_file


@dataclass(frozen=True)
class SweepOptions:
    """What the command line said."""

    stack: str
    state: Path | None
    delete: bool
    yes: bool
    backups: bool
    json_file: Path | None


def run(options: SweepOptions) -> int:
    """Look, show, ask, delete. Returns 1 where something could not be deleted."""
    settings = settings_of(read_stack_file(options.stack))
    keep_ids = read_state(options.state) if options.state else frozenset()
    api, progress, console = access().aws(options.stack, settings.region), errors(), results(options.json_file)
    sweep = Sweep(api, settings.name, access().pause, lambda line: progress.print(line, markup=False), keep_ids, options.backups)
    plan = _looked(api, sweep)
    if not options.delete or not plan.deletions:
        write_json(as_data(settings.name, plan), options.json_file)
        print_plan(console, settings.name, plan)
        return 0
    _refuse_living_cluster(plan, options)
    print_plan(progress, settings.name, plan)
    if not options.yes:
        typer.confirm(f"Delete {len(plan.deletions)} things of {settings.name} in {settings.region}?", abort=True, err=True)
    with gauge("sweeping", progress) as show:
        outcome = replace(sweep, show=show).run(plan)
    write_json(as_data(settings.name, plan, outcome), options.json_file)
    print_outcome(console, outcome)
    return 1 if outcome.left else 0


def _looked(api: Api, sweep: Sweep) -> SweepPlan:
    place = place_of(api, sweep.cluster)
    found = [item for kind in tracked(KINDS, "looking") for item in look(api, place, [kind])]
    return plan_sweep(found, sweep.keep_ids, with_data=sweep.with_data)


def _refuse_living_cluster(plan: SweepPlan, options: SweepOptions) -> None:
    """Sweep is for what a destroy left; a cluster that runs is taken down in order, or named as an orphan by the state."""
    if options.state is None and any(item.kind == CLUSTERS.name and item.name == "ACTIVE" for item in plan.deletions):
        hint = (
            "run `pulumi destroy` first; where Pulumi's state no longer knows the cluster,"
            f" `pulumi stack export --stack {options.stack} > state.json`, then add --state state.json"
        )
        raise CommandError("the cluster is up: a sweep would tear it down without draining it", hint)


def read_state(path: Path) -> frozenset[str]:
    """Ids in a file that `pulumi stack export` wrote. Raises CommandError."""
    hint = "write it with `pulumi stack export --stack NAME > state.json`"
    try:
        return state_ids(json.loads(path.read_text()))
    except OSError as error:
        raise CommandError(f"cannot read `{path}`: {error.strerror}", hint, code=MISUSE) from error
    except (ValueError, AttributeError) as error:
        raise CommandError(f"`{path}` is no Pulumi state: {error}", hint, code=MISUSE) from error


def as_data(cluster: str, plan: SweepPlan, outcome: Outcome | None = None) -> dict[str, Any]:
    """The same for `--json`."""
    data: dict[str, Any] = {
        "cluster": cluster,
        "usdPerDay": plan.usd_per_day,
        "found": [_entry(item) for item in plan.deletions],
        "kept": [{**_entry(item), "why": why} for item, why in plan.kept],
    }
    if outcome is not None:
        data["deleted"] = [_entry(item) for item in outcome.deleted]
        data["left"] = [{**_entry(item), "said": said} for item, said in outcome.left]
    return data


def _entry(item: Found) -> dict[str, Any]:
    return {"kind": item.kind, "id": item.id, "name": item.name, "because": item.because, "usdPerDay": item.usd_per_day}


def print_plan(console: Console, cluster: str, plan: SweepPlan) -> None:
    """What is left over, in the order of deletion, with what each costs a day."""
    if not plan.deletions:
        console.print(f"nothing of {cluster} is left over", markup=False)
    else:
        console.print(_table(plan.deletions))
        unpriced = sum(1 for item in plan.deletions if item.usd_per_day is None)
        more = f", and {unpriced} of unknown price" if unpriced else ""
        console.print(f"{len(plan.deletions)} left over, {plan.usd_per_day:.2f} USD a day{more}", markup=False)
    for item, why in plan.kept:
        console.print(f"kept {item.kind} {item.id}: {why}", markup=False, soft_wrap=True)


def _table(found: Sequence[Found]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("kind", "id", "name", "because"):
        table.add_column(name)
    table.add_column("USD/day", justify="right")
    for item in found:
        usd = "unknown" if item.usd_per_day is None else f"{item.usd_per_day:.2f}"
        table.add_row(item.kind, Text(item.id), Text(item.name), Text(item.because), usd)
    return table


def print_outcome(console: Console, outcome: Outcome) -> None:
    """What went and what stayed."""
    for item, said in outcome.left:
        console.print(Text(f"left {item.kind} {item.id}: {said}"), soft_wrap=True)
    stays = f", {len(outcome.left)} left: run it again" if outcome.left else ", nothing is left"
    console.print(f"{len(outcome.deleted)} deleted{stays}", markup=False)
