"""`trn init`: asks for what no option gives, shows the cost after each answer, writes the stack file."""

import re
from dataclasses import asdict, replace
from typing import Annotated

import typer

from operations.errors import MISUSE, CommandError
from operations.options import BlockHours, JsonFile

STACK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def init(
    stack: Annotated[str, typer.Option("--stack", "-s", metavar="NAME", help="Stack to make; its file is Pulumi.NAME.yaml.")],
    name: Annotated[str | None, typer.Option("--name", help="Cluster name.")] = None,
    region: Annotated[str | None, typer.Option("--region", help="AWS region.")] = None,
    instance_type: Annotated[str | None, typer.Option("--instance-type", help="Neuron instance type.")] = None,
    count: Annotated[int | None, typer.Option("--count", min=0, help="Nodes.")] = None,
    capacity: Annotated[str | None, typer.Option("--capacity", help="on-demand, spot or capacity-block.")] = None,
    reservation: Annotated[str | None, typer.Option("--reservation", help="Capacity reservation or block, cr-...")] = None,
    zone: Annotated[str | None, typer.Option("--zone", help="Zone id of the nodes, such as usw2-az4.")] = None,
    allow: Annotated[list[str] | None, typer.Option("--allow", help="CIDR block that may reach the API; may be repeated.")] = None,
    fsx_gib: Annotated[int | None, typer.Option("--fsx-gib", min=0, help="FSx for Lustre, GiB; 0 for none.")] = None,
    addons: Annotated[
        str | None,
        typer.Option("--addons", help="With commas, as `trn addons --json` names them: neuron, efa, volcano, etcd, kueue, ...; or none."),
    ] = None,
    live: Annotated[
        bool,
        typer.Option("--live", help="Ask the account which zones offer the type, and which capacity blocks are sold; needs credentials."),
    ] = False,
    block_hours: BlockHours = 24,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; use defaults.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
    json_file: JsonFile = None,
) -> int:
    """Write a stack file from a few answers, and show the cost after each answer. The same answers write the same file.

    Example: trn init night --region us-west-2 --instance-type trn1.32xlarge --count 0 --yes
    """
    from operations.access import access
    from operations.aws.capacity_blocks import refuse_hours
    from operations.cluster.cost.view import figures_data
    from operations.cluster.init.answers import ADDONS, REGIONS, Answers, capacity_kinds, second_zone, stack_file_text, types_in
    from operations.cluster.init.questions import Questions, as_stack_file, cost_of, offered_zones, reservation_of, usable_zones
    from operations.output import results, write_json
    from operations.program import settings_of
    from operations.stack_file import project_of
    from operations.text_files import write_text
    from stacks.rules import notices

    refuse_hours(block_hours)
    if not STACK_NAME.fullmatch(stack):
        raise CommandError(f"`{stack}` is no stack name", "letters, digits, hyphens, underscores and dots", code=MISUSE)
    root, project = project_of()
    path = root / f"Pulumi.{stack}.yaml"
    if path.exists() and not force:
        raise CommandError(f"{path.name} is there already", "name another stack, or add --force to overwrite it", code=MISUSE)

    ask = Questions(root, project, asks=not yes)
    region = ask.text(region, REGIONS[0], "Region")
    api = access().aws(stack, region) if live else None
    types = types_in(region)
    instance_type = ask.choice("--instance-type", instance_type, types, "Instance type", types[min(1, len(types) - 1)])
    offered = offered_zones(instance_type, region, zone, api)
    zone = ask.choice("--zone", zone, offered, "Zone of the nodes", offered[0])
    second = second_zone(zone, region, usable_zones(api))
    answers = Answers(
        stack=stack, name=f"trainium-{stack}", region=region, instance_type=instance_type, count=0, capacity="on-demand",
        reservation=None, zone=zone, second_zone=second, allow=(), fsx_gib=0, addons=ADDONS,
    )  # fmt: skip
    answers = replace(answers, name=ask.text(name, answers.name, "Cluster name"))
    ask.show_cost(answers)
    answers = replace(answers, count=ask.number(count, 2, "Nodes"))
    kinds = capacity_kinds(instance_type)
    answers = replace(answers, capacity=ask.choice("--capacity", capacity, kinds, "Capacity", kinds[0]))
    answers = replace(answers, reservation=reservation_of(answers, reservation, ask, api, block_hours))
    ask.show_cost(answers)
    answers = replace(answers, fsx_gib=ask.number(fsx_gib, 1200, "FSx for Lustre, GiB (0 for none)"))
    ask.show_cost(answers)
    answers = replace(answers, allow=ask.cidr_blocks(allow))
    answers = replace(answers, addons=ask.addons(addons))

    stack_file = as_stack_file(answers, root, project)
    settings = settings_of(stack_file, rehearsal=False)
    write_text(path, stack_file_text(answers), "make room there, or change into a folder that you may write to")
    figures = cost_of(stack_file)
    write_json({"file": str(path), "answers": asdict(answers), **figures_data(figures)}, json_file)
    console = results(json_file)
    console.print(f"wrote {path.name}: {figures.words()}", markup=False)
    for notice in notices(settings):
        console.print(f"note: {notice}", markup=False, soft_wrap=True)
    console.print(f"next: trn rehearse {stack}, then: trn check {stack}", markup=False)
    return 0
