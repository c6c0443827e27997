"""`trn import`: find the cluster, describe it as a stack, say what maps to what and what follows. Reads the account only."""

from pathlib import Path
from typing import Annotated

import typer

from trn.cli.options import JsonFile


def import_cluster(
    stack: Annotated[str, typer.Option("--stack", "-s", metavar="NAME", help="Stack to make; its file is Pulumi.NAME.yaml.")],
    cluster: Annotated[str, typer.Option("--cluster", help="Name of the EKS cluster.")],
    region: Annotated[str, typer.Option("--region", help="Its region; without it, all with Neuron instances are looked at.")] = "",
    import_file: Annotated[
        Path | None, typer.Option("--file", help="The import file; without it, import-NAME.json beside the stack file.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an import file that is there.")] = False,
    json_file: JsonFile = None,
) -> int:
    """Take over a cluster that the original Terraform blueprint or eksctl made: a stack file, an import file, the plan, the steps.

    Reads the account and changes nothing in it. A stack file that is there is read and left as it is. Exits with 1 where something must be settled
    before `pulumi up`.

    Example: trn import prod --cluster trainium-inferentia --region us-west-2
    """
    from trn.before.import_cluster.run import run

    return run(stack, cluster, region, import_file, json_file, force=force)
