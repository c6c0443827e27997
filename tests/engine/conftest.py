"""One stack brought up per process; tests that change it take a copy."""

from pathlib import Path

import pytest

from tests.engine.cli import Engine


@pytest.fixture(scope="session")
def brought_up(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The shipped stack, previewed and up. Not to be changed."""
    engine = Engine.new(tmp_path_factory.mktemp("engine") / "dev")
    engine.run("up", "--yes")
    return engine


@pytest.fixture
def engine(brought_up: Engine, tmp_path: Path) -> Engine:
    """The shipped stack, up, to be changed."""
    return brought_up.copy(tmp_path / "engine")


@pytest.fixture
def fresh(tmp_path: Path) -> Engine:
    """The shipped stack, nothing brought up."""
    return Engine.new(tmp_path / "engine")
