"""Main states of the pages, compared by structure: nothing overlaps, nothing is cut, contrast, targets, order of the keyboard.

Each rule is tried on a page that breaks it: a check that cannot fail proves nothing.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from tests.browser.chromium import Browser

SCRIPT = (Path(__file__).parent / "structure.js").read_text()
WIDTHS = (1280, 768, 360)
OPENED = "document.querySelectorAll('.run.current details').forEach(found => { found.open = true; })"
SEARCHED = "(box => { box.value = 'network'; box.dispatchEvent(new Event('input')); })(document.getElementById('search'))"


def wrong(browser: Browser) -> Mapping[str, Sequence[str]]:
    """What breaks a rule, by rule; rules that hold are left out."""
    # What is far out of sight is not laid out until it is scrolled to: here all of it is in sight.
    browser.stretch()
    return {rule: found for rule, found in browser.run(SCRIPT).items() if found}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("name", ["page", "troubled", "changed", "long_names", "hostile", "watched"])
def test_every_page_keeps_the_rules_on_every_screen(browser: Browser, name: str, colours: str, width: int, request: pytest.FixtureRequest):
    """As it is opened: folded to what matters, on a screen, a tablet and a phone, by day and by night."""
    browser.open(request.getfixturevalue(name), width=width, prefers_color_scheme=colours)
    assert wrong(browser) == {}
    assert browser.errors == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("script", [OPENED, SEARCHED], ids=["opened", "searched"])
@pytest.mark.parametrize("name", ["page", "troubled", "changed"])
def test_unfolded_and_searched_pages_keep_them_too(browser: Browser, name: str, script: str, width: int, request: pytest.FixtureRequest):
    """Details are where the long words are."""
    browser.open(request.getfixturevalue(name), width=width)
    browser.run(script)
    assert wrong(browser) == {}
    assert browser.errors == []


@pytest.mark.parametrize("name", ["page", "troubled", "changed"])
def test_every_run_keeps_them(browser: Browser, name: str, request: pytest.FixtureRequest):
    """Only one of them is seen when the page opens."""
    browser.open(request.getfixturevalue(name), width=360)
    tabs = browser.run("document.querySelectorAll('[role=tab]').length")
    for index in range(tabs):
        browser.run(f"document.querySelectorAll('[role=tab]')[{index}].click()")
        assert wrong(browser) == {}
    assert tabs > 1


@pytest.mark.parametrize("name", ["page", "troubled", "changed"])
def test_paper_keeps_them(browser: Browser, name: str, request: pytest.FixtureRequest):
    """A4 without its margins is 688 pixels wide; targets do not matter there, since there is nothing to press."""
    browser.open(request.getfixturevalue(name), width=688, prefers_color_scheme="dark")
    browser.run("dispatchEvent(new Event('beforeprint'))")
    browser.media("print", prefers_color_scheme="dark")
    found = {rule: places for rule, places in wrong(browser).items() if rule != "targets"}
    browser.media("")
    assert found == {}


BROKEN = {
    "overflow": "<p style='width:3000px;white-space:nowrap'>" + "wide " * 200 + "</p>",
    "cut": "<p style='width:60px;overflow:hidden;white-space:nowrap'>cut in the middle of it</p>",
    "overlap": "<p>one line of text</p><p style='margin-top:-30px'>another line of text</p>",
    "contrast": "<p style='color:#999'>grey on white</p>",
    "controls": "<div class=tools><button style='border:1px solid #eee;width:40px;height:40px'>x</button></div>",
    "targets": "<button style='height:12px;font-size:8px;padding:0'>too small</button>",
    "names": "<button style='width:40px;height:40px'></button>",
    "broken": "<p style='width:40px;overflow-wrap:anywhere'>replaced</p>",
}


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_rule_is_seen(browser: Browser, tmp_path: Path, rule: str):
    """The tests above are worth as much as this one."""
    path = tmp_path / "broken.html"
    path.write_text(f"<!doctype html><meta name=viewport content='width=device-width'><body>{BROKEN[rule]}")
    browser.open(path, width=1280)
    assert set(wrong(browser)) == {rule}


@pytest.mark.parametrize(
    ("rule", "style"),
    [
        ("cut", ".name{overflow:hidden;white-space:nowrap;width:90px}"),
        ("overlap", ".rows summary{height:9px;min-height:0}"),
        ("contrast", ":root{--muted:#a0a8b4}"),
        ("controls", ":root{--bar:#e5e9ee}"),
        ("overflow", "table{min-width:900px}"),
        ("broken", ".figure{width:60px}"),
        ("targets", ".tools button{height:18px;min-height:0!important}"),
    ],
)
def test_one_wrong_line_of_style_is_seen(browser: Browser, page: Path, rule: str, style: str):
    """As a slip in the page's own style would be."""
    browser.open(page, width=360)
    browser.run(f"document.head.append(Object.assign(document.createElement('style'), {{textContent: `{style}`}}))")
    assert rule in wrong(browser)


@pytest.mark.parametrize("name", ["page", "troubled", "changed"])
def test_the_tab_key_goes_through_the_page_in_the_order_of_reading(browser: Browser, name: str, request: pytest.FixtureRequest):
    """Each stop is seen, is below or beside the one before, and has a ring; the charts are one stop each."""
    browser.open(request.getfixturevalue(name), width=1280)
    stops = []
    for _ in range(120):
        browser.press("Tab")
        stop = browser.run(
            "(e => e === document.body ? null : (r => [e.textContent.slice(0, 30) || e.id, r.top + scrollY, r.left, "
            "getComputedStyle(e).outlineStyle, e.checkVisibility()])(e.getBoundingClientRect()))(document.activeElement)"
        )
        if stop is None or (stops and stop == stops[0]):
            break
        stops.append(stop)
    assert len(stops) > 8
    assert {stop[3] for stop in stops} == {"solid"}
    assert all(stop[4] for stop in stops)
    for before, after in pairwise(stops):
        assert after[1] > before[1] - 12 or after[2] > before[2], f"{after[0]} comes after {before[0]}"
    labels = [stop[0] for stop in stops]
    assert sum(1 for label in labels if label.startswith(("Network", "Nodes"))) == 1
