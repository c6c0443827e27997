"""What went wrong, in the words of those who refused, with the cause, the fix, and what is being paid for meanwhile."""

from collections.abc import Iterator, Sequence

from report.chart import slug
from report.runs import Run, Step
from report.tables import prose
from report.text import escaped
from simulator.report.schema import CostLine, Incident, Leftover, Problem, Report
from simulator.report.words import duration, plural, short_type

MOST_BILLED = 6
"""Lines of the bill that are named."""


def trouble_section(report: Report, runs: Sequence[Run]) -> str:
    """The section, empty where nothing went wrong. `runs` are in the order in which they happened."""
    parts = [
        *(_run(report, runs, index) for index, run in enumerate(runs) if run.ended != "well" or any(step.error for step in run.steps)),
        *(_problem(problem) for problem in report.problems),
        *(_incident(incident) for incident in report.incidents),
        *_leftovers(report, [report.destroy, *report.destroy_reruns][-1].leftovers),
    ]
    if not parts:
        return ""
    return (
        f'<section class="troubles" aria-labelledby="wrong"><h2 id="wrong">What went wrong</h2>{_asked(report)}{"".join(parts)}</section>'
    )


def _asked(report: Report) -> str:
    if not report.faults:
        return ""
    return f'<p class="muted">Made to go wrong: {", ".join(f"<code>{escaped(fault)}</code>" for fault in report.faults)}.</p>'


def _run(report: Report, runs: Sequence[Run], index: int) -> str:
    run = runs[index]
    refused = [step for step in run.steps if step.error is not None]
    cut = [step for step in run.steps if step.cut]
    under_way = ", ".join(f"{escaped(short_type(step.type))} <b>{escaped(step.name)}</b>" for step in cut)
    said = f"<p>Under way at that moment: {under_way}; how they ended was never written down.</p>" if cut else ""
    body = "".join(_refusal(step) for step in refused) + said + _bill(report, runs[: index + 1]) + _after(runs, index)
    return _card(f'{escaped(run.title)}: {escaped(run.words)} <a href="#{slug(run.title)}">see it</a>', body)


def _refusal(step: Step) -> str:
    tries = f", {step.attempts} tries in {duration(step.seconds)}" if step.attempts > 1 else f", after {duration(step.seconds)}"
    return (
        f'<div class="refusal"><p><b>{escaped(step.name)}</b> <span class="muted">{escaped(short_type(step.type))}{tries}</span></p>'
        f"{_answer(step.error or '')}{_why(step.cause, step.fix)}</div>"
    )


def _answer(error: str) -> str:
    """The service's words, its code first: that is what a reader searches for."""
    code, colon, words = error.partition(": ")
    if colon and code.replace(".", "").isalnum():
        return f'<p class="answer"><span class="bad">{escaped(code)}</span> {escaped(words)}</p>'
    return f'<p class="answer"><span class="bad">{escaped(error)}</span></p>'


def _why(cause: str | None, fix: str | None) -> str:
    said = [(name, words) for name, words in (("Cause", cause), ("Fix", fix)) if words]
    return f"<dl>{''.join(f'<dt>{name}</dt><dd>{prose(words)}</dd>' for name, words in said)}</dl>" if said else ""


def _bill(report: Report, runs: Sequence[Run]) -> str:
    """What the account pays for when the last of the runs has ended, highest price first."""
    if not runs[-1].cost:
        return ""
    last = runs[-1].cost[-1]
    lines = sorted(_standing(report, runs), key=lambda line: (-(line.usd_per_hour or 0.0), line.urn))
    named = [f"{escaped(line.what)} {_usd(line.usd_per_hour or 0.0)}" for line in lines[:MOST_BILLED]]
    named += [f"{len(lines) - MOST_BILLED} more"] if len(lines) > MOST_BILLED else []
    billed = f": {'; '.join(named)}" if named else ""
    return (
        f'<p class="bill"><b>{_usd(last.usd_per_hour)} USD an hour</b> was being paid for at that moment{billed}. '
        f"{last.usd:,.2f} USD spent since this run began.</p>"
    )


def _usd(price: float) -> str:
    return f"{price:,.2f}" if price == 0 or price >= 0.005 else "under 0.01"


def _standing(report: Report, runs: Sequence[Run]) -> list[CostLine]:
    """Lines of the bill for what is there after the runs."""
    certain: dict[str, bool] = {}
    for run in runs:
        for step in run.steps:
            if step.trouble in ("refused", "cut"):
                # A refused deletion leaves what was there; a refused creation may have left something too.
                certain.setdefault(step.urn, step.operation == "delete")
            elif step.operation == "delete":
                certain.pop(step.urn, None)
            else:
                certain[step.urn] = True
    priced = [line for line in report.cost.items if line.usd_per_hour and line.urn in certain]
    known = [line for line in priced if certain[line.urn]]
    rate = runs[-1].cost[-1].usd_per_hour
    return min((known, priced), key=lambda lines: abs(sum(line.usd_per_hour or 0.0 for line in lines) - rate))


def _after(runs: Sequence[Run], index: int) -> str:
    run, after = runs[index], runs[index + 1] if index + 1 < len(runs) else None
    if after is None or after.phase != run.phase:
        return '<p class="bad">It was not fixed in this rehearsal: the same would happen again.</p>'
    done = "; ".join(f"<code>{escaped(command)}</code>" for command in after.before)
    return f'<p class="then">Then {done} <span class="muted">\u2192</span> <a href="#{slug(after.title)}">{escaped(after.title)}</a> {escaped(after.words)}.</p>'


def _problem(problem: Problem) -> str:
    rule = f' <span class="muted">rule {escaped(problem.rule)}</span>'
    return _card(
        f"The cluster is up, but cannot be used: {escaped(problem.name)}{rule}", _answer(problem.error) + _why(problem.cause, problem.fix)
    )


def _incident(incident: Incident) -> str:
    back = "the node does not come back" if incident.seconds is None else f"{duration(incident.seconds)} until all nodes are back"
    return _card(
        f'{escaped(incident.what)} <span class="muted">{escaped(incident.fault)}</span>',
        f"<p><b>{back}</b>; {escaped(incident.job)}.</p>",
        calm=True,
    )


def _leftovers(report: Report, left: Sequence[Leftover]) -> Iterator[str]:
    if left:
        urns = {leftover.urn for leftover in left}
        rate = sum(line.usd_per_hour or 0.0 for line in report.cost.items if line.urn in urns)
        objects = "".join(f'<li class="bad">{escaped(leftover.what)}</li>' for leftover in left)
        price = f"<p>{rate:,.2f} USD an hour until it is gone.</p>" if rate else ""
        yield _card(f"{plural(len(left), 'object')} left behind after the last destroy", f"<ul>{objects}</ul>{price}")


def _card(heading: str, body: str, *, calm: bool = False) -> str:
    return f'<article class="trouble{" calm" if calm else ""}"><h3>{heading}</h3>{body}</article>'
