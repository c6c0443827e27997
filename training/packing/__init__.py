"""What runs in the pod that makes a set of token shards from text."""

from functools import cache
from pathlib import Path

from training import staging

SCRIPT = "pack.py"
REQUIREMENTS = "packing.txt"
"""What an image without these packages is given."""
FOLDER = Path(__file__).parent


@cache
def files() -> dict[str, str]:
    """Text by name of all that the script needs beside it."""
    own = {path.name: path.read_text() for path in sorted(FOLDER.glob("*.py")) if path.name != "__init__.py"}
    return {**own, staging.SCRIPT: staging.script(), REQUIREMENTS: (FOLDER / REQUIREMENTS).read_text()}
