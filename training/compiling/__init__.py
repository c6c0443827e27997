"""What runs in the pods that fill a compile cache before a job."""

from functools import cache
from pathlib import Path

SCRIPT = "precompile.py"


@cache
def script() -> str:
    """Text of the script."""
    return (Path(__file__).parent / SCRIPT).read_text()
