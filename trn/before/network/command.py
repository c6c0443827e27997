"""`trn network describe`: what a stack uses of others, its network first, as a file."""

from pathlib import Path
from typing import Annotated

import typer

from trn.cli.options import Stack


def describe(
    stack: Stack,
    vpc: Annotated[str, typer.Option("--vpc", help="Describe this VPC alone; without it, all that the stack uses of others.")] = "",
    output: Annotated[Path | None, typer.Option("--output", help="Write the description here; without it, to standard output.")] = None,
) -> int:
    """Describe what a stack uses of others: VPC with subnets, routes, gateways and endpoints; file system; roles. Reads only; `trn rehearse --existing FILE` takes the file.

    It is judged at once: what keeps the stack from coming up with it, and which tags controllers will miss. Exits with 1 where the stack does
    not fit. With another VPC than the stack's, by --vpc, nothing is judged.

    Example: trn network describe dev --output existing.yaml
    """
    import sys

    from facts.external.description import Description
    from stacks.external import asked_of
    from stacks.settings import existing_vpc
    from trn.aws.external_network import described_network
    from trn.change.clients import access
    from trn.cli.errors import MISUSE, CommandError
    from trn.cli.output import errors
    from trn.cli.text_files import write_text
    from trn.engine.external_reading import NOTHING_USED, as_yaml, described_existing, refuse_absent, refuse_unfit
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    asked, is_other = asked_of(settings), vpc not in ("", existing_vpc(settings))
    if asked.is_nothing and not settings.iam.roles and not is_other:
        raise CommandError(f"stack `{stack}` uses nothing that exists", f"name a VPC with --vpc, or {NOTHING_USED}", code=MISUSE)
    api = access().aws(stack, settings.region)
    if is_other:
        network = described_network(api, vpc)
        if network is None:
            raise CommandError(f"there is no VPC {vpc} in {settings.region}", "`aws ec2 describe-vpcs` lists those of the region")
        found = Description(network=network)
    else:
        found = described_existing(api, asked, settings.iam.roles.values())
        refuse_absent(found, asked)
    if output is None:
        sys.stdout.write(as_yaml(found))
    else:
        write_text(output, as_yaml(found), "name a file with --output")
        errors().print(f"wrote    {output}", markup=False)
    if not is_other:
        for note in refuse_unfit(settings, found, stack_file):
            errors().print(f"note     {note}", markup=False, soft_wrap=True)
    return 0
