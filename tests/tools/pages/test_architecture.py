"""The picture of the architecture page: the imports as they are."""

import pytest

from tools.pages import architecture


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


def test_each_package_says_what_it_is_for():
    """Its box has the first sentence of its docstring, and what it imports."""
    picture = architecture.picture()
    assert "The simulated cloud: records a Pulumi" in picture
    assert "imports none of the others" in picture
    assert picture.count("<rect") == len(architecture.packages())
