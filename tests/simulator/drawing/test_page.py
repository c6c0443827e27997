"""Laws of the page: it stands alone, tells what a reader judges by, and hides nothing bad."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

from simulator.drawing.page import page_html
from tests.simulator.drawing.builders import CLUSTER, HOSTILE, VPC, cost_line, deletion, recording, report, resource


class _Links(HTMLParser):
    """Collects every address that a browser would load or follow, and the text of each red element."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.red: list[str] = []
        self.tags: list[str] = []
        self._in_red = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the tag and its addresses."""
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "action", "data", "srcset", "xlink:href")]
        self._in_red = "bad" in (dict(attrs).get("class") or "").split()

    def handle_endtag(self, tag: str) -> None:
        """Red ends with its element."""
        self._in_red = False

    def handle_data(self, data: str) -> None:
        """Note red text."""
        if self._in_red:
            self.red.append(data)


def read(page: str) -> _Links:
    """The page as a browser sees it."""
    links = _Links()
    links.feed(page)
    return links


def test_the_page_loads_nothing():
    """It is opened from a file or attached to a review, often without a network; and nobody should learn that it was opened."""
    page = page_html(report(), recording())
    assert read(page).addresses == []
    assert not re.search(r"https?:", page.replace("http://www.w3.org/2000/svg", ""))
    assert "@import" not in page
    assert "url(" not in page


def test_both_pictures_parse_as_xml():
    """A browser forgives broken markup in a page, but not in the same picture saved to a file."""
    found = re.findall(r"<svg.*?</svg>", page_html(report(), recording()), flags=re.DOTALL)
    assert [ElementTree.fromstring(svg).get("class") for svg in found] == ["timeline", "network"]


def test_the_four_figures_are_there():
    """Time, money, time again, and what stays: the questions that a rehearsal answers."""
    page = page_html(report(), recording())
    figures = ("17 min 45 s", "5.3 % above the lower bound", "USD 43.82", "1,051.62 per day", "580.79 per month", "14 min 10 s", "nothing")
    assert [figure for figure in figures if figure not in page] == []


def test_a_leftover_shows_in_red_words():
    """What stays behind costs money every hour; it must catch the eye without a search."""
    red = read(page_html(report(leftovers=["final backup of fs-1"]), recording())).red
    assert "1 thing" in red
    assert "final backup of fs-1" in red


def test_nothing_is_red_when_nothing_is_wrong():
    """Red that is always there is not read."""
    assert read(page_html(report(), recording())).red == []


def test_a_refusal_is_told_in_the_services_words():
    """The code is what a reader searches for."""
    answer = "DependencyViolation: The subnet 'subnet-1' has dependencies and cannot be deleted."
    assert answer in read(page_html(report(deletions=[deletion(VPC, "network", 0, 1, error=answer)]), recording())).red


def test_doubtful_and_missing_prices_are_marked():
    """A sum with a guess in it must not look like a sum of quotes."""
    page = page_html(
        report(costs=[cost_line("KMS key", 0.0014, verified=False), cost_line("trn2u.48xlarge", None, verified=False)]), recording()
    )
    assert page.count("price not verified") == 1
    assert "no list price" in page


def test_hostile_names_are_escaped_everywhere():
    """Stack, notices, resources, costs and leftovers all carry text from a configuration file."""
    page = page_html(
        report(
            stack=HOSTILE,
            notices=[HOSTILE],
            leftovers=[HOSTILE],
            costs=[cost_line(HOSTILE, 1.0)],
            resources=[resource(HOSTILE, HOSTILE, 0, 10, error=HOSTILE)],
            deletions=[deletion(HOSTILE, HOSTILE, 0, 10)],
        ),
        recording(groups=[(HOSTILE, "use2-az1")]),
    )
    assert read(page).tags.count("script") == 1


def test_every_resource_and_every_level_has_its_row():
    """The pictures leave out what is quick; the tables are where everything can be found."""
    page = page_html(report(deletions=[deletion(CLUSTER, "control-plane", 0, 9, level=7)]), recording())
    assert "<td>quick</td>" in page
    assert '<td class="number">7</td>' in page


def test_the_page_says_that_it_is_a_simulation():
    """Someone who is sent the page alone must not take its times for measurements."""
    assert "This is a simulation" in page_html(report(), recording())


def test_equal_reports_give_equal_bytes():
    """The page can be kept and compared: it holds no time of day and no chance."""
    assert page_html(report(), recording()) == page_html(report(), recording())


def test_an_empty_rehearsal_has_a_page():
    """Nothing to divide by, nothing to draw: still a page."""
    assert "nothing" in page_html(report(resources=[], deletions=[]), recording(groups=()))
