"""`trn import`: find the cluster, describe it as a stack, say what maps to what and what follows. The account is only read."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trn.cli.options import JsonFile

if TYPE_CHECKING:
    from trn.aws.api import Api


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

    Reads the account and Pulumi's state, and changes nothing in them. A stack file that is there is read and left as it is. Exits with 1 where
    something must be settled before `pulumi up`.

    Example: trn import prod --cluster trainium-inferentia --region us-west-2
    """
    from trn.before.import_cluster.change import ImportCluster
    from trn.before.import_cluster.locate import region_of
    from trn.change.clients import access
    from trn.change.executor import carry_out
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.cli.errors import MISUSE, CommandError
    from trn.cli.placement import STACK_NAME
    from trn.engine.stack_file import project_of

    if not STACK_NAME.fullmatch(stack):
        raise CommandError(f"`{stack}` is no stack name", "letters, digits, hyphens, underscores and dots", code=MISUSE)
    if access().is_practice:
        raise CommandError("a practice account holds nothing but the stack's own cluster", "run it without --practice", code=MISUSE)
    root, project = project_of()
    target = import_file or root / f"import-{stack}.json"
    refuse_place(target, root)

    def api_in(where: str) -> "Api":
        return access().aws(stack, where)

    found = region_of(cluster, region, api_in)
    change = ImportCluster(root, project, stack, cluster, target, force, api_in)
    subject = StackCluster(project, stack, cluster, is_from_others=True)
    # Whoever names the cluster on the command line has said whose it is, as with --name.
    with terminal(subject, found, "looking", json_file, None, yes=False, name=cluster, break_lock=False) as (site, person):
        return carry_out(change, site, person) or int(bool(change.red))


def refuse_place(target: Path, root: Path) -> None:
    """Raises CommandError, before anything is looked at, for a folder or a device, and for files that Pulumi reads."""
    from trn.cli.errors import MISUSE, CommandError

    if target.exists() and not target.is_file():
        raise CommandError(f"{target} is not a file", "name a file with --file", code=MISUSE)
    if target.resolve().parent == root and target.name.startswith("Pulumi"):
        raise CommandError(f"{target.name} is a file of the project", "name another with --file, such as import.json", code=MISUSE)
