"""`trn bundle`: one archive for a bug report or a colleague."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from trn.cli.options import JsonFile, Output, Quiet, Stack

FOLDER = Path("build") / "bundle"


def bundle(
    stack: Stack,
    output: Output = FOLDER,
    patience: Annotated[float, typer.Option("--patience", min=0.1, help="Longest wait for one part, in seconds.")] = 60,
    quiet: Quiet = False,
    json_file: JsonFile = None,
) -> int:
    """One archive for a bug report or a colleague: versions, stack file, outputs, status, events, jobs, queues, logs, quotas.

    Reads only. Secrets are redacted; look before you send it. What could not be got is named, with the reason, and is no failure: a broken
    cluster is what a bundle is for. The file is readable by you alone, and replaces none.

    Example: trn bundle dev
    """
    from trn.cli.interruption import interrupted_by_signals
    from trn.cli.output import results, tracked, write_json
    from trn.running.bundle.archive import packed, write_new
    from trn.running.bundle.report import BundleReport, PartEntry
    from trn.running.bundle.run import gathered
    from trn.running.bundle.subject import subject_of
    from trn.running.bundle.tools import Tools

    at = datetime.now(UTC).replace(microsecond=0)
    tools = Tools()
    name = f"{stack}-{at:%Y%m%dT%H%M%SZ}"
    with interrupted_by_signals():
        try:
            made = gathered(subject_of(stack, tools, patience), at, patience, lambda parts: tracked(parts, "reading", quiet=quiet))
            data = packed(made.files, f"trn-bundle-{name}", at)
            path = write_new(data, output, name)
        finally:
            tools.close()
    parts = tuple(
        PartEntry(
            file=it.part.file,
            what=it.part.what,
            source=it.part.source,
            got=it.text is not None,
            absent=it.is_absent,
            why=it.why,
        )
        for it in made.outcomes
    )
    write_json(BundleReport(stack=stack, path=str(path), bytes=len(data), notes=tuple(made.notes), parts=parts), json_file)
    console = results(json_file)
    for note in made.notes:
        console.print(f"note     {note}", markup=False, soft_wrap=True)
    for it in made.missing:
        if not it.is_skipped:
            console.print(f"missing  {it.part.file}: {it.why}", markup=False, soft_wrap=True)
    skipped = Counter(it.part.origin for it in made.missing if it.is_skipped)
    for origin, count in skipped.items():
        console.print(f"missing  {count} more of {origin}, which were not asked for after that", markup=False)
    console.print(f"wrote    {path}", markup=False, soft_wrap=True)
    console.print(
        f"         {len(made.files)} files, {len(data) / 1024:,.0f} KiB, readable by you alone; its index.md says what each is",
        markup=False,
    )
    return 0
