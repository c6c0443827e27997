"""Tables and running text of the page."""

import re
from collections.abc import Iterable, Sequence

from report.text import escaped
from simulator.report.words import short_type


def prose(text: str) -> str:
    """Text as HTML, with text between backticks set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped(text))


def type_cell(token: str) -> str:
    """A type's last word, with the whole token for those who ask."""
    return f'<span class="muted" title="{escaped(token)}">{escaped(short_type(token))}</span>'


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Sequence[int] = (),
    total: Sequence[str] = (),
    identity: str = "",
) -> str:
    """A table of cells that are HTML already; `numbers` are the columns to be set flush right, `identity` makes it sortable."""

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


def tile(name: str, value: str, beside: str, *, bad: bool = False) -> str:
    """One figure in large digits, with what it is and what belongs to it."""
    mark = ' class="bad"' if bad else ""
    return f'<div class="figure"><span class="muted">{name}</span><b{mark}>{escaped(value)}</b><span class="muted">{escaped(beside)}</span></div>'
