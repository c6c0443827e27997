"""The docs site has every page, in a place that its menu shows, and needs nothing from elsewhere."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import ROOT
from tools.pages import site


class _Loader(yaml.SafeLoader):
    """Reads mkdocs.yml, in which Python objects are named."""


_LINK = re.compile(r"\]\(([^)\s]+)\)")
_Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: suffix)
SETTINGS: dict[str, Any] = yaml.load((ROOT / "mkdocs.yml").read_text(), _Loader)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pages as they are laid out."""
    folder = tmp_path_factory.mktemp("site") / "pages"
    site.lay_out(folder)
    return folder


def in_menu(entries: Any) -> Iterator[str]:
    """Pages of the menu, in its order."""
    for entry in entries:
        for value in entry.values():
            yield from in_menu(value) if isinstance(value, list) else [value]


def test_every_page_is_in_the_menu_once():
    """A page that no menu shows is not found."""
    named = list(in_menu(SETTINGS["nav"]))
    written = {name for name in site.written() if name.endswith(".md")}
    assert sorted(written - set(named)) == [], "add them to `nav` in mkdocs.yml"
    assert sorted(named) == sorted(written)


def test_tasks_come_before_reference():
    """A reader has a question first, and looks keys up later."""
    sections = [next(iter(entry)) for entry in SETTINGS["nav"]]
    assert sections.index("Reference") > max(sections.index(name) for name in ("Before it costs money", "The cluster", "Training"))
    tasks = [title for entry in SETTINGS["nav"] if next(iter(entry)) != "Reference" for title in titles(entry)]
    assert all(title.endswith("?") for title in tasks if title not in sections and "recipes/" not in str(page_of(title)))


def titles(entry: Any) -> Iterator[str]:
    """Titles of a part of the menu."""
    for title, value in entry.items():
        yield title
        for inner in value if isinstance(value, list) else ():
            yield from titles(inner)


def page_of(title: str) -> str | None:
    """The page with a title."""

    def found(entries: Any) -> Iterator[str]:
        for entry in entries:
            for name, value in entry.items():
                if isinstance(value, list):
                    yield from found(value)
                elif name == title:
                    yield value

    return next(found(SETTINGS["nav"]), None)


def test_links_lead_within_the_site(pages: Path):
    """To pages, pictures, and files of the program, which are in it too."""
    count = 0
    for page in pages.rglob("*.md"):
        for link in _LINK.findall(re.sub(r"`[^`]*`|```.*?```", "", page.read_text(), flags=re.DOTALL)):
            if "://" not in link and not link.startswith(("#", "mailto:")):
                target = (page.parent / link.partition("#")[0]).resolve()
                assert target.is_file(), (page, link)
                assert target.is_relative_to(pages), (page, link)
                count += 1
    assert count > 60
    assert [path.suffix for path in (pages / site.SOURCE).rglob("*") if path.is_file()]


def test_the_readme_is_the_first_page(pages: Path):
    """Its links begin at the root on GitHub, and here in docs/."""
    text = (pages / "index.md").read_text()
    assert "](recovery.md)" in text
    assert "docs/recovery.md)" not in text
    assert "](../index.md" not in text


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("[a](../stacks/settings.py#L3)", "[a](source/stacks/settings.py#L3)"),
        ("[jobs](jobs.md#how-do-i-end-a-job)", "[jobs](jobs.md#how-do-i-end-a-job)"),
        ("[the README](../README.md#x) and [the folder](../stacks)", "[the README](index.md#x) and the folder"),
        ("[a](https://example.com/x) [b](#here)", "[a](https://example.com/x) [b](#here)"),
        ('<img src="architecture.svg" alt="x">', '<img src="architecture.svg" alt="x">'),
        ("```\n[a](../stacks)\n```\n[a](../stacks)", "```\n[a](../stacks)\n```\na"),
    ],
)
def test_a_link_leads_to_the_same_place_as_on_github(text: str, moved: str):
    """Within docs/ it stays as it is; folders of the program have no page; code is no link."""
    assert site.moved(text, ROOT / "docs" / "bundle.md")[0] == moved


def test_nothing_is_loaded_from_elsewhere():
    """No fonts, no scripts: the search works from files, by a script of our own where browsers start no worker."""
    assert SETTINGS["theme"]["font"] is False
    assert {"search", "offline"} <= set(SETTINGS["plugins"])
    assert SETTINGS["extra"]["polyfills"] == ["javascripts/iframe-worker.js"]
    assert "https://" not in (ROOT / "docs-site/javascripts/iframe-worker.js").read_text() + (ROOT / "docs-site/extra.css").read_text()
    assert SETTINGS["validation"]["anchors"] == "warn"


def test_its_tools_are_pinned():
    """The version is in one place, and the file of hashes has the same."""
    (wanted,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["docs"]
    lock = (ROOT / "docs-site/requirements.lock").read_text()
    assert f"\n{wanted} " in lock
    assert all("--hash=sha256:" in part for part in re.split(r"^(?=[a-z])", lock, flags=re.MULTILINE)[1:])
