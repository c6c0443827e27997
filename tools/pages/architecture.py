"""The picture of the folders in docs/architecture.md: layers and imports, from the import graph itself."""

import ast
import tomllib
from collections.abc import Mapping, Set
from functools import cache
from pathlib import Path

import grimp

from report.boxes import Box, svg

ROOT = Path(__file__).parent.parent.parent


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
    rows = [[Box("plain", f"{name}/", _lines(name, edges[name])) for name in row] for row in layers(edges)]
    return svg("", "Folders of the project: each imports only folders below it", rows)


def _lines(package: str, imported: Set[str]) -> list[str]:
    """First sentence of the package's docstring, and what it imports."""
    text = (ast.get_docstring(ast.parse((ROOT / package / "__init__.py").read_text())) or "").split("\n")[0].rstrip(".").replace("`", "")
    return [text, f"imports {', '.join(sorted(imported))}" if imported else "imports none of the others"]
