"""Lays out the pages of the docs site: docs/ and the README side by side, with links that lead within the site.

On GitHub the README is above docs/, and pages link to files of the program. In the site the README is the first page, and the files
that pages link to lie in `source/`.
"""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parent.parent.parent
PAGES = ROOT / "build" / "site-pages"
THEME = ROOT / "docs-site"
FRONT, SOURCE = "index.md", "source"
OUTSIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
"""Pages that are not in docs/."""
_LINK = re.compile(r"(?P<text>\[(?:[^\[\]]|\[[^\]]*\])*\])\((?P<target>[^)\s]+)\)")
_ATTRIBUTE = re.compile(r"(?P<before>\b(?:src|srcset|href)=\")(?P<target>[^\"]+)(?P<after>\")")
_FENCE = re.compile(r"^\s*(```|~~~)")


def written(root: Path = ROOT) -> dict[str, Path]:
    """All pages by their name in the site."""
    pages = {FRONT if name == "README.md" else name: root / name for name in OUTSIDE}
    docs = sorted(path for path in (root / "docs").rglob("*") if path.is_file())
    return pages | {path.relative_to(root / "docs").as_posix(): path for path in docs}


def moved(text: str, page: Path, root: Path = ROOT) -> tuple[str, set[Path]]:
    """A page with the links that it has in the site, and the files of the program that it links to."""
    linked = set[Path]()

    def link(found: "re.Match[str]") -> str:
        target = _target(found["target"], page, root, linked)
        return found["text"] + f"({target})" if target is not None else found["text"][1:-1]

    def attribute(found: "re.Match[str]") -> str:
        return f"{found['before']}{_target(found['target'], page, root, linked) or ''}{found['after']}"

    lines = [line if is_code else _ATTRIBUTE.sub(attribute, _LINK.sub(link, line)) for line, is_code in _lines(text)]
    return "\n".join(lines), linked


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Lines, and whether each is code: what looks like a link there is none."""
    is_code = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            is_code = not is_code
            yield line, True
        else:
            yield line, is_code


def _target(target: str, page: Path, root: Path, linked: set[Path]) -> str | None:
    """Where a link leads in the site; None for a folder of the program, which has no page."""
    path, mark, anchor = target.partition("#")
    if "://" in target or target.startswith("mailto:") or not path:
        return target
    wanted = Path(os.path.normpath(page.parent / path))
    if wanted.is_dir():
        return None
    place = _place(wanted, root)
    if place.startswith(f"{SOURCE}/"):
        linked.add(wanted)
    return f"{os.path.relpath(place, PurePosixPath(_place(page, root)).parent)}{mark}{anchor}"


def _place(path: Path, root: Path) -> str:
    """Name of a file in the site."""
    inside = path.relative_to(root).as_posix()
    if inside in OUTSIDE:
        return FRONT if inside == "README.md" else inside
    return inside.removeprefix("docs/") if inside.startswith("docs/") else f"{SOURCE}/{inside}"


def lay_out(folder: Path = PAGES, root: Path = ROOT) -> None:
    """Write all pages, pictures and linked files, in place of what was there. Raises FileNotFoundError for a link that leads nowhere."""
    shutil.rmtree(folder, ignore_errors=True)
    linked = set[Path]()
    for name, path in written(root).items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix != ".md":
            shutil.copyfile(path, place)
            continue
        text, files = moved(path.read_text(), path, root)
        place.write_text(text)
        linked |= files
    for path in sorted(linked):
        place = folder / _place(path, root)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    shutil.copytree(THEME, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.lock"))


if __name__ == "__main__":
    lay_out()
