"""A page of a training that needs nothing beside itself: figures, and curves of loss and throughput as SVG. Pure."""

import math
from collections.abc import Sequence
from html import escape

from operations.jobs.watch.progress import Hardware, Progress
from operations.jobs.watch.view import figures, losses, rates

WIDTH, HEIGHT, LEFT, BELOW = 860, 260, 80, 30
MOST_POINTS = 1000
"""More cannot be told apart, and would make the page large."""
_STYLE = """body { font: 15px system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1b1f24; background: #fff }
th { text-align: left; padding: .2rem 2rem .2rem 0; font-weight: 600 } td { padding: .2rem 0 } svg { width: 100%; height: auto }
.axis { stroke: #8b949e } .curve { fill: none; stroke: #0b6bcb; stroke-width: 2 } text { font-size: 12px; fill: currentColor }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117 } .curve { stroke: #58a6ff } }"""


def page(name: str, progress: Progress, on: Hardware | None) -> str:
    """The page. `name` may hold any signs."""
    rows = "\n".join(f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in figures(progress, on))
    curves = "\n".join(
        f"<h2>{title}</h2>\n{svg(points, title)}" for title, points in (("Loss", losses(progress)), ("Samples per second", rates(progress)))
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(name)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{escape(name)}</h1>
<table>
{rows}
</table>
{curves}
</body>
</html>
"""


def svg(points: Sequence[tuple[int, float]], title: str) -> str:
    """A curve over steps with the ends of both axes; a sentence where there are fewer than two points."""
    finite = [(step, value) for step, value in points if math.isfinite(value)]
    if len(finite) < 2:
        return "<p>Not enough steps were measured for a curve.</p>"
    if len(finite) > MOST_POINTS:
        finite = [finite[round(at * (len(finite) - 1) / (MOST_POINTS - 1))] for at in range(MOST_POINTS)]
    first, last = finite[0][0], finite[-1][0]
    low, high = min(value for _, value in finite), max(value for _, value in finite)
    span = (high - low) or 1.0
    bottom, right = HEIGHT - BELOW, WIDTH - 10
    places = (
        (LEFT + (step - first) / max(1, last - first) * (right - LEFT), bottom - (value - low) / span * (bottom - 10))
        for step, value in finite
    )
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return f"""<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)} over steps">
<line class="axis" x1="{LEFT}" y1="10" x2="{LEFT}" y2="{bottom}"/><line class="axis" x1="{LEFT}" y1="{bottom}" x2="{right}" y2="{bottom}"/>
<text x="{LEFT - 6}" y="18" text-anchor="end">{high:,.2f}</text><text x="{LEFT - 6}" y="{bottom}" text-anchor="end">{low:,.2f}</text>
<text x="{LEFT}" y="{HEIGHT - 8}">step {first:,}</text><text x="{right}" y="{HEIGHT - 8}" text-anchor="end">step {last:,}</text>
<polyline class="curve" points="{drawn}"/>
</svg>"""
