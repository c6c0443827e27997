"""The caller's own address, as the internet sees it: looked up beside the questions, and quietly left out where it cannot be learned."""

import threading
from collections.abc import Callable

from facts.address_blocks import why_closed

PATIENCE_S = 3.0
"""How long a question waits for the address: it began to be looked up with the first one."""


class OwnAddress:
    """Looks the address up in the background."""

    def __init__(self, find: Callable[[], str]) -> None:
        """`find` gives the address, or raises."""
        self._find, self._found = find, ""
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        try:
            self._found = self._find().strip()
        except (OSError, ValueError):
            self._found = ""

    def block(self) -> str | None:
        """The address as a block of one; None where it is not known, or not one that EKS takes."""
        self._thread.join(PATIENCE_S)
        block = f"{self._found}/32"
        return block if why_closed(block) is None else None
