"""The real engine, with the state that a released version left: today's program replaces and deletes nothing of it."""

from pathlib import Path

import pytest

from tests.engine.cli import Engine, needs_cli
from tests.states.recorded import deployment, versions

pytestmark = [pytest.mark.engine, needs_cli]


def planned(root: Path, version: str, edit: tuple[str, str] = ("", "")) -> dict[str, list[str]]:
    """What a preview plans after the state of a version was imported. `edit`: a text of the state, and what takes its place."""
    engine, file = Engine.lean(root), root / "state.json"
    text = deployment(version).read_text()
    assert edit[0] in text
    file.write_text(text.replace(*edit) if edit[0] else text)
    engine.run("stack", "import", "--file", str(file))
    return engine.planned()


@pytest.mark.parametrize("version", versions())
def test_an_upgrade_of_the_program_replaces_nothing(version: str, tmp_path: Path):
    """The engine's own word for what the default tier judges by tables."""
    steps = planned(tmp_path / "dev", version)
    assert [urn for kind, urns in steps.items() if "replace" in kind or kind == "delete" for urn in urns] == []


def test_a_resource_with_another_name_is_seen(tmp_path: Path):
    """Without an alias it is another one: the engine deletes what the state has."""
    steps = planned(tmp_path / "dev", versions()[-1], ("LustreFileSystem::lustre", "LustreFileSystem::lustre-of-old"))
    assert any(urn.endswith("::lustre-of-old") for urn in steps["delete"])
