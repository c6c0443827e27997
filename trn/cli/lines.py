"""Labelled lines, as short reports end with."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

Line = tuple[str, Text]


def print_lines(console: Console, lines: Sequence[Line]) -> None:
    """Print labelled lines. On a terminal nothing is cut: ids, ARNs and keys are there to be copied."""
    if not console.is_terminal:
        for label, text in lines:
            console.print(f"{label:<8} {text.plain}", markup=False, soft_wrap=True)
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in lines:
        table.add_row(label, text)
    console.print(table)
