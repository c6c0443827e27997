"""The picture of the folders in docs/architecture.md: layers and imports, from the import graph itself."""

import ast
import textwrap
import tomllib
from collections.abc import Mapping, Sequence, Set
from functools import cache
from html import escape
from pathlib import Path

import grimp

ROOT = Path(__file__).parent.parent.parent
WIDTH, ROW, GAP, MARGIN = 980, 112, 16, 20
"""Pixels."""
CHARACTER, LINES = 8, 2
"""Pixels that a character takes at most on average, and lines that a box has for what a package is for."""
STYLE = (
    "text{font:14px system-ui,sans-serif;fill:#1f2328}.name{font-weight:600;font-size:16px}.says{fill:#57606a;font-size:13px}"
    "rect{fill:#f6f8fa;stroke:#8c959f}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.says{fill:#9198a1}rect{fill:#161b22;stroke:#6e7681}}"
)


def packages() -> list[str]:
    """The packages whose imports are checked, as pyproject.toml lists them."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]


@cache
def imports() -> Mapping[str, Set[str]]:
    """By package: the other packages that its modules import."""
    names = packages()
    graph = grimp.build_graph(*names, cache_dir=None)
    others: dict[str, set[str]] = {name: set() for name in names}
    for module in sorted(graph.modules):
        package = module.split(".")[0]
        for imported in graph.find_modules_directly_imported_by(module):
            others[package].add(imported.split(".")[0])
    return {name: others[name] - {name} for name in names}


def layers(edges: Mapping[str, Set[str]]) -> list[list[str]]:
    """Packages from the top down: each above all that it imports, as low as it can be. Raises ValueError for a circle."""
    placed: dict[str, int] = {}
    while len(placed) < len(edges):
        free = [name for name in edges if name not in placed and all(other in placed for other in edges[name])]
        if not free:
            raise ValueError(f"packages import each other in a circle: {', '.join(sorted(edges.keys() - placed.keys()))}")
        for name in free:
            placed[name] = 1 + max((placed[other] for other in edges[name]), default=-1)
    return [[name for name in sorted(placed) if placed[name] == level] for level in range(max(placed.values()), -1, -1)]


def picture() -> str:
    """The SVG: one row for each layer, in each box what the package is for and what it imports."""
    edges = imports()
    rows = layers(edges)
    height = 2 * MARGIN + len(rows) * (ROW + GAP) - GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        "<title>Folders of the project: each imports only folders below it</title>",
        f"<style>{STYLE}</style>",
    ]
    for number, row in enumerate(rows):
        parts += _row(row, MARGIN + number * (ROW + GAP), edges)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _row(row: Sequence[str], top: int, edges: Mapping[str, Set[str]]) -> list[str]:
    width = (WIDTH - 2 * MARGIN - GAP * (len(row) - 1)) / len(row)
    parts = []
    for number, name in enumerate(row):
        left = MARGIN + number * (width + GAP)
        imported = ", ".join(sorted(edges[name]))
        parts += [
            f'<rect x="{left:g}" y="{top}" width="{width:g}" height="{ROW}" rx="6"/>',
            f'<text class="name" x="{left + 14:g}" y="{top + 28}">{escape(name)}/</text>',
            *(
                f'<text class="says" x="{left + 14:g}" y="{top + 52 + 18 * line}">{escape(text)}</text>'
                for line, text in enumerate(_purpose(name, round(width / CHARACTER)))
            ),
            f'<text x="{left + 14:g}" y="{top + ROW - 16}">{escape("imports " + imported if imported else "imports none of the others")}</text>',
        ]
    return parts


def _purpose(package: str, width: int) -> list[str]:
    """First sentence of the package's docstring, in lines of at most `width` characters. Raises ValueError for more than two."""
    text = (ast.get_docstring(ast.parse((ROOT / package / "__init__.py").read_text())) or "").split("\n")[0].rstrip(".").replace("`", "")
    lines = textwrap.wrap(text, width)
    if len(lines) > LINES:
        raise ValueError(f"the first line of {package}/__init__.py is too long for its box: {text}")
    return lines
