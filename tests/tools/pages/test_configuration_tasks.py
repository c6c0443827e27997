"""The examples of docs/configuration.md are taken by the program, change what they say, and use keys that the page explains."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from stacks.config import parse_settings
from tests.support import ROOT, dev_configuration, merged
from tools.pages.configuration_keys import keys
from tools.pages.configuration_tasks import TASKS, Task, task_lines

EACH = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.question)


@EACH
def test_an_example_is_taken_and_changes_the_shipped_stack(task: Task):
    """One that changes nothing answers no question."""
    before = parse_settings(dev_configuration(), "dev", rehearsal=True)
    assert parse_settings(merged(dev_configuration(), **task.settings), "dev", rehearsal=True) != before


def paths(settings: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """Dotted keys that hold a value."""
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from paths(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


@EACH
def test_its_keys_are_in_the_table(task: Task):
    """A name of the user's own choice is `NAME` there."""
    known = [key.path.split(".") for key in keys()]
    for path in paths(task.settings):
        parts = path.split(".")
        assert any(len(it) == len(parts) and all(a in ("NAME", b) for a, b in zip(it, parts, strict=True)) for it in known), path


def test_the_page_has_them_in_front_of_the_table():
    """As YAML that can be copied."""
    page = (ROOT / "docs/configuration.md").read_text()
    front, _, table = page.partition("\n## Every key\n")
    assert "\n".join(task_lines()).strip() in front
    shown = [yaml.safe_load(part.partition("```")[0])["config"] for part in front.split("```yaml\n")[1:]]
    assert shown == [{f"trn:{key}": value for key, value in task.settings.items()} for task in TASKS]
    assert table.count("\n| `") >= len(keys())
