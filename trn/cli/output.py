"""Where commands write: the result on standard output, questions and progress on standard error, JSON where it was asked for."""

import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from trn.cli import voice
from trn.cli.control_characters import escaped
from trn.cli.text_files import write_text

if TYPE_CHECKING:
    from rich.table import Table

    from facts.document import Document

STANDARD_OUTPUT = Path("-")
PIPE_WIDTH = 200
T = TypeVar("T")


class _Console(Console):
    """Prints control characters of a text as escapes, and leaves a pipe without a reader to the command."""

    def on_broken_pipe(self) -> None:
        """Not rich's own, which ends the program and gives standard output away: a change takes back what it began, and writes its report."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """As rich's own, with control characters of the text as escapes: rich's own codes are segments of their own."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=escaped(segment.text))


def errors() -> Console:
    """Standard error, for progress and questions."""
    return _Console(stderr=True, highlight=False, soft_wrap=True)


def results(json_file: Path | None = None) -> Console:
    """Standard output; standard error when JSON is written to standard output. In a pipe lines are as long as they are."""
    voice.announce(on_standard_error=json_file == STANDARD_OUTPUT)
    console = _Console(stderr=json_file == STANDARD_OUTPUT, highlight=False)
    return console if console.is_terminal else _Console(stderr=console.stderr, highlight=False, width=PIPE_WIDTH)


def print_table(console: Console, table: "Table", at_least: int) -> None:
    """Print a table; on a terminal of fewer columns than `at_least`, where it would be cut, each row as a sentence."""
    if console.width >= at_least:
        console.print(table)
        return
    if table.title:
        console.print(table.title, markup=False)
    heads = [str(column.header) for column in table.columns]
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        first, *others = (cell.plain if isinstance(cell, Text) else str(cell) for cell in cells)
        said = [f"{head} {text}" for head, text in zip(heads[1:], others, strict=True) if head and text]
        console.print(Text(f"{first}: {'; '.join(said)}", overflow="fold"))


def screen(json_file: Path | None) -> Console:
    """As `results`, as wide as the terminal or pipe is."""
    return _Console(stderr=json_file == STANDARD_OUTPUT, highlight=False)


def can_redraw(console: Console) -> bool:
    """Whether a terminal is watching that can move its cursor: one with `TERM=dumb` would show nothing of a live view or a bar."""
    return console.is_terminal and not console.is_dumb_terminal


def write_json(document: "Document", json_file: Path | None) -> None:
    """Write a document where `--json` said: `-` is standard output, None is nowhere.

    Raises CommandError for a place that cannot be written.
    """
    if json_file is None:
        return
    text = document.as_json()
    if json_file == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    write_text(json_file, text, "name a file with --json, or - for standard output")


def tracked(items: Sequence[T], what: str, *, quiet: bool = False) -> Iterator[T]:
    """The items one by one, with a progress bar on standard error while a terminal is watching."""
    from rich.progress import track

    console = errors()
    yield from track(items, description=what, console=console, transient=True, disable=quiet or not can_redraw(console))


@contextmanager
def gauge(what: str, console: Console) -> Iterator[Callable[[int, int], None]]:
    """Yields a `(done, total)` callback, for waits of unknown length: a bar like that of `tracked`, or none where `what` is empty.

    `console`: the one that lines are printed on meanwhile, so that they stand above the bar.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not (what and can_redraw(console))) as progress:
        bar = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(bar, completed=done, total=total)
