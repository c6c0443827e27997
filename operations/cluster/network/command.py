"""`trn network describe`: what a network that others keep is like, as a file."""

from pathlib import Path
from typing import Annotated

import typer

from operations.options import Stack


def describe(
    stack: Stack,
    vpc: Annotated[str, typer.Option("--vpc", help="The VPC; without it, `network.existing.vpcId` of the stack.")] = "",
    output: Annotated[Path | None, typer.Option("--output", help="Write the description here; without it, to standard output.")] = None,
) -> int:
    """Describe the VPC that a stack uses: subnets, routes, gateways, endpoints. Reads only; `trn rehearse --existing FILE` takes the file.

    Where the stack names the VPC, it is judged at once: what keeps the stack from coming up in it, and which tags controllers will miss. Exits with 1
    where the stack does not fit.

    Example: trn network describe dev --output network.yaml
    """
    import sys

    from operations.access import access
    from operations.aws.existing_network import described_network
    from operations.errors import MISUSE, CommandError
    from operations.existing.description_file import as_yaml
    from operations.existing.fit import refuse_unfit
    from operations.output import errors
    from operations.program import settings_of
    from operations.stack_file import read_stack_file
    from operations.text_files import write_text
    from stacks.settings import existing_vpc

    settings = settings_of(read_stack_file(stack))
    named = existing_vpc(settings)
    wanted = vpc or named
    if not wanted:
        raise CommandError(
            f"stack `{stack}` makes a network of its own", "name a VPC with --vpc, or set `network.existing.vpcId`", code=MISUSE
        )
    network = described_network(access().aws(stack, settings.region), wanted)
    if network is None:
        raise CommandError(f"there is no VPC {wanted} in {settings.region}", "`aws ec2 describe-vpcs` lists those of the region")
    if output is None:
        sys.stdout.write(as_yaml(network))
    else:
        write_text(output, as_yaml(network), "name a file with --output")
        errors().print(f"wrote    {output}", markup=False)
    if wanted == named:
        for note in refuse_unfit(settings, network, stack):
            errors().print(f"note     {note}", markup=False, soft_wrap=True)
    return 0
