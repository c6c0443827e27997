"""Widths and escaping that the drawings share."""

from xml.etree import ElementTree

from report.text import escaped, text_width
from tests.report.builders import HOSTILE


def test_escaped_text_parses_and_keeps_what_xml_allows():
    """A name comes from a configuration file and may hold anything; one bad character would make a picture unreadable."""
    parsed = ElementTree.fromstring(f'<a b="{escaped(HOSTILE)}">{escaped(HOSTILE)}</a>')
    assert parsed.text == parsed.get("b") == HOSTILE.replace("\x1b", "\ufffd").replace("\x00", "\ufffd")


def test_a_surrogate_is_replaced():
    """Half a character can be read from JSON but not be written as UTF-8."""
    assert escaped("a\ud800b") == "a\ufffdb"


def test_bold_and_wide_text_needs_more_room():
    """Room is reserved by this estimate: bold names and capitals that it underrates would run into each other."""
    assert text_width("MMM", 12, bold=True) > text_width("MMM", 12) > text_width("iii", 12)
