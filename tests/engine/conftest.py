"""Two stacks brought up per process; tests that change one take a copy."""

from pathlib import Path

import pytest

from tests.engine.cli import Engine


@pytest.fixture(scope="session")
def brought_up(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The shipped stack, previewed and up. Not to be changed."""
    engine = Engine.new(tmp_path_factory.mktemp("engine") / "dev")
    engine.run("up", "--yes")
    return engine


@pytest.fixture(scope="session")
def lean_up(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The stack with few add-ons, up. Not to be changed."""
    engine = Engine.lean(tmp_path_factory.mktemp("lean") / "dev")
    engine.up()
    return engine


@pytest.fixture
def engine(lean_up: Engine, tmp_path: Path) -> Engine:
    """The stack with few add-ons, up, to be changed."""
    return lean_up.copy(tmp_path / "engine")


@pytest.fixture
def whole(brought_up: Engine, tmp_path: Path) -> Engine:
    """The shipped stack, up, to be changed."""
    return brought_up.copy(tmp_path / "engine")


@pytest.fixture
def fresh(tmp_path: Path) -> Engine:
    """The stack with few add-ons, nothing brought up."""
    return Engine.lean(tmp_path / "engine")
