"""Characters that make a terminal do something else than show text: moved cursors, changed titles, text in another order."""

import re

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""C0 without tab and line feed, DEL, C1, Unicode's marks of direction, and bytes of the command line that are no UTF-8."""


def escaped(text: str) -> str:
    r"""The text with each of them as Python writes it, such as `\x1b`: what users, logs and clusters say is shown and never acted on."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
