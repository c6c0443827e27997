"""`trn init`: asks for what no option gives, shows the cost after each answer, writes the stack file."""

import re
from typing import Annotated

import typer

from trn.cli.errors import MISUSE, CommandError
from trn.cli.options import BlockHours, JsonFile

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
    allow: Annotated[
        list[str] | None, typer.Option("--allow", help="CIDR block that may reach the API; may be repeated. `private`: the VPC only.")
    ] = None,
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
    sample: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Open a ready-made file: learn, capacity-block, trn2-karpenter, trn2, trn2-small, ultraserver, private, slurm or many-teams.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; use defaults, and your own address where it can be learned.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget the answers that were kept when an earlier run was stopped.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
    json_file: JsonFile = None,
) -> int:
    """Write a stack file from a few answers, and show the cost after each answer. The same answers write the same file.

    A wrong answer is explained and asked again. After `q` or Ctrl-C nothing is written, and the answers are kept for a week.

    Example: trn init night --region us-west-2 --instance-type trn1.32xlarge --count 0 --yes
    """
    from trn.aws.capacity_blocks import refuse_hours
    from trn.before.init.making import Request, check_place
    from trn.before.init.run import run
    from trn.engine.stack_file import project_of

    refuse_hours(block_hours)
    if not STACK_NAME.fullmatch(stack):
        raise CommandError(f"`{stack}` is no stack name", "letters, digits, hyphens, underscores and dots", code=MISUSE)
    root, project = project_of()
    check_place(stack, root, force=force)
    given = {
        "region": region, "instance_type": instance_type, "zone": zone, "name": name, "count": None if count is None else str(count),
        "capacity": capacity, "reservation": reservation, "fsx_gib": None if fsx_gib is None else str(fsx_gib),
        "allow": ",".join(allow) if allow is not None else None, "addons": addons,
    }  # fmt: skip
    typed = {key: text for key, text in given.items() if text is not None}
    return run(Request(stack, typed, sample, live, block_hours, yes, fresh, json_file), root, project)
