"""The cluster of a rehearsed upgrade, and what its jobs meet."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from rich.text import Text

from facts.document import Document
from simulator.account.charts import chart_of
from simulator.report.words import duration
from trn.cli.lines import Line
from trn.engine.program import record_stack
from trn.engine.stack_file import StackFile
from trn.running.upgrade.steps import Standing, standing_file
from trn.running.upgrade.timed import Timed, UpgradeStep


class RehearsedUpgradeReport(Document, frozen=True):
    """What `trn rehearse upgrade` found."""

    schema_: Literal["trn-rehearse-upgrade"] = "trn-rehearse-upgrade"
    stack: str
    seconds: float
    steps: tuple[UpgradeStep, ...]
    stopped_at: str | None
    """The step that failed; null where none did."""
    charts: dict[str, str]
    """Those that do not list a minor: what they list, by name."""


def blocking(stack_file: StackFile, standing: Standing, minors: Sequence[str]) -> Mapping[str, str]:
    """Charts whose makers do not list a minor, each with what they list."""
    charts = {chart.chart: chart for item in record_stack(standing_file(stack_file, standing)).resources() if (chart := chart_of(item))}
    return {
        name: f"{chart.version} lists {chart.range_text}; {chart.supports['source']}"
        for name, chart in sorted(charts.items())
        if chart.version and any(chart.lists(minor) is False for minor in minors)
    }


def summary(steps: Sequence[Timed], charts: Mapping[str, str], accepted: frozenset[str]) -> Iterator[Line]:
    """What stops and when, which keys are written, which charts stand in the way."""
    clock = 0.0
    for timed in steps:
        for effect in timed.nodes:
            if effect.kind == "rolled" and effect.nodes and effect.neuron:
                stays = f"a job on {effect.group} runs on for {duration(clock)}, while {', '.join(_before(steps, timed))} change"
                yield "jobs", Text(f"{stays}; it stops when its nodes are rolled, unless it has ended or is waited for")
        clock += timed.seconds
    if not any(effect.neuron and effect.nodes for timed in steps for effect in timed.nodes):
        yield "jobs", Text("none stops: no Neuron group has nodes", style="bold green")
    for timed in steps:
        for edit in timed.step.edits if timed.step.kind in ("control plane", "nodes") else ():
            yield "key", Text(f"{timed.step.title}: {edit}")
    for name, said in charts.items():
        style, end = ("yellow", "accepted") if name in accepted else ("bold red", f"--accept {name} goes on all the same")
        yield "chart", Text(f"{name} {said}: {end}", style=style)


def _before(steps: Sequence[Timed], until: Timed) -> list[str]:
    kinds = [timed.step.kind for timed in steps[: list(steps).index(until)]]
    return list(dict.fromkeys("other nodes" if kind == "nodes" else kind for kind in kinds)) or ["nothing"]
