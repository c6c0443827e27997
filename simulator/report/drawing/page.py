"""One page about a rehearsal that needs no other file: what a reader judges by, the pictures, and the tables behind them."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from facts.prices import HOURS_PER_MONTH
from simulator.recording import Recording
from simulator.report.drawing.chart import legend, run_section, slug
from simulator.report.drawing.network import network_svg
from simulator.report.drawing.runs import ChangeRun, Run, runs_of
from simulator.report.drawing.tables import prose, table, type_cell
from simulator.report.drawing.text import DARK, FONT, LIGHT, duration, escaped, plural
from simulator.report.drawing.trouble import trouble_section
from simulator.report.schema import CostLine, Report

_VARIABLES, _VARIABLES_DARK = ("".join(f"--{name}:{colour};" for name, colour in theme.items()) for theme in (LIGHT, DARK))
# Print with light colours, also from a dark screen.
_THEME = (
    f":root{{color-scheme:light dark;--font:{FONT};{_VARIABLES}}}"
    f"@media screen and (prefers-color-scheme:dark){{:root{{{_VARIABLES_DARK}}}}}@media print{{:root{{color-scheme:light}}}}"
)


def page_html(report: Report, recording: Recording, change: ChangeRun | None = None) -> str:
    """The whole page as HTML; it loads nothing, and shows every run without its script, which zooms, explains and switches."""
    title = escaped(f"Rehearsal of {report.stack}")
    found = runs_of(report)
    runs = [
        *(run for run in found if run.phase == "up"),
        *(change.runs if change is not None else ()),
        *(run for run in found if run.phase == "destroy"),
    ]
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title><style>{_THEME}{_asset('page.css')}</style></head><body>",
            f"<header><h1>{title}</h1>",
            '<p class="muted">This is a simulation: nothing was made in AWS, times are modelled, and prices are list prices.</p></header><main>',
            f'<p class="scenario">Scenario {"; ".join(escaped(said) for said in report.scenario)}</p>' if report.scenario else "",
            trouble_section(report, runs, change),
            _figures(report, runs),
            _notices(report),
            '<section class="runs" aria-labelledby="timeline"><h2 id="timeline">Timeline</h2>',
            f'<p class="muted">The change: {escaped(change.words)}.</p>' if change is not None else "",
            _tabs(runs),
            legend(runs),
            *(run_section(run) for run in runs),
            "</section>",
            f'<h2>Network and cluster</h2><div class="wide picture">{network_svg(recording)}</div>',
            _cost(report),
            _resources(report, runs),
            f"</main><script>{_asset('page.js')}</script></body></html>\n",
        ]
    )


@cache
def _asset(name: str) -> str:
    return (files("simulator.report.drawing") / name).read_text()


def _tabs(runs: Sequence[Run]) -> str:
    """Buttons that choose one run; without the script all runs are shown below each other, and there is nothing to choose."""
    buttons = "".join(
        f'<button type="button" role="tab" id="{slug(run.title)}-tab" aria-controls="{slug(run.title)}"{" class=failed" if run.failed else ""}>'
        f"{escaped(run.title)} <small>{escaped(_tab_words(run))}</small></button>"
        for run in runs
    )
    return f'<div class="tabs" role="tablist" aria-label="Runs">{buttons}</div>'


def _tab_words(run: Run) -> str:
    ending = {"well": "", "refused": "\u2715 ", "killed": "\u2715 "}[run.ended]
    return f"{ending}{duration(run.seconds)}"


def _figures(report: Report, runs: Sequence[Run]) -> str:
    cost = report.cost
    prices = f"per hour now, {cost.now.usd_per_hour * 24:,.2f} per day; at full size {cost.full_size.words()}; idle {cost.idle.words()}, {cost.idle.usd_per_hour * HOURS_PER_MONTH:,.2f} per month"
    tiles = [
        _time_to_ready([run for run in runs if run.phase == "up"]),
        _figure("Cost", f"USD {cost.now.words()}", prices),
        _time_to_destroy([run for run in runs if run.phase == "destroy"]),
        _left_behind(report),
    ]
    return f'<div class="figures">{"".join(tiles)}</div>'


def _time_to_ready(runs: Sequence[Run]) -> str:
    return _time("Time to ready", runs, "not ready", _above_bound(runs[0]))


def _time_to_destroy(runs: Sequence[Run]) -> str:
    levels = len({step.level for step in runs[0].steps})
    beside = ", ".join(part for part in (_above_bound(runs[0]), f"{plural(levels, 'level')}, one after the other") if part)
    return _time("Time to destroy", runs, "not gone", beside)


def _above_bound(run: Run) -> str:
    if not run.lower_bound_s:
        return ""
    return f"{100 * (run.seconds / run.lower_bound_s - 1):.1f} % above the lower bound of {duration(run.lower_bound_s)}"


def _time(name: str, runs: Sequence[Run], never: str, beside: str) -> str:
    """The time of all runs together, where the last one ended well."""
    stopped = "killed" if runs[-1].ended == "killed" else "stopped by a refusal"
    if runs[-1].ended != "well":
        return _figure(name, never, f"{stopped} after {duration(runs[-1].seconds)}", bad=True)
    if len(runs) > 1:
        beside = f"in {len(runs)} runs: {', '.join(duration(run.seconds) for run in runs)}"
    return _figure(name, duration(sum(run.seconds for run in runs)), beside)


def _figure(name: str, value: str, beside: str, *, bad: bool = False) -> str:
    mark = ' class="bad"' if bad else ""
    return f'<div class="figure"><span class="muted">{name}</span><b{mark}>{escaped(value)}</b><span class="muted">{escaped(beside)}</span></div>'


def _left_behind(report: Report) -> str:
    left = [report.destroy, *report.destroy_reruns][-1].leftovers
    if not left:
        return _figure("Left behind", "nothing", "no resource, backup or namespace remains")
    return _figure("Left behind", plural(len(left), "object"), "named above", bad=True)


def _notices(report: Report) -> str:
    if not report.notices:
        return ""
    return f"<h2>Notices</h2><ul>{''.join(f'<li>{prose(notice)}</li>' for notice in report.notices)}</ul>"


def _cost(report: Report) -> str:
    rows = [
        [
            _cost_item(line), escaped(line.name), f"{line.quantity:,g}", _usd(line.usd_per_hour), _usd(line.full_size_usd_per_hour),
            _usd(line.idle_usd_per_hour),
        ]
        for line in report.cost.items
    ]  # fmt: skip
    sums = (report.cost.now, report.cost.full_size, report.cost.idle)
    total = ["Total", "", "", *(f"{found.usd_per_hour:,.4f}{' + what has no known price' * bool(found.without)}" for found in sums)]
    words = (
        '<p class="muted">At full size: every autoscaled group at its maximum, and every pool of Karpenter at its limit. '
        "Idle: all Neuron node groups at zero nodes. Nothing that bills by use is counted.</p>"
    )
    heads = ("Item", "Name", "Quantity", "Now, USD per hour", "At full size, USD per hour", "Idle, USD per hour")
    return "<h2>Cost</h2>" + words + table(heads, rows, numbers=(2, 3, 4, 5), total=total)


def _cost_item(line: CostLine) -> str:
    # A price that does not exist cannot be unverified.
    is_doubtful = line.usd_per_hour is not None and not line.price_verified
    return escaped(line.what) + (' <span class="muted">(price not verified)</span>' if is_doubtful else "")


def _usd(price: float | None) -> str:
    return '<span class="bad">no known price</span>' if price is None else f"{price:,.4f}"


def _resources(report: Report, runs: Sequence[Run]) -> str:
    """Every step of every `up`, sorted and filtered by the script."""
    depends_on = {item.urn: len(item.depends_on) for up in (report.up, *report.reruns) for item in up.resources}
    rows = [
        [
            escaped(step.name), type_cell(step.type), escaped(run.title), f"{step.start:.1f}", f"{step.seconds:.1f}",
            str(step.attempts), str(depends_on.get(step.urn, 0)),
        ]
        for run in runs
        if run.phase == "up"
        for step in run.steps
    ]  # fmt: skip
    words = (
        f'<p class="muted">{len(rows)} steps for {plural(report.program.resources, "registration")}: components and providers take no time. '
        f"Seed {report.seed}. The program itself would take {duration(report.program.seconds)}.</p>"
    )
    box = '<input id="filter" type="search" placeholder="Filter by name or type" aria-label="Filter resources by name or type">'
    heads = ("Name", "Type", "Run", "Start, s", "Seconds", "Tries", "Depends on")
    body = table(heads, rows, numbers=(3, 4, 5, 6), identity="resources")
    return f'<details class="more all-steps"><summary><h2>Resources</h2></summary>{words}{box}{body}</details>'
