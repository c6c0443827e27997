"""Pages and pictures from the templates beside this: every value is escaped, unless a template made it."""

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from simulator.report.words import duration, plural, short_type

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

MOST_PIECES = 500
"""Of a page that are held before they are one text."""
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Tile(NamedTuple):
    """A figure in large digits, with what it is and what belongs to it."""

    name: str
    value: str
    lines: Sequence[str]
    bad: bool = False


def rendered(template: str, **values: Any) -> str:
    """A file of `templates/` with its values; what XML forbids becomes U+FFFD."""
    pieces, parts = _environment().get_template(f"{template}.j2").generate(values), list[str]()
    # What is escaped is an object to the garbage collector: half a million of them at once would take longer than all the rest.
    while some := list(islice(pieces, MOST_PIECES)):
        parts.append("".join(some))
    return _NOT_XML.sub("\ufffd", "".join(parts))


@cache
def _environment() -> "Environment":
    # Not at the top: only what draws a page pays for it.
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_source), autoescape=True, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    environment.filters |= {
        "answer": _answer,
        "duration": duration,
        "number": lambda value, digits=0: f"{value:,.{digits}f}",
        "percent": lambda share: f"{share:.2f}%",
        "place": lambda pixels: f"{pixels:.1f}",
        "plural": plural,
        "prose": _prose,
        "short_type": short_type,
    }
    return environment


def _source(name: str) -> str:
    """A template without indentation, comments and empty lines: they are for who edits it."""
    text = (files("report") / "templates" / name).read_text()
    return re.sub(r"(?m)^\s*(//.*|/\*.*\*/)?\s*\n?", "", text)


def _answer(error: str) -> tuple[str, str]:
    """A service's code, which is what a reader searches for, and its words; all of it as the code where there is none."""
    code, colon, words = error.partition(": ")
    return (code, words) if colon and code.replace(".", "").isalnum() else (error, "")


def _prose(text: str) -> "Markup":
    """Text with what stands between backticks set as code."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))
