"""`trn capacity`: find instances that are scarce, buy a capacity block, and see blocks beside the jobs that they are for."""

from typing import Annotated

import typer

from operations.command_line import completion
from operations.options import JsonFile, Stack

Instances = Annotated[int | None, typer.Option("--instances", min=1, help="How many. Else as many as the group may have.")]
Hours = Annotated[int, typer.Option("--hours", min=1, help="For how long. Blocks last whole days, from two weeks on whole weeks.")]
GroupName = Annotated[
    str | None, typer.Option("--group", help="Node group that they are for. Else the first of its type.", autocompletion=completion.groups)
]
TypeName = Annotated[str | None, typer.Option("--type", help="Instance type. Else that of the group.")]
Regions = Annotated[str, typer.Option("--regions", metavar="A,B", help="Regions to look at. Else all in which the type was seen.")]
Day = Annotated[str | None, typer.Option("--from", metavar="YYYY-MM-DD", help="Earliest day, in UTC. Else now.")]
Details = Annotated[int, typer.Option("--details", min=0, help="For how many of the ways the stack file's changes are printed.")]


def find(
    stack: Stack,
    instances: Instances = None,
    hours: Hours = 24,
    instance_type: TypeName = None,
    group: GroupName = None,
    regions: Regions = "",
    day: Day = None,
    rows: Annotated[int, typer.Option("--rows", min=1, help="Most ways in the table.")] = 20,
    details: Details = 3,
    json_file: JsonFile = None,
) -> int:
    """Find instances: capacity blocks on offer, idle reservations, spot and on demand, in all regions that have the type. Reads only.

    Ranked by start, then by cost, each with the change of the stack file and what does not move to another region by itself. A region that
    gives no answer says why, and the others are shown. Exits with 1 where nothing works.

    Example: trn capacity find dev --instances 4 --hours 72
    """
    from datetime import UTC, datetime

    from operations.access import access
    from operations.aws.identity import caller
    from operations.cluster.capacity.region import look_everywhere
    from operations.cluster.capacity.view import as_data, found, lines
    from operations.cluster.capacity.wanted import day_of, named_regions, regions_of, wanted_of
    from operations.output import errors, results, write_json
    from operations.program import settings_of
    from operations.stack_file import read_stack_file

    settings = settings_of(read_stack_file(stack))
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    wanted = wanted_of(
        settings, stack, group=group, instance_type=instance_type, count=instances, hours=hours, day=day_of(day), now=now
    )  # fmt: skip
    apis = {region: access().aws(stack, region) for region in regions_of(settings, wanted, named_regions(regions))}
    # Bad credentials end it here: that every region refuses them does not help.
    who = caller(access().aws(stack, settings.region))
    errors().print(f"asking   {', '.join(apis)}", markup=False, soft_wrap=True)
    told = found(stack, settings, wanted, look_everywhere(apis, wanted, settings.name, settings.region), who.account)
    write_json(as_data(told), json_file)
    console = results(json_file)
    for line in lines(told, details, rows):
        console.print(line, markup=False, soft_wrap=True)
    return 0 if told.working else 1
