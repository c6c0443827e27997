"""A run that is stopped in the middle."""

from collections.abc import Callable


def stop_after(count: int) -> Callable[[str], None]:
    """Called with each step; stops the run as Ctrl-C does when `count` of them are done."""
    steps = 0

    def tell(line: str) -> None:
        nonlocal steps
        steps += 1
        if steps > count:
            raise KeyboardInterrupt

    return tell
