"""Frameworks in environments of their own, made once and kept in the user's cache; a test skips, and says why, where one cannot be made."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.frameworks import NoEnvironmentError, interpreter

Python = Callable[[str], Path]


@pytest.fixture(scope="session")
def python() -> Python:
    """Gives the interpreter of a framework's environment, by the framework's name."""
    reasons = dict[str, str]()

    def found(name: str) -> Path:
        if name not in reasons:
            try:
                return interpreter(name, os.environ)
            except NoEnvironmentError as error:
                reasons[name] = str(error)
        pytest.skip(reasons[name])

    return found


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder in which JAX keeps what it has compiled, for all tests of a session."""
    return tmp_path_factory.mktemp("compiled")
