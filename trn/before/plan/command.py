"""`trn plan`: what the next `pulumi up` does to the running cluster."""

from pathlib import Path
from typing import Annotated

import typer

from trn.cli.options import JsonFile, Stack


def plan(
    stack: Stack,
    allow: Annotated[
        list[str] | None,
        typer.Option("--allow", help="What may happen beside what is safe: restarts, jobs, data, final; may be repeated."),
    ] = None,
    no_cluster: Annotated[bool, typer.Option("--no-cluster", help="Do not look at the jobs of the running cluster.")] = False,
    preview: Annotated[Path | None, typer.Option("--preview", help="Output of `pulumi preview --json`, in place of asking for it.")] = None,
    state: Annotated[Path | None, typer.Option("--state", help="Output of `pulumi stack export`, in place of asking for it.")] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Also write a comment for a pull request here.")] = None,
    json_file: JsonFile = None,
) -> int:
    """What `pulumi up` would do now: what is safe, which nodes go, which jobs of whom stop, what data is destroyed, time and cost.

    Changes nothing. Exits with 1 where something would happen that --allow does not name.

    Example: trn plan dev --allow restarts, or: trn plan dev --markdown plan.md
    """
    from simulator import costs
    from trn.change.clients import access
    from trn.change.occupants import views_of
    from trn.change.plan.report import Report, checked, classes_in, document_of, lines, read_text
    from trn.change.plan.report import markdown as as_markdown
    from trn.change.plan.stopped import with_jobs
    from trn.cli.errors import MISUSE, CommandError
    from trn.cli.lines import print_lines
    from trn.cli.output import results, write_json
    from trn.cli.text_files import write_text
    from trn.engine.effects import effects, lower_bound_s, refused
    from trn.engine.planned import ask_engine, planned
    from trn.engine.program import record_stack
    from trn.engine.stack_file import read_stack_file

    allowed = checked(allow or ())
    if (preview is None) != (state is None):
        raise CommandError("--preview and --state belong together", "give both files, or neither", code=MISUSE)
    program = record_stack(read_stack_file(stack))
    if preview is not None and state is not None:
        found = planned(read_text(state), read_text(preview), program)
    else:
        found = ask_engine(access().pulumi(stack), stack, program)
    steps, unseen, stopped = effects(found), "", {}
    try:
        if not no_cluster:
            steps, stopped = with_jobs(steps, lambda: views_of(stack))
        unseen = "--no-cluster" if no_cluster else ""
    except CommandError as error:
        unseen = error.args[0]
    bill = tuple(costs.figures(costs.items(recording)) for recording in (found.before, found.after))
    classes = classes_in(steps, stopped)
    if unseen and "restarts" in classes:
        # Nodes go, and whether a job is on them is not known.
        classes.add("jobs")
    report = Report(stack, steps, stopped, lower_bound_s(found), (bill[0], bill[1]), refused(classes, allowed), unseen, allowed)
    write_json(document_of(report), json_file)
    if markdown is not None:
        write_text(markdown, as_markdown(report), "name another file with --markdown")
    print_lines(results(json_file), list(lines(report)))
    return 1 if report.refused else 0
