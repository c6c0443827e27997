"""Links of the README and of all pages lead to a file that is there, and to a heading that the file has."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import ROOT

PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))
_LINK = re.compile(r"\]\(([^)\s]+)\)|\b(?:src|srcset|href)=\"([^\"]+)\"")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")


def lines(page: str) -> Iterator[str]:
    """Lines of a page outside of code."""
    is_code = False
    for line in (ROOT / page).read_text().splitlines():
        if re.match(r"\s*(```|~~~)", line):
            is_code = not is_code
        elif not is_code:
            yield line


def links(page: str) -> list[str]:
    """Targets of all links and pictures; what is in backticks is code."""
    return [target for line in lines(page) for found in _LINK.findall(re.sub(r"`[^`]*`", "", line)) for target in found if target]


def anchors(page: str) -> set[str]:
    """Anchors of all headings, as GitHub makes them: small letters, hyphens for blanks, no punctuation, a number for the second of a name."""
    made, counts = set[str](), dict[str, int]()
    for line in lines(page):
        if heading := _HEADING.match(line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            slug = re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")
            counts[slug] = counts.get(slug, -1) + 1
            made.add(slug if not counts[slug] else f"{slug}-{counts[slug]}")
    return made


def broken(page: str) -> Iterator[str]:
    """Links of a page that lead nowhere."""
    for link in links(page):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        if not target.exists() or (anchor and anchor not in anchors(target.resolve().relative_to(ROOT).as_posix())):
            yield link


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_a_file_and_a_heading(page: str):
    """A reader who is sent nowhere stops reading."""
    assert list(broken(page)) == []


@pytest.mark.parametrize("page", PAGES)
def test_links_to_the_world_are_encrypted(page: str):
    """And are whole addresses."""
    assert [link for link in links(page) if "://" in link and not re.fullmatch(r"https://[\w.-]+\.\w+(/\S*)?", link)] == []


def test_there_are_links_to_be_checked():
    """A pattern that finds none would pass."""
    assert sum(len(links(page)) for page in PAGES) > 80
    assert sum("#" in link for page in PAGES for link in links(page)) > 5


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A file that is not there, and a heading that is another one."""
    (tmp_path / "a.md").write_text(
        "# One `two`?\n## Two\n## Two\n[a](b.md) [b](a.md#one-two) [c](a.md#two-1) [d](#three)\n```\n[x](y)\n```\n"
    )
    monkeypatch.setattr("tests.tools.pages.test_links.ROOT", tmp_path)
    assert list(broken("a.md")) == ["b.md", "#three"]
