"""The page in a real browser: what a reader does with it, by mouse, finger and keyboard, on a screen, a phone and paper."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.browser.chromium import SCREEN, Browser

CONTROL = 2
"""Bit of the control key in events."""
VISIBLE = "[...document.querySelectorAll('{}')].filter(found => found.checkVisibility()).map(found => found.id)"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def visible(browser: Browser, selector: str) -> list[str]:
    """Ids of what can be seen."""
    return browser.run(VISIBLE.format(selector))


def view(browser: Browser, run: str = "up") -> tuple[float, float]:
    """How far a chart is zoomed, and where its view begins, as the browser has them."""
    style = f"getComputedStyle(document.querySelector('#{run} .chart'))"
    return tuple(browser.run(f"['--zoom', '--from'].map(name => Number({style}.getPropertyValue(name)))"))


def ticks(browser: Browser, run: str = "up") -> Sequence[str]:
    """Labels on the axis of a chart."""
    return browser.run(f"[...document.querySelectorAll('#{run} .ticks text')].map(text => text.textContent)")


def card(browser: Browser) -> str:
    """What floats beside the pointer, empty where nothing does."""
    return browser.run("(card => card.hidden ? '' : card.innerText)(document.querySelector('.card'))")


def overflow(browser: Browser) -> int:
    """By how many pixels the page is wider than the screen."""
    return browser.run("document.documentElement.scrollWidth - innerWidth")


def zoomed(browser: Browser, path: Path) -> tuple[float, float]:
    """Open a page and zoom into its first chart; gives the place of the pointer."""
    browser.open(path)
    x, y = browser.place("#up .critical .lane", 0.6)
    browser.mouse("Wheel", x, y, deltaX=0, deltaY=-240, modifiers=CONTROL)
    return x, y


@pytest.mark.parametrize("phone", [False, True])
def test_nothing_fails_whatever_is_touched(browser: Browser, troubled: Path, tmp_path: Path, phone: bool):
    """A script that stops half-way leaves a page that looks whole and does nothing; and a strict policy must let it run."""
    strict = tmp_path / "strict.html"
    strict.write_text(troubled.read_text().replace("<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{POLICY}">'))
    browser.open(strict, phone=phone)
    touched = browser.run("[...document.querySelectorAll('button, summary, th, a, input')].map(found => found.click()).length")
    browser.settle()
    assert touched > 200
    assert browser.errors == []


def test_errors_would_be_seen(browser: Browser, tmp_path: Path):
    """The test above is worth as much as this one."""
    broken = tmp_path / "broken.html"
    broken.write_text("<script>console.error('said'); missing();</script>")
    browser.open(broken)
    assert any("said" in error for error in browser.errors)
    assert any("missing is not defined" in error for error in browser.errors)


def test_a_wheel_zooms_about_the_pointer_and_a_double_click_resets(browser: Browser, page: Path):
    """What a reader points at is what he wants to see larger: it must not run away."""
    browser.open(page)
    x, y = browser.place("#up .critical .lane", 0.6)
    whole = ticks(browser)
    browser.mouse("Wheel", x, y, deltaX=0, deltaY=-240, modifiers=CONTROL)
    zoom, start = view(browser)
    lane = browser.run("document.querySelector('#up .over').getBoundingClientRect().toJSON()")
    part = (x - lane["x"]) / lane["width"]
    assert zoom > 2
    assert start + part / zoom == pytest.approx(part, abs=0.001)
    assert ticks(browser) != whole
    browser.click(x, y, times=2)
    assert view(browser) == (1, 0)
    assert ticks(browser) == whole


def test_a_plain_wheel_scrolls_the_page_over_rows_and_zooms_over_the_axis(browser: Browser, page: Path):
    """A chart as high as the screen that ate the wheel would be a trap."""
    browser.open(page)
    x, y = browser.place("#up .critical .lane")
    browser.mouse("Wheel", x, y, deltaX=0, deltaY=-120)
    assert view(browser) == (1, 0)
    x, y = browser.place("#up .axis .lane")
    browser.mouse("Wheel", x, y, deltaX=0, deltaY=-120)
    assert view(browser)[0] > 1


def test_a_drag_pans_and_opens_nothing(browser: Browser, page: Path):
    """Letting go of a drag is a click to the browser."""
    x, y = zoomed(browser, page)
    before = view(browser)[1]
    browser.mouse("Pressed", x, y, button="left", buttons=1, clickCount=1)
    browser.mouse("Moved", x - 100, y, button="left", buttons=1)
    browser.mouse("Released", x - 100, y, button="left", clickCount=1)
    assert view(browser)[1] > before
    assert browser.run("document.querySelectorAll('.row[open]').length") == 0
    browser.click(x, y)
    assert browser.run("document.querySelectorAll('.row[open]').length") == 1


def test_buttons_zoom(browser: Browser, page: Path):
    """Not every mouse has a wheel."""
    browser.open(page)
    browser.click(*browser.place("#up [data-do=in]"))
    browser.click(*browser.place("#up [data-do=in]"))
    assert view(browser) == pytest.approx((2.25, 0.2778), abs=0.001)
    browser.click(*browser.place("#up [data-do=out]"))
    assert view(browser)[0] == pytest.approx(1.5)
    browser.click(*browser.place("#up [data-do=whole]"))
    assert view(browser) == (1, 0)


def test_the_keyboard_zooms_pans_walks_and_opens(browser: Browser, page: Path):
    """The chart can be read with the keyboard alone."""
    browser.open(page)
    browser.run("document.querySelector('#up [data-do=whole]').focus()")
    browser.press("Tab")
    browser.press("Tab")
    assert browser.run("document.activeElement.closest('.row').id") == visible(browser, "#up .row")[0]
    browser.press("+")
    browser.press("ArrowRight")
    zoom, start = view(browser)
    assert zoom == pytest.approx(1.5)
    assert start > 0.17
    browser.press("0")
    assert view(browser) == (1, 0)
    browser.press("ArrowDown")
    assert browser.run("document.activeElement.closest('.row').id") == visible(browser, "#up .row")[1]
    assert "type" in card(browser)
    browser.press("Escape")
    assert card(browser) == ""
    browser.press("Enter")
    assert browser.run("document.activeElement.closest('.row').open") is True


def test_pointing_at_a_step_tells_its_inputs_and_shows_what_it_waited_for(browser: Browser, troubled: Path):
    """Which step, why then, and with which inputs: the three questions to a bar."""
    browser.open(troubled)
    browser.mouse("Moved", *browser.place("#up .refused .lane", 0.9))
    shown = card(browser)
    wanted = ["trn1-32xl", "aws:eks/nodeGroup:NodeGroup", "InsufficientInstanceCapacity", "instanceTypes", "waited for", "fix"]
    assert [words for words in wanted if words not in shown] == []
    target = browser.run("document.querySelector('.card a').hash.slice(1)")
    assert target in browser.run("[...document.querySelectorAll('#up .waited')].map(row => row.id)")
    assert browser.run("document.querySelectorAll('#up .links line').length") > 2
    line, bar = (
        browser.run(f"document.querySelector('{found}').getBoundingClientRect().toJSON()")
        for found in ("#up .links line", "#up .refused .bar")
    )
    assert line["bottom"] == pytest.approx(bar["top"] + bar["height"] / 2, abs=1)
    assert line["right"] == pytest.approx(bar["left"], abs=2)
    browser.mouse("Moved", 5, 5)
    assert card(browser) == ""
    assert browser.run("document.querySelectorAll('.waited').length") == 0


def test_the_card_does_not_hide_what_it_explains(browser: Browser, troubled: Path):
    """A card over the pointer flickers, and covers the bar in question."""
    browser.open(troubled)
    for part in (0.1, 0.5, 0.9):
        x, y = browser.place("#up .refused .lane", part)
        browser.mouse("Moved", x, y)
        box = browser.run("document.querySelector('.card').getBoundingClientRect().toJSON()")
        assert not (box["left"] <= x <= box["right"] and box["top"] <= y <= box["bottom"])
        assert box["left"] >= 0
        assert box["right"] <= SCREEN[0]


def test_following_a_link_shows_a_step_that_was_not_drawn(browser: Browser, page: Path):
    """What was waited for may have been quick: it must not stay hidden."""
    browser.open(page)
    found = browser.run(
        "(link => { link.closest('.row').open = true; link.id = 'tried'; return link.hash.slice(1); })"
        "([...document.querySelectorAll('#up .row:not(.quick) dl a')].find(a => document.querySelector(a.hash).matches('.quick')))"
    )
    assert found not in visible(browser, "#up .row")
    browser.click(*browser.place("#tried"))
    assert found in visible(browser, "#up .row")
    assert browser.run("document.activeElement.closest('.row').id") == found


def test_the_line_under_the_pointer_reads_time_and_money(browser: Browser, page: Path):
    """At its end a run has spent what the report says."""
    browser.open(page)
    browser.mouse("Moved", *browser.place("#up .cost .lane", 0.999))
    assert "43.82 USD/h, 5.63 spent" in browser.run("document.querySelector('#up .readout').textContent")


def test_tabs_switch_runs_by_mouse_and_keyboard(browser: Browser, troubled: Path):
    """One run at a time is calm; the others are one step away."""
    browser.open(troubled)
    assert visible(browser, ".run") == ["up"]
    browser.click(*browser.place("#destroy-tab"))
    assert visible(browser, ".run") == ["destroy"]
    browser.press("ArrowLeft")
    assert visible(browser, ".run") == ["up-again"]
    assert browser.run("[...document.querySelectorAll('[aria-selected=true]')].map(tab => tab.id)") == ["up-again-tab"]


def test_what_went_wrong_leads_to_its_run(browser: Browser, troubled: Path):
    """Its run may be hidden behind a tab."""
    browser.open(troubled)
    browser.click(*browser.place(".then a"))
    browser.settle()
    assert visible(browser, ".run") == ["up-again"]


def test_the_switch_shows_every_step(browser: Browser, page: Path):
    """Three seconds is our taste."""
    browser.open(page)
    few = len(visible(browser, "#up .row"))
    browser.click(*browser.place("#up .every"))
    assert len(visible(browser, "#up .row")) > 2 * few
    reached = "document.querySelector('#up .row summary[tabindex=\"0\"]').checkVisibility()"
    assert browser.run(reached)
    browser.click(*browser.place("#up .every"))
    assert len(visible(browser, "#up .row")) == few
    assert browser.run(reached)


def test_a_phone_shows_all_without_scrolling_sideways(browser: Browser, troubled: Path):
    """On-call engineers open it on a phone."""
    browser.open(troubled, phone=True)
    for run in ("up", "up-again", "destroy"):
        browser.run(f"document.getElementById('{run}-tab').click()")
        browser.settle()
        assert visible(browser, ".run") == [run]
        assert overflow(browser) <= 0
        assert 2 <= len(ticks(browser, run)) <= 4


def test_a_tap_opens_a_step_on_a_phone(browser: Browser, troubled: Path):
    """There is no pointer to hover with."""
    browser.open(troubled, phone=True)
    browser.touch("Start", browser.place("#up .refused summary"))
    browser.touch("End")
    assert browser.run("document.querySelector('#up .refused').open") is True
    assert "InsufficientInstanceCapacity" in browser.run("document.querySelector('#up .refused dl').innerText")
    assert card(browser) == ""
    assert overflow(browser) <= 0


def test_two_fingers_zoom_and_one_pans(browser: Browser, page: Path):
    """A phone has neither wheel nor keys, and the bars on it are short."""
    browser.open(page, phone=True)
    x, y = browser.place("#up .critical ~ .critical .lane")
    browser.touch("Start", (x - 30, y), (x + 30, y))
    for spread in (45, 60, 75, 90):
        browser.touch("Move", (x - spread, y), (x + spread, y))
    browser.touch("End")
    zoom, start = view(browser)
    assert zoom > 2
    browser.touch("Start", (x, y))
    for by in (20, 40, 60, 80):
        browser.touch("Move", (x - by, y))
    browser.touch("End")
    assert view(browser) == (zoom, pytest.approx(start + 80 / 312 / zoom, abs=0.1))
    assert view(browser)[1] > start


def test_touch_targets_are_large_enough(browser: Browser, page: Path):
    """Source: WCAG 2.2, success criterion 2.5.8: 24 pixels at least."""
    browser.open(page, phone=True)
    browser.place("#up .rows")
    low = browser.run(
        "[...document.querySelectorAll('.tabs button, .run.current .row, .more summary, .run.current button, .run.current label')]"
        ".filter(found => found.checkVisibility()).map(found => found.getBoundingClientRect().height)"
    )
    assert min(low) >= 24


def test_paper_shows_every_run_from_its_start_and_nothing_to_press(browser: Browser, troubled: Path):
    """A sheet cannot be switched, zoomed or hovered over, and is white whatever the screen was."""
    browser.open(troubled, prefers_color_scheme="dark")
    x, y = browser.place("#up .critical .lane")
    browser.mouse("Wheel", x, y, deltaX=0, deltaY=-240, modifiers=CONTROL)
    browser.media("print", prefers_color_scheme="dark")
    assert visible(browser, ".run") == ["up", "up-again", "destroy"]
    assert visible(browser, "button, input, .card, .tabs") == []
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.run("parseFloat(getComputedStyle(document.querySelector('#up .row .time')).marginLeft)") == 0
    assert browser.pdf().startswith(b"%PDF")
    browser.media("")


def test_printing_draws_the_whole_axis_again(browser: Browser, page: Path):
    """Labels are drawn for the view: those of a zoomed one would stand on an axis that is whole."""
    zoomed(browser, page)
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert ticks(browser)[0] == "0 s"
    assert ticks(browser)[-1] == "15 min"
    assert view(browser) == (1, 0)


def test_dark_mode_is_dark(browser: Browser, page: Path):
    """White pages hurt in a dark room."""
    browser.open(page, prefers_color_scheme="dark")
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(15, 20, 27)"
    assert browser.run("getComputedStyle(document.querySelector('.network .paper')).fill") == "rgb(15, 20, 27)"


def test_nothing_moves_for_who_asked_for_less_motion(browser: Browser, page: Path):
    """Scrolling that glides makes some people sick."""
    smooth = "getComputedStyle(document.documentElement).scrollBehavior"
    browser.open(page, prefers_reduced_motion="no-preference")
    assert browser.run(smooth) == "smooth"
    browser.open(page, prefers_reduced_motion="reduce")
    assert browser.run(smooth) == "auto"


@pytest.mark.parametrize("phone", [False, True])
def test_without_its_script_the_page_shows_every_run(browser: Browser, troubled: Path, tmp_path: Path, phone: bool):
    """Reviews and mail programs strip scripts: what is left must be whole, and show nothing that does nothing."""
    html = troubled.read_text()
    bare = tmp_path / "bare.html"
    bare.write_text(html[: html.index("<script>")] + "</body></html>")
    browser.open(bare, phone=phone)
    assert visible(browser, ".run") == ["up", "up-again", "destroy"]
    assert visible(browser, "button, input[type=search]") == []
    assert browser.run("document.querySelector('#up .refused .bar').getBoundingClientRect().width") > 100
    assert len(ticks(browser)) > 2
    assert overflow(browser) <= 0
    browser.click(*browser.place("#up .refused summary"))
    assert "instanceTypes" in browser.run("document.querySelector('#up .refused dl').innerText")
    browser.click(*browser.place("#up .every"))
    assert len(visible(browser, "#up .row")) > 60


def test_a_large_stack_draws_what_matters_and_still_zooms(browser: Browser, large: Path):
    """A thousand rows are drawn only for who asks; then they must still move."""
    browser.open(large)
    assert len(visible(browser, "#up .row")) == 100
    browser.click(*browser.place("#up .every"))
    assert len(visible(browser, "#up .row")) == 1000
    x, y = browser.place("#up-500 .lane", 0.5)
    browser.mouse("Wheel", x, y, deltaX=0, deltaY=-240, modifiers=CONTROL)
    assert view(browser)[0] > 2
    assert browser.errors == []


def test_the_table_filters_and_sorts(browser: Browser, page: Path):
    """The one place where every step can be found by name."""
    browser.open(page)
    browser.run("document.querySelector('.all-steps').open = true")
    browser.click(*browser.place("#filter"))
    for letter in "queue-":
        browser.press(letter)
    rows = "[...document.querySelectorAll('#resources tbody tr')].filter(row => row.checkVisibility()).map(row => row.cells[0].textContent)"
    assert len(browser.run(rows)) == 2
    browser.run("(box => { box.value = ''; box.dispatchEvent(new Event('input')); })(document.getElementById('filter'))")
    browser.click(*browser.place("#resources th:nth-child(5)"))
    browser.click(*browser.place("#resources th:nth-child(5)"))
    assert browser.run(rows)[0] == "control-plane-eksCluster"
