"""A page of a training that needs nothing beside itself: figures, and curves of loss and throughput as SVG. Pure."""

import math
from collections.abc import Sequence
from html import escape

from report.style import document
from report.tables import tile
from trn.jobs.watch.progress import Hardware, Progress
from trn.jobs.watch.view import figures, losses, rates

WIDTH, HEIGHT = 1000, 100
"""Of the plane on which a curve is drawn: the page stretches it to its width."""
MOST_POINTS = 1000
"""More cannot be told apart, and would make the page large."""


def page(name: str, progress: Progress, on: Hardware | None) -> str:
    """The page, in the style of a rehearsal's. `name` may hold any signs."""
    tiles = "".join(_tile(key, value) for key, value in figures(progress, on))
    curves = "\n".join(
        f"<h2>{title}</h2>\n{plot(points, title)}"
        for title, points in (("Loss", losses(progress)), ("Samples per second", rates(progress)))
    )
    return document(name, f'<header><h1>{escape(name)}</h1></header><main><div class="figures">{tiles}</div>{curves}</main>')


def _tile(key: str, value: str) -> str:
    """The figure in large digits, and what explains it below: `not known: name the hardware` is cut at the colon."""
    large, _, small = value.replace(": ", " (", 1).partition(" (")
    return tile(key.capitalize(), large, small.removesuffix(")"))


def plot(points: Sequence[tuple[int, float]], title: str) -> str:
    """A curve over steps as SVG, with the ends of both axes beside it; a sentence where there are fewer than two points."""
    finite = [(step, value) for step, value in points if math.isfinite(value)]
    if len(finite) < 2:
        return "<p>Not enough steps were measured for a curve.</p>"
    if len(finite) > MOST_POINTS:
        finite = [finite[round(at * (len(finite) - 1) / (MOST_POINTS - 1))] for at in range(MOST_POINTS)]
    first, last = finite[0][0], finite[-1][0]
    low, high = min(value for _, value in finite), max(value for _, value in finite)
    span = (high - low) or 1.0
    places = ((step - first) / max(1, last - first) * WIDTH for step, _ in finite), ((high - value) / span * HEIGHT for _, value in finite)
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(*places, strict=True))
    # Words are beside the picture and not in it: on a phone it is a third as wide.
    return (
        f'<div class="plot" role="img" aria-label="{escape(title)} over steps"><span>{high:,.2f}</span><span class="low">{low:,.2f}</span>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none"><polyline points="{drawn}"/></svg>'
        f'<span class="first">step {first:,}</span><span>step {last:,}</span></div>'
    )
