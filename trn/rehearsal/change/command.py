"""`trn rehearse change`: what changing the configuration of a running cluster would do to it."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from trn.cli import completion
from trn.cli.options import Faults, Seed


def change(
    stack: Annotated[
        str,
        typer.Option(
            "--stack", "-s", "--from", metavar="NAME", help="Stack that is up, as in Pulumi.NAME.yaml.", autocompletion=completion.stacks
        ),
    ],
    after: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="NAME", help="Stack file to be changed to; without it the same one.", autocompletion=completion.stacks
        ),
    ] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="key=value to change, value as YAML; may be repeated.")] = None,
    seed: Seed = 0,
    fault: Faults = None,
    output: Annotated[Path, typer.Option("--output", help="Folder for change.json and index.html.")] = Path("build/rehearsal"),
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow", help="What may happen beside what is safe, as in `trn plan`: restarts, jobs, data, final; may be repeated."
        ),
    ] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Also write a comment for a pull request here.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the change here; - for standard output.")] = None,
) -> int:
    """Rehearse a change of a running cluster: what it replaces, which nodes stop, what it costs, and what would be lost.

    Exits with 1 where the change is refused, or running jobs or data would be lost; with --allow, where it is refused, or something would
    happen that is not named there.

    Example: trn rehearse change dev --set nodeGroups.trn1-32xl.size=4
    """
    from simulator.engine.change import rehearse_change
    from trn.change.plan.report import checked, refusal_lines
    from trn.cli.lines import print_lines
    from trn.cli.output import screen, write_json
    from trn.cli.text_files import write_text
    from trn.engine.assumed_account import account_for
    from trn.engine.program import record_stack, settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.rehearsal.change.configuration import with_settings
    from trn.rehearsal.change.page import write_page
    from trn.rehearsal.change.report import comment, judged, report_of, summary_lines
    from trn.rehearsal.files import requested_faults

    allowed = checked(allow or ())
    old = read_stack_file(stack)
    # Another file is another configuration of the same stack: the cluster that is up is changed to it.
    other = replace(read_stack_file(after), stack=old.stack) if after else old
    new = with_settings(other, settings or ())
    faults = requested_faults(fault or ())
    graphs = [record_stack(stack_file, seed=seed) for stack_file in (old, new)]
    faults.need_targets([*graphs[0], *graphs[1]])
    account = account_for(*(settings_of(stack_file) for stack_file in (old, new)))
    changed = rehearse_change(graphs[0], graphs[1], seed=seed, faults=faults, account=account)
    report = report_of(changed, old.stack, " ".join([after or stack, *(settings or ())]), seed)
    for place in (output / "change.json", json_file):
        write_json(report, place)
    write_page(changed, old, new, ", ".join([*([f"Pulumi.{after}.yaml"] if after else []), *(settings or ())]), seed, output / "index.html")
    verdict = judged(changed, old.stack, allowed)
    if markdown is not None:
        write_text(markdown, comment(verdict, changed), "name another file with --markdown")
    print_lines(screen(json_file), [*summary_lines(report), *(refusal_lines(verdict) if allow else ())])
    if allow:
        return 1 if verdict.refused or report.ended != "well" else 0
    return 1 if report.ended != "well" or any(item.severity == "red" for item in report.cautions) else 0
