"""The architecture page: a picture of the imports as they are, and file names that exist."""

import re

import pytest

from operations.docs import architecture
from tests.support import ROOT


def test_each_package_is_drawn_above_all_that_it_imports():
    """The picture's one statement."""
    edges = architecture.imports()
    rows = architecture.layers(edges)
    level = {name: number for number, row in enumerate(rows) for name in row}
    assert sorted(level) == sorted(architecture.packages())
    assert [(name, other) for name, others in edges.items() for other in others if level[name] >= level[other]] == []
    assert rows[-1] == ["facts"]


def test_a_circle_is_refused_by_name():
    """A picture of layers would be wrong."""
    with pytest.raises(ValueError, match="a, b"):
        architecture.layers({"a": {"b"}, "b": {"a"}, "c": set()})


def test_every_file_that_the_page_names_is_there():
    """Files move; the page must move with them."""
    page = (ROOT / "docs/architecture.md").read_text()
    paths = [path for path in re.findall(r"`([\w./]+)`", page) if "/" in path or path.endswith((".py", ".yaml", ".toml"))]
    assert len(paths) > 15
    assert [path for path in paths if not (ROOT / path).exists()] == []
