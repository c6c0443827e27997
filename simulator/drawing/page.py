"""One page about a rehearsal that needs no other file: what a reader judges by, the pictures, and the tables behind them."""

from collections.abc import Iterable, Sequence

from components.hardware.prices import HOURS_PER_MONTH
from simulator.drawing.network import network_svg
from simulator.drawing.text import DARK, FONT, LIGHT, duration, escaped, plural, short_type
from simulator.drawing.timeline import resources_of, timeline_svg
from simulator.recording import Recording
from simulator.report import CostLine, DestroyStep, Report

_VARIABLES, _VARIABLES_DARK = ("".join(f"--{name}:{colour};" for name, colour in theme.items()) for theme in (LIGHT, DARK))
_STYLE = (
    f":root{{color-scheme:light dark;{_VARIABLES}}}@media (prefers-color-scheme:dark){{:root{{{_VARIABLES_DARK}}}}}"
    f"body{{margin:0 auto;max-width:1160px;padding:24px 16px 64px;font:15px/1.5 {FONT};background:var(--paper);color:var(--ink)}}"
    "h1{font-size:28px;margin:0}h2{font-size:19px;margin:40px 0 10px}p{margin:6px 0}.muted{color:var(--muted)}.bad{color:var(--bad)}"
    ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(230px,1fr));gap:12px;margin:20px 0}"
    ".figure{border:1px solid var(--line);border-radius:8px;padding:12px 16px}.figure b{display:block;font-size:23px;line-height:1.35}"
    ".figure ul{margin:4px 0 0;padding-left:18px;overflow-wrap:anywhere}"
    ".wide{overflow-x:auto}svg{display:block;min-width:900px;max-width:100%;height:auto}"
    "table{border-collapse:collapse;width:100%;font-size:14px}th,td{text-align:left;padding:5px 12px 5px 0;vertical-align:top;"
    "border-bottom:1px solid var(--line);overflow-wrap:anywhere}th{color:var(--muted);font-weight:600;white-space:nowrap}"
    ".number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}th.sorts{cursor:pointer}tfoot td{font-weight:600}"
    "input{font:inherit;color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:6px;padding:5px 10px;"
    "margin-bottom:10px;width:min(320px,100%);box-sizing:border-box}"
)
_SCRIPT = """
const table = document.getElementById("resources"), rows = [...table.tBodies[0].rows];
document.getElementById("filter").addEventListener("input", event => {
  for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(event.target.value.toLowerCase());
});
[...table.tHead.rows[0].cells].forEach((head, column) => head.addEventListener("click", () => {
  const sign = head.dataset.sign = head.dataset.sign === "1" ? -1 : 1;
  const text = row => row.cells[column].textContent;
  rows.sort((a, b) => sign * text(a).localeCompare(text(b), "en", {numeric: true}));
  table.tBodies[0].append(...rows);
}));
"""


def page_html(report: Report, recording: Recording) -> str:
    """The whole page as HTML; it loads nothing and works without its script, which only filters and sorts one table."""
    title = escaped(f"Rehearsal of {report.stack}")
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title><style>{_STYLE}</style></head><body>",
            f"<h1>{title}</h1>",
            '<p class="muted">This is a simulation: nothing was made in AWS, times are modelled, and prices are list prices.</p>',
            _figures(report),
            _notices(report),
            _refusals(report),
            f'<h2>Timeline</h2><div class="wide">{timeline_svg(report)}</div>',
            _critical_path(report),
            f'<h2>Network and cluster</h2><div class="wide">{network_svg(recording)}</div>',
            _cost(report),
            _resources(report),
            _destroy_levels(report),
            f"<script>{_SCRIPT}</script></body></html>\n",
        ]
    )


def _figures(report: Report) -> str:
    up, cost, destroy = report.up, report.cost, report.destroy
    bound = f"lower bound of {duration(up.lower_bound_seconds)}"
    if up.lower_bound_seconds > 0:
        bound = f"{100 * (up.seconds / up.lower_bound_seconds - 1):.1f} % above the {bound}"
    up_refused = any(item.error is not None for item in up.resources)
    destroy_refused = any(step.error is not None for step in destroy.order)
    levels = f"{plural(len({step.level for step in destroy.order}), 'level')}, one after the other"
    running, idle = cost.running_usd_per_hour, cost.idle_usd_per_hour
    prices = f"per hour running, {running * 24:,.2f} per day; idle {idle:,.2f} per hour, {idle * HOURS_PER_MONTH:,.2f} per month"
    tiles = [
        _figure("Time to ready", duration(up.seconds), "stopped by a refusal" if up_refused else bound, bad=up_refused),
        _figure("Cost", f"USD {running:,.2f}", prices),
        _figure("Time to destroy", duration(destroy.seconds), "stopped by a refusal" if destroy_refused else levels, bad=destroy_refused),
        _left_behind(report),
    ]
    return f'<div class="figures">{"".join(tiles)}</div>'


def _figure(name: str, value: str, beside: str, *, bad: bool = False) -> str:
    mark = ' class="bad"' if bad else ""
    return f'<div class="figure"><span class="muted">{name}</span><b{mark}>{escaped(value)}</b><span class="muted">{escaped(beside)}</span></div>'


def _left_behind(report: Report) -> str:
    left = report.destroy.leftovers
    if not left:
        return _figure("Left behind", "nothing", "no resource, backup or namespace remains")
    things = "".join(f'<li class="bad">{escaped(thing.what)}</li>' for thing in left)
    return (
        f'<div class="figure"><span class="muted">Left behind</span><b class="bad">{plural(len(left), "thing")}</b><ul>{things}</ul></div>'
    )


def _notices(report: Report) -> str:
    if not report.notices:
        return ""
    return f"<h2>Notices</h2><ul>{''.join(f'<li>{escaped(notice)}</li>' for notice in report.notices)}</ul>"


def _refusals(report: Report) -> str:
    """What was refused in either phase, in the service's own words."""
    found = [("up", item) for item in report.up.resources] + [("destroy", step) for step in report.destroy.order]
    rows = [
        [phase, escaped(item.name), _type(item.type), f'<span class="bad">{escaped(item.error)}</span>']
        for phase, item in found
        if item.error is not None
    ]
    return "<h2>Refused</h2>" + _table(("Phase", "Name", "Type", "Answer"), rows) if rows else ""


def _critical_path(report: Report) -> str:
    rows = [[escaped(step.name), _type(step.type), f"{step.start:.1f}", f"{step.end - step.start:.1f}"] for step in report.up.critical_path]
    words = '<p class="muted">The chain of waits that makes the cluster ready; only what stands here can make it ready sooner.</p>'
    return "<h2>Critical path of up</h2>" + words + _table(("Name", "Type", "Start, s", "Seconds"), rows, numbers=(2, 3))


def _cost(report: Report) -> str:
    rows = [
        [_cost_item(line), escaped(line.name), f"{line.quantity:,g}", _usd(line.usd_per_hour), _usd(line.idle_usd_per_hour)]
        for line in report.cost.items
    ]
    total = ["Total", "", "", f"{report.cost.running_usd_per_hour:,.4f}", f"{report.cost.idle_usd_per_hour:,.4f}"]
    words = '<p class="muted">Idle: all Neuron node groups at zero nodes. Nothing that bills by use is counted.</p>'
    heads = ("Item", "Name", "Quantity", "Running, USD per hour", "Idle, USD per hour")
    return "<h2>Cost</h2>" + words + _table(heads, rows, numbers=(2, 3, 4), total=total)


def _cost_item(line: CostLine) -> str:
    # A price that does not exist cannot be unverified.
    is_doubtful = line.usd_per_hour is not None and not line.price_verified
    return escaped(line.what) + (' <span class="muted">(price not verified)</span>' if is_doubtful else "")


def _usd(price: float | None) -> str:
    return '<span class="bad">no list price</span>' if price is None else f"{price:,.4f}"


def _resources(report: Report) -> str:
    resources = sorted(resources_of(report.up), key=lambda item: (item.start, item.end, item.urn))
    rows = [
        [escaped(item.name), _type(item.type), f"{item.start:.1f}", f"{item.end - item.start:.1f}", str(len(item.depends_on))]
        for item in resources
    ]
    words = (
        f'<p class="muted">{len(rows)} of {plural(report.program.resources, "registration")}: components and providers are left out. '
        f"Seed {report.seed}. The program itself would take {duration(report.program.seconds)}.</p>"
    )
    box = '<input id="filter" type="search" placeholder="Filter by name or type" aria-label="Filter resources by name or type">'
    heads = ("Name", "Type", "Start, s", "Seconds", "Depends on")
    return "<h2>Resources</h2>" + words + box + _table(heads, rows, numbers=(2, 3, 4), identity="resources")


def _destroy_levels(report: Report) -> str:
    levels: dict[int, list[DestroyStep]] = {}
    for step in report.destroy.order:
        levels.setdefault(step.level, []).append(step)
    rows: list[list[str]] = []
    for level, steps in sorted(levels.items()):
        start, end = min(step.start for step in steps), max(step.end for step in steps)
        longest = max(steps, key=lambda step: (step.end - step.start, step.urn))
        rows.append([str(level), str(len(steps)), f"{start:.1f}", f"{end - start:.1f}", f"{escaped(longest.name)} {_type(longest.type)}"])
    words = '<p class="muted">A level starts when the one before has ended.</p>'
    heads = ("Level", "Deletions", "Start, s", "Seconds", "Longest deletion")
    return "<h2>Destroy, level by level</h2>" + words + _table(heads, rows, numbers=(0, 1, 2, 3))


def _type(token: str) -> str:
    return f'<span class="muted" title="{escaped(token)}">{escaped(short_type(token))}</span>'


def _table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Sequence[int] = (),
    total: Sequence[str] = (),
    identity: str = "",
) -> str:
    """A table of cells that are HTML already; `numbers` are the columns to be set flush right."""

    def row(cells: Sequence[str], tag: str = "td") -> str:
        styles = [" ".join(["number"] * (index in numbers) + ["sorts"] * (tag == "th" and bool(identity))) for index in range(len(cells))]
        marked = [
            f'<{tag} class="{style}">{cell}</{tag}>' if style else f"<{tag}>{cell}</{tag}>"
            for cell, style in zip(cells, styles, strict=True)
        ]
        return f"<tr>{''.join(marked)}</tr>"

    mark = f' id="{identity}"' if identity else ""
    body = "\n".join(row(cells) for cells in rows)
    foot = f"<tfoot>{row(total)}</tfoot>" if total else ""
    return f'<div class="wide"><table{mark}><thead>{row(heads, "th")}</thead><tbody>\n{body}\n</tbody>{foot}</table></div>'
