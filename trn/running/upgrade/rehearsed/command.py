"""`trn rehearse upgrade`: how long a Kubernetes upgrade takes, step by step, and what it stops."""

from typing import Annotated

import typer

from trn.cli.options import JsonFile, Seed, Stack
from trn.running.upgrade.command import Accept, Target


def upgrade(
    stack: Stack,
    to: Target,
    since: Annotated[
        str | None, typer.Option("--from", metavar="MINOR", help="Minor that the cluster is of; without it, the stack file's.")
    ] = None,
    accept: Accept = None,
    seed: Seed = 0,
    json_file: JsonFile = None,
) -> int:
    """Rehearse `trn upgrade` on a simulated cluster whose Neuron groups are busy: steps, time, keys, charts, and when which jobs stop.

    Exits with 1 where the account refuses a step, or a chart does not list a minor and is not accepted.

    Example: trn rehearse upgrade dev --to 1.36
    """
    from trn.cli.lines import print_lines
    from trn.cli.output import screen, write_json
    from trn.engine.program import record_stack
    from trn.engine.stack_file import read_stack_file
    from trn.running.upgrade.check import refuse_unknown_charts
    from trn.running.upgrade.rehearsed.cluster import RehearsedUpgradeReport, blocking, summary
    from trn.running.upgrade.steps import (
        Standing,
        groups_at,
        minors_to,
        refuse_unknown,
        release_for,
        settings_before,
        standing_file,
        steps,
    )  # fmt: skip
    from trn.running.upgrade.timed import print_plan, timed, walk_of

    refuse_unknown(to)
    stack_file = read_stack_file(stack)
    settings = settings_before(stack_file)
    current = since or settings.control_plane.kubernetes_version
    refuse_unknown(current)
    minors = minors_to(current, to)
    standing = Standing(current, groups_at(settings, current))
    refuse_unknown_charts(record_stack(standing_file(stack_file, standing)), accept or ())
    planned = timed(stack_file, standing, steps(standing, to, lambda group, minor: release_for(group, minor, settings)), seed=seed)
    charts = blocking(stack_file, standing, minors)
    write_json(RehearsedUpgradeReport(stack=stack, **walk_of(planned), charts=dict(charts)), json_file)
    console = screen(json_file)
    print_plan(console, planned)
    print_lines(console, list(summary(planned, charts, frozenset(accept or ()))))
    return int(any(step.errors for step in planned) or bool(charts.keys() - set(accept or ())))
