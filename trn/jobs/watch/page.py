"""A page of a training that needs nothing beside itself: figures, and curves of loss and throughput. Pure."""

import math
from collections.abc import Sequence
from typing import Any

from report.templating import Tile, rendered
from trn.jobs.watch.progress import Hardware, Progress
from trn.jobs.watch.view import figures, losses, rates

WIDTH, HEIGHT = 1000, 100
"""Of the plane on which a curve is drawn: the page stretches it to its width."""
MOST_POINTS = 1000
"""More cannot be told apart, and would make the page large."""


def page(name: str, progress: Progress, on: Hardware | None) -> str:
    """The page, in the style of a rehearsal's. `name` may hold any signs."""
    curves = [plot("Loss", losses(progress)), plot("Samples per second", rates(progress))]
    return rendered("training.html", title=name, figures=[_tile(*figure) for figure in figures(progress, on)], curves=curves)


def _tile(key: str, value: str) -> Tile:
    """The figure in large digits, and what explains it below: `not known: name the hardware` is cut at the colon."""
    large, _, small = value.replace(": ", " (", 1).partition(" (")
    return Tile(key.capitalize(), large, [small.removesuffix(")")])


def plot(title: str, points: Sequence[tuple[int, float]]) -> dict[str, Any]:
    """A curve over steps on its plane, with the ends of both axes; without points where there are fewer than two."""
    finite = [(step, value) for step, value in points if math.isfinite(value)]
    if len(finite) < 2:
        return {"title": title, "points": ()}
    if len(finite) > MOST_POINTS:
        finite = [finite[round(at * (len(finite) - 1) / (MOST_POINTS - 1))] for at in range(MOST_POINTS)]
    first, last = finite[0][0], finite[-1][0]
    low, high = min(value for _, value in finite), max(value for _, value in finite)
    span, steps = (high - low) or 1.0, max(1, last - first)
    places = [((step - first) / steps * WIDTH, (high - value) / span * HEIGHT) for step, value in finite]
    return {"title": title, "points": places, "first": first, "last": last, "low": low, "high": high, "width": WIDTH, "height": HEIGHT}
