"""The one picture of a cluster: what flows on a page has its place in a picture, and no text leaves its box."""

import re
from xml.etree import ElementTree

from report.boxes import PAD, SIZE, Box, svg
from report.inventory import Inventory
from report.page import page_html
from report.text import text_width
from tests.report.builders import HOSTILE, recording, report
from tests.simulator.account.standing import recording as dev_recording

SVG = "{http://www.w3.org/2000/svg}"
Rect = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def rects(root: ElementTree.Element) -> list[Rect]:
    """Every box."""
    found = [[float(rect.attrib[key]) for key in ("x", "y", "width", "height")] for rect in root.iter(f"{SVG}rect")]
    return [(x, y, x + width, y + height) for x, y, width, height in found]


def is_within(a: Rect, b: Rect) -> bool:
    """Whether one box lies in another, but for what rounding makes of it."""
    return a[0] >= b[0] - 0.2 and a[1] >= b[1] - 0.2 and a[2] <= b[2] + 0.2 and a[3] <= b[3] + 0.2


def test_a_page_and_a_picture_show_the_same():
    """They are two drawings of one model: what only one of them shows, its reader would miss in the other."""
    made = recording()
    page = page_html(report(), made).partition('id="cluster">')[2].partition("</section>")[0]
    picture = svg("", "", Inventory(made).picture()).partition("</style>")[2]
    words = [sorted(" ".join(re.findall(r">([^<>]+)<", drawn)).split()) for drawn in (page, picture)]
    assert words[0] == words[1]


def test_no_text_leaves_its_box_and_no_box_another():
    """As far as the widths of letters are known."""
    root = ElementTree.fromstring(svg("", "", Inventory(dev_recording()).picture()))
    boxes = rects(root)
    for text in root.iter(f"{SVG}text"):
        x, y = float(text.attrib["x"]), float(text.attrib["y"])
        inner = min((rect for rect in boxes if is_within((x, y, x, y), rect)), key=lambda rect: rect[2] - rect[0])
        assert x + text_width(text.text or "", SIZE, bold="title" in text.attrib.get("class", "")) <= inner[2] - PAD + 1, text.text
        assert y < inner[3]
    for number, a in enumerate(boxes):
        for b in boxes[number + 1 :]:
            overlap = a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
            assert not overlap or is_within(b, a)


def test_what_is_side_by_side_is_aligned():
    """Subnets of one role begin and end at one height, and so do the boxes of a row."""
    zones = [Box("zone", "a", cells=[Box("subnet", "1", ["x"]), None]), Box("zone", "b", cells=[Box("subnet", "2"), Box("subnet", "3")])]
    _, a, first, b, second, third = rects(ElementTree.fromstring(svg("", "", [[Box("vpc", "v", columns=zones)]])))
    assert (a[1], a[3]) == (b[1], b[3])
    assert (first[1], first[3]) == (second[1], second[3])
    assert third[1] > second[3]


def test_a_long_line_is_broken_and_a_long_row_of_small_boxes_too():
    """What does not fit would be cut off by the edge of the picture."""
    root = ElementTree.fromstring(svg("", "", [[Box("plain", "t", ["word " * 100], [Box("plain", "chip" * 6)] * 12)]]))
    outer, *chips = rects(root)
    assert len(list(root.iter(f"{SVG}text"))) > 1 + 12 + 3
    assert len({chip[1] for chip in chips}) > 1
    assert all(is_within(chip, outer) for chip in chips)


def test_hostile_words_are_text_in_the_picture():
    """They are text in the picture, and no markup."""
    made = svg(HOSTILE, HOSTILE, [[Box("plain", HOSTILE, [HOSTILE])]])
    ElementTree.fromstring(made)
    assert "<script" not in made
