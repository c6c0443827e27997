"""What runs in the pod that brings a data set to the file system."""

from functools import cache
from pathlib import Path

SCRIPT = "stage.py"


@cache
def script() -> str:
    """Text of the script."""
    return (Path(__file__).parent / SCRIPT).read_text()
