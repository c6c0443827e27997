"""`trn rehearse`: the real program against the simulated cloud, with progress, summary and files."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from trn.cli import completion
from trn.cli.options import Faults, Quiet, Seed, Stack


def rehearse(
    context: typer.Context,
    stack: Stack,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the report here; - for standard output.")] = None,
    output: Annotated[Path, typer.Option("--output", help="Folder for report.json, timeline.svg and index.html.")] = Path(
        "build/rehearsal"
    ),
    seed: Seed = 0,
    parallel: Annotated[int, typer.Option("--parallel", min=1, help="Operations that the engine runs at once.")] = 16,
    fault: Faults = None,
    scenario: Annotated[
        str | None, typer.Option("--scenario", help="A scenario to rehearse: a name, or a file.", autocompletion=completion.scenarios)
    ] = None,
    existing: Annotated[
        Path | None, typer.Option("--existing", help="Description of what the stack uses of others, by `trn network describe`.")
    ] = None,
    speed: Annotated[float, typer.Option("--speed", min=1, help="Virtual seconds per real one in the live view.")] = 500,
    quiet: Quiet = False,
) -> int:
    """Rehearse a stack on the simulated cloud: times, cost, leftovers. No account is touched.

    A network or file system that the stack uses and does not make is taken to be as it is needed, unless --existing says what it is like.

    Example: trn rehearse dev --fault no-capacity@trn1-32xl --speed 600
    """
    if context.invoked_subcommand is not None:
        return 0
    from dataclasses import replace

    from facts.external.description import with_unseen
    from stacks.external import asked_of
    from trn.cli.output import STANDARD_OUTPUT, errors, screen
    from trn.cli.progress import Progress
    from trn.engine.external_reading import read_description, refuse_unfit
    from trn.engine.program import rehearse_stack, settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.rehearsal.files import circumstances_of, ended_well, write_files
    from trn.rehearsal.summary import print_summary

    progress = Progress(errors(), quiet=quiet, speed=speed)
    stack_file = read_stack_file(stack)
    circumstances = circumstances_of(scenario, fault or ())
    if existing is not None:
        found, settings = read_description(existing), settings_of(stack_file)
        for note in refuse_unfit(settings, found, stack_file):
            errors().print(f"note     {note}", markup=False, soft_wrap=True)
        circumstances = replace(circumstances, existing=with_unseen(found, asked_of(settings)))
    with progress:
        rehearsal = rehearse_stack(stack_file, seed=seed, parallel=parallel, watch=progress.watch, circumstances=circumstances)
    written = write_files(rehearsal, output, json_file)
    if json_file == STANDARD_OUTPUT:
        sys.stdout.write(rehearsal.report.as_json())
    print_summary(screen(json_file), rehearsal.report, written)
    return 0 if ended_well(rehearsal.report) else 1
