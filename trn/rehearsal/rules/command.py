"""`trn rehearse rules`: what the simulated cloud refuses, and the faults that can be injected."""

from pathlib import Path
from typing import Annotated

import typer


def rules(json_file: Annotated[Path | None, typer.Option("--json", help="Write them here; - for standard output.")] = None) -> int:
    """List the rules of the simulated cloud, what a deletion brings about, and the faults and scenarios that can be rehearsed.

    Example: trn rehearse rules --json rules.json
    """
    from trn.cli.output import results, write_json
    from trn.rehearsal.rules.book import print_book, rule_book

    book = rule_book()
    write_json(book, json_file)
    print_book(results(json_file), book)
    return 0
