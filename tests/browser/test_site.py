"""The docs site in a real browser, opened as a file: it loads nothing from elsewhere, is searched without a server, and fits a phone."""

from pathlib import Path

import pytest

from tests.browser.chromium import Browser
from tests.support import ROOT

SITE = ROOT / "build" / "site"
LOADED = "performance.getEntriesByType('resource').map(entry => entry.name).filter(name => !name.startsWith('file:') && !name.startsWith('data:'))"
RESULTS = """new Promise(done => {
  const look = () => {
    const found = [...document.querySelectorAll('.md-search-result__link')].map(link => link.href);
    found.length ? done(found) : setTimeout(look, 50);
  };
  const field = document.querySelector('.md-search__input');
  field.focus();
  field.value = 'placement group';
  field.dispatchEvent(new Event('input', { bubbles: true }));
  field.dispatchEvent(new KeyboardEvent('keyup', { bubbles: true }));
  look();
})"""


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """It is built by `make docs-site`, which needs the package registry once."""
    if not (SITE / "index.html").is_file():
        pytest.skip("there is no build/site: `make docs-site` builds it")


@pytest.mark.parametrize("name", ["index.html", "configuration.html", "recipes/bert.html"])
def test_a_page_loads_nothing_from_elsewhere_and_makes_no_error(browser: Browser, name: str):
    """No fonts, no scripts, no counters."""
    browser.open(SITE / name)
    assert browser.run(LOADED) == []
    assert browser.errors == []


def test_search_finds_a_key_without_a_server(browser: Browser):
    """A browser starts no worker for a page that is a file."""
    browser.open(SITE / "index.html")
    found = browser.run(RESULTS)
    assert any("configuration.html" in link for link in found)
    assert all(Path(link.removeprefix("file://").partition("?")[0].partition("#")[0]).is_file() for link in found)


@pytest.mark.parametrize("name", ["index.html", "configuration.html", "changes.html"])
def test_no_page_is_wider_than_a_phone(browser: Browser, name: str):
    """Tables and code scroll inside the page."""
    browser.open(SITE / name, phone=True)
    assert browser.run("document.documentElement.scrollWidth - innerWidth") <= 0


def test_dark_is_dark():
    """As the system says, to a reader who has chosen nothing: a browser of its own, since a choice is kept."""
    with Browser() as fresh:
        fresh.open(SITE / "index.html", prefers_color_scheme="dark")
        assert fresh.run("document.body.dataset.mdColorScheme") == "slate"
