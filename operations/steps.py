"""Progress of a command that waits for a cluster, on standard error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from operations.output import errors


@contextmanager
def told_steps() -> Iterator[Callable[[str], None]]:
    """Tells one step: a line that changes on a terminal; in a pipe a line for each step that is another, without what follows `;`."""
    console, said = errors(), [""]
    if console.is_terminal:
        with console.status("") as status:
            yield lambda text: status.update(text)
        return

    def tell(text: str) -> None:
        step = text.partition(";")[0]
        if step != said[0]:
            said[0] = step
            console.print(step, markup=False)

    yield tell
