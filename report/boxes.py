"""A picture as boxes: a page lets them flow with its width, a picture of its own places them."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from report.templating import rendered
from report.text import text_width

WIDTH, PAD, GAP, LINE, TITLE, SIZE = 980.0, 12.0, 8.0, 17.0, 22.0, 13.0
"""Pixels; `SIZE` is that of the font."""


@dataclass(frozen=True)
class Box:
    """A title, lines below it, small boxes that flow, and columns side by side whose cells are aligned."""

    style: str
    title: str
    lines: Sequence[str] = ()
    chips: Sequence["Box"] = ()
    columns: Sequence["Box"] = ()
    cells: Sequence["Box | None"] = ()
    """Of a column, from the top down; None keeps a place free."""


class Placed(NamedTuple):
    """A box where it is drawn, with lines that fit."""

    box: Box
    lines: Sequence[str]
    left: float
    top: float
    width: float
    height: float


def svg(heading: str, words: str, rows: Sequence[Sequence[Box]]) -> str:
    """A picture of rows of boxes, for light and dark; `words` are for who cannot see it."""
    drawn, top = list[Placed](), PAD + (2 * LINE if heading else 0)
    for row in rows:
        placed, height = _beside(row, PAD, top, WIDTH - 2 * PAD)
        drawn, top = drawn + placed, top + height + PAD
    return rendered(
        "boxes.svg", heading=heading, words=words, drawn=drawn, width=WIDTH, height=top, pad=PAD, line=LINE, title=TITLE, size=SIZE
    )


def _beside(boxes: Sequence[Box], left: float, top: float, width: float) -> tuple[list[Placed], float]:
    """Boxes of one width and height side by side, and the height."""
    each = (width - PAD * (len(boxes) - 1)) / len(boxes)
    rows = [
        max(_placed(cell, 0, 0, each - 2 * PAD)[0].height for cell in row if cell)
        for row in zip(*(box.cells for box in boxes), strict=True)
    ]
    lefts = [left + number * (each + PAD) for number in range(len(boxes))]
    height = max(_placed(box, 0, 0, each, rows)[0].height for box in boxes)
    return [placed for box, at in zip(boxes, lefts, strict=True) for placed in _placed(box, at, top, each, rows, height)], height


def _placed(box: Box, left: float, top: float, width: float, rows: Sequence[float] = (), height: float = 0) -> list[Placed]:
    """A box, at least so high, and all that is in it; `rows` are the heights of its cells."""
    inner, room = list[Placed](), width - 2 * PAD
    lines = [part for line in box.lines for part in _wrapped(line, room)]
    across, below, high = left + PAD, top + TITLE + LINE * len(lines) + GAP, 0.0
    for chip in box.chips:
        wide = min(room, 2 * PAD + max(text_width(chip.title, SIZE, bold=True), *(text_width(line, SIZE) for line in chip.lines), 0))
        if high and across + wide > left + PAD + room:
            across, below, high = left + PAD, below + high + GAP, 0.0
        placed = _placed(chip, across, below, wide)
        inner, across, high = inner + placed, across + wide + GAP, max(high, placed[0].height)
    below += high + GAP if high else 0.0
    for cell, tall in zip(box.cells, rows, strict=True):
        inner += _placed(cell, left + PAD, below, room, height=tall) if cell else []
        below += tall + GAP
    if box.columns:
        placed, tall = _beside(box.columns, left + PAD, below, room)
        inner, below = inner + placed, below + tall + GAP
    return [Placed(box, lines, left, top, width, max(height, below - top)), *inner]


def _wrapped(line: str, width: float) -> list[str]:
    needed = text_width(line, SIZE)
    # What a small box was made as wide as.
    return [line] if needed < width + 0.5 else textwrap.wrap(line, max(1, int(len(line) * width / needed)), break_on_hyphens=False)
