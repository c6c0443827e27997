"""What every template relies on: values are escaped, and what XML forbids is not written."""

import subprocess
import sys
from xml.etree import ElementTree

import pytest
from jinja2 import UndefinedError

from report.templating import rendered
from report.text import text_width
from tests.report.builders import HOSTILE
from tests.support import ROOT


def frame(title: str) -> str:
    """The frame of all pages around nothing."""
    return rendered("document.html", title=title)


def test_values_are_escaped_and_keep_what_xml_allows():
    """A name comes from a configuration file and may hold anything; one bad character would make a picture unreadable."""
    found = rendered("boxes.svg", heading=HOSTILE, words="", drawn=(), width=1, height=1, pad=1, line=1, title=1, size=1)
    texts = [text.text for text in ElementTree.fromstring(found).iter("{http://www.w3.org/2000/svg}text")]
    assert texts == [HOSTILE.replace("\x1b", "\ufffd").replace("\x00", "\ufffd")]


@pytest.mark.parametrize("forbidden", ["\x00", "\x0b", "\x1f", "\ud800", "\ufffe", "\uffff"])
def test_what_xml_forbids_is_replaced(forbidden: str):
    """Half a character, for one, can be read from JSON but not be written as UTF-8."""
    assert "<title>a\ufffdb</title>" in frame(f"a{forbidden}b")


@pytest.mark.parametrize("allowed", ["\t", "\n", "\r", " ", "\x7f", "\ud7ff", "\ue000", "\ufffd", "\U00010000", "\U0010ffff"])
def test_what_xml_allows_is_kept(allowed: str):
    """Names in other scripts, for one."""
    assert f"<title>a{allowed}b</title>" in frame(f"a{allowed}b")


def test_a_value_that_is_not_given_is_an_error():
    """An empty place on a page would say that there is nothing."""
    with pytest.raises(UndefinedError, match="title"):
        rendered("document.html")


def test_the_templates_engine_is_loaded_where_a_page_is_drawn():
    """Most runs of a command draw none."""
    script = (
        "import sys, report.page, report.timeline, report.boxes, trn.rehearsal.files, trn.jobs.watch.page; print('jinja2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "False\n"


def test_bold_and_wide_text_needs_more_room():
    """Room is reserved by this estimate: bold names and capitals that it underrates would run into each other."""
    assert text_width("MMM", 12, bold=True) > text_width("MMM", 12) > text_width("iii", 12)
