"""The frame of every page that the toolkit writes: one file, which loads nothing and may load nothing."""

import re
from functools import cache
from importlib.resources import files

from report.text import DARK, FONT, LIGHT, PICTURE_DARK, PICTURE_LIGHT, escaped

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What a page may do: nothing but its own style, and its script where it has one."""
_VARIABLES, _VARIABLES_DARK = (
    "".join(f"--{name.replace('_', '-')}:{colour};" for name, colour in theme.items())
    for theme in ({**LIGHT, **PICTURE_LIGHT}, {**DARK, **PICTURE_DARK})
)
# Print with light colours, also from a dark screen.
_THEME = (
    f":root{{color-scheme:light dark;--font:{FONT};{_VARIABLES}}}"
    f"@media screen and (prefers-color-scheme:dark){{:root{{{_VARIABLES_DARK}}}}}@media print{{:root{{color-scheme:light}}}}"
)


def document(title: str, body: str, *, with_script: bool = False) -> str:
    """A page from the HTML of its body; with the script of rehearsals where it has timelines."""
    policy = POLICY + ("; script-src 'unsafe-inline'" if with_script else "")
    script = f"<script>{_asset('page.js')}</script>" if with_script else ""
    style = _asset("base.css") + (_asset("page.css") if with_script else "")
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            f"<title>{escaped(title)}</title><style>{_THEME}{style}</style></head><body>",
            body,
            f"{script}</body></html>\n",
        ]
    )


@cache
def _asset(name: str) -> str:
    """A file beside this one, without indentation, comments and empty lines: they are for who edits it."""
    text = (files("report") / "templates" / f"{name}.j2").read_text()
    return re.sub(r"(?m)^\s*(//.*|/\*.*\*/)?\s*\n?", "", text)
