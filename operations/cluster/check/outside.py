"""What a check asks outside AWS: the address of this machine, and the tools on PATH."""

import subprocess
import urllib.request
from collections.abc import Sequence

OWN_ADDRESS_URL = "https://checkip.amazonaws.com"
TIMEOUT_S = 30


def own_address() -> str:
    """The address of this machine as seen from the internet. Raises OSError."""
    with urllib.request.urlopen(OWN_ADDRESS_URL, timeout=TIMEOUT_S) as answer:
        return answer.read(100).decode().strip()


def tool_answer(command: Sequence[str]) -> str:
    """What a tool prints. Raises OSError where it is missing, fails, or hangs."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    except subprocess.SubprocessError as error:
        raise OSError(str(error)) from error
    return done.stdout.strip()
