"""One page about a rehearsal that needs no other file: what it was, what a reader judges it by, the cluster, every run, the bill."""

from collections.abc import Mapping, Sequence

from report.change import ChangeRun, change_section
from report.chart import legend, run_section, slug
from report.header import figures, header, what
from report.parts import Linked, Part, linked, parts_of
from report.picture import picture
from report.runs import Run, runs_of
from report.style import document
from report.tables import prose, table
from report.text import escaped
from report.trouble import trouble_section
from simulator.recording import Recording
from simulator.report.schema import CostLine, Report
from simulator.report.words import duration

MOST_BILLED = 15
"""Lines of the bill that are seen before it is unfolded."""
_AFTER = '<h2 id="after">The cluster after the change</h2>'
_SEARCH = (
    '<div class="search"><input id="search" type="search" placeholder="Search steps by name or type" '
    'aria-label="Search steps by name or type" autocomplete="off"><span class="muted found" role="status"></span></div>'
)


def page_html(report: Report, recording: Recording, change: ChangeRun | None = None) -> str:
    """The whole page as HTML; it loads nothing, and shows every run without its script, which searches, zooms and switches.

    Of a change, `recording` is the cluster as it is after it.
    """
    found = runs_of(report)
    # A change is what its reader came for: its runs are before those of the cluster that it is tried on.
    runs = [*(change.runs if change is not None else ()), *found]
    parts = _parts(report, recording)
    if change is None:
        title = f"Rehearsal of {report.stack}"
        said = f'<p class="scenario">Scenario {"; ".join(escaped(words) for words in report.scenario)}</p>' if report.scenario else ""
        head = [header(title, said), "<main>", what(report, recording), trouble_section(report, runs), figures(report, runs)]
    else:
        title = f"Change of {report.stack}"
        asked = f'<p class="asked"><code>{escaped(change.words)}</code></p>'
        head = [header(title, asked), "<main>", change_section(change), trouble_section(report, runs), _AFTER, what(report, recording)]
    body = [
        *head,
        _notices(report),
        picture(recording),
        '<section class="runs" aria-labelledby="timeline"><h2 id="timeline">Timeline</h2>',
        _tabs(runs),
        _SEARCH,
        legend(runs),
        *(run_section(run, parts) for run in runs),
        "</section>",
        _cost(report),
        "</main>",
        f'<footer class="muted">Seed {report.seed}. The program itself would take {duration(report.program.seconds)}.</footer>',
    ]
    return document(title, "\n".join(body), with_script=True)


def _parts(report: Report, recording: Recording) -> Mapping[str, Part]:
    """Of what was there before a change as well: a report knows parents and dependencies."""
    before = [
        Linked(item.urn, item.type, item.parent, frozenset(item.depends_on)) for up in (report.up, *report.reruns) for item in up.resources
    ]
    return parts_of([*before, *(linked(item) for item in recording)])


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


def _notices(report: Report) -> str:
    if not report.notices:
        return ""
    return f'<ul class="notices">{"".join(f"<li>{prose(notice)}</li>" for notice in report.notices)}</ul>'


def _cost(report: Report) -> str:
    rows = [
        [_cost_item(line), escaped(line.name), _usd(line.usd_per_hour), _usd(line.full_size_usd_per_hour), _usd(line.idle_usd_per_hour)]
        for line in report.cost.items
    ]
    sums = (report.cost.now, report.cost.full_size, report.cost.idle)
    total = ["Total", "", *(f"{found.usd_per_hour:,.4f}{' + what has no known price' * bool(found.without)}" for found in sums)]
    words = (
        '<p class="muted">USD an hour. At full size: every autoscaled group at its maximum, and every pool of Karpenter at its limit. '
        "Idle: all Neuron node groups at zero nodes. Nothing that bills by use is counted.</p>"
    )
    heads = ("Item", "Name", "Now", "At full size", "Idle")
    numbers = (2, 3, 4)
    folded = rows[MOST_BILLED:]
    rest = f'<details class="fold"><summary>{len(folded)} more</summary>{table(heads, folded, numbers=numbers)}</details>' if folded else ""
    return f'<h2 id="cost">Cost</h2>{words}{table(heads, rows[:MOST_BILLED], numbers=numbers, total=total)}{rest}'


def _cost_item(line: CostLine) -> str:
    # A price that does not exist cannot be unverified.
    is_doubtful = line.usd_per_hour is not None and not line.price_verified
    return escaped(line.what) + (' <span class="muted">(price not verified)</span>' if is_doubtful else "")


def _usd(price: float | None) -> str:
    return '<span class="bad">no known price</span>' if price is None else f"{price:,.4f}"
