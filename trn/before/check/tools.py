"""What the tools on PATH answer."""

import subprocess
from collections.abc import Sequence

TIMEOUT_S = 30


def tool_answer(command: Sequence[str]) -> str:
    """What a tool prints. Raises OSError where it is missing, fails, or hangs."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    except subprocess.SubprocessError as error:
        raise OSError(str(error)) from error
    return done.stdout.strip()
