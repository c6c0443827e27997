"""The version of this checkout, in one place."""

import platform
import tomllib
from importlib import metadata
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def version() -> str:
    """Versions of trn, Python and Pulumi's SDK. trn's own is in pyproject.toml only: it is always run from its checkout."""
    own = tomllib.loads(PROJECT.read_text())["project"]["version"]
    return f"trn {own} (Python {platform.python_version()}, Pulumi SDK {metadata.version('pulumi')})"
