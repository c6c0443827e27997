"""The table of docs/changes.md: for each key of the configuration, what changing it does to a running cluster.

Each row is a rehearsed change of the dev stack.
"""

from collections.abc import Iterator
from concurrent.futures import Executor
from functools import cache

from simulator.engine.change import Changed, rehearse_change
from simulator.engine.plan import counts
from simulator.recording import Recording
from simulator.report.words import duration, short_type
from tools.pages.change_samples import Sample, sample_of
from tools.pages.configuration_keys import Key, keys
from trn.engine.assumed_account import account_for
from trn.engine.program import record_stack, rehearsing, settings_of
from trn.engine.stack_file import read_stack_file
from trn.rehearsal.change.configuration import with_settings

BLOCK = 12
"""Rows that one process makes in a row: neighbours share their recordings."""


def rows(chosen: list[Key]) -> Iterator[str]:
    """A line of the table for each key."""
    for key in chosen:
        sample = sample_of(key)
        yield f"| `{key.path}` | {_new_value(sample)} | {effect(_changed(sample))} |"


def _new_value(sample: Sample) -> str:
    return f"`{sample.settings[-1].partition('=')[2]}`"


@cache
def _recorded(settings: tuple[str, ...]) -> Recording:
    return record_stack(with_settings(read_stack_file("dev"), settings))


def _changed(sample: Sample) -> Changed:
    both = (sample.before, (*sample.before, *sample.settings))
    account = account_for(*(settings_of(with_settings(read_stack_file("dev"), settings)) for settings in both))
    return rehearse_change(*(_recorded(settings) for settings in both), seed=0, account=account)


def effect(changed: Changed) -> str:
    """What a change does, in one cell: what is deleted first, then how many resources, and how long."""
    said = [f"**{caution.text}**" if caution.severity == "red" else caution.text for caution in changed.cautions]
    if not changed.touched:
        return "; ".join(["refused, nothing is changed", *said]) if said else "nothing in a running cluster"
    kinds = counts(changed.changes)
    if sum(kinds.values()) == 1:
        (change,) = changed.touched
        what = f"{change.kind}s {short_type(change.registration.type)} {change.registration.name}"
    else:
        what = ", ".join(f"{kind}s {count}" for kind, count in sorted(kinds.items())) + " resources"
    said += [f"{step.urn.rsplit('::', 1)[-1]} is refused: {step.error}" for step in changed.phase.errors]
    # A bare stroke, such as a command's pipe, would begin another cell.
    return "; ".join([what, *said, f"{duration(changed.phase.seconds)}"]).replace("|", r"\|").replace("updates", "changes")


def frame() -> list[str]:
    """The lines above the rows."""
    return [
        "# What a change of the configuration does",
        "",
        "Each row is the dev stack, up, with one key changed: `trn rehearse change --set KEY=VALUE`. **Bold**: running jobs or data go.",
        "Below an add-on that the dev stack does not have, the cluster has it first. Times are virtual, of seed 0. Made by `make docs`.",
        "",
        "| key | changed to | what happens |",
        "| --- | --- | --- |",
    ]


def page(pool: Executor) -> str:
    """docs/changes.md, its rows made by several processes."""
    wanted = keys()
    blocks = [wanted[start : start + BLOCK] for start in range(0, len(wanted), BLOCK)]
    return "\n".join([*frame(), *(row for made in pool.map(_rows, blocks) for row in made), ""])


def _rows(chosen: list[Key]) -> list[str]:
    with rehearsing():
        return list(rows(chosen))
