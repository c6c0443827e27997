"""`trn iam`: the policy documents of one stack, for those who deploy it and those who operate it."""

import json
from pathlib import Path
from typing import Annotated

import typer

from facts.typed import typed
from trn.cli.errors import MISUSE, CommandError
from trn.cli.options import JsonFile, Stack


def iam(
    stack: Stack,
    deployer: Annotated[bool, typer.Option("--deployer", help="For `pulumi up`, `pulumi destroy` and `trn check`.")] = False,
    operator: Annotated[bool, typer.Option("--operator", help="For the commands of trn.")] = False,
    buyer: Annotated[bool, typer.Option("--buyer", help="For `trn capacity buy`, beside --operator: it spends money at once.")] = False,
    output: Annotated[Path | None, typer.Option("--output", help="Folder for one file per document.")] = None,
    json_file: JsonFile = None,
) -> int:
    """Least-privilege IAM documents for a stack, made from the calls that the program and `trn` make.

    Example: trn iam dev --deployer --output build/iam
    """
    from trn.before.iam.documents import (
        Permissions,
        buyer_permissions,
        deployer_permissions,
        documents,
        operator_permissions,
        statements,
    )
    from trn.before.iam.report import IamReport
    from trn.change.clients import access
    from trn.cli.output import results, write_json
    from trn.engine.program import record_stack, settings_of
    from trn.engine.stack_file import read_stack_file

    if not (deployer or operator or buyer):
        hint = f"add --deployer for `{typed('pulumi up')}`, --operator for the commands of trn, --buyer for `{typed('trn capacity buy')}`"
        raise CommandError("whose document?", hint, code=MISUSE)
    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    wanted: dict[str, Permissions] = {}
    if deployer:
        wanted["deployer"] = deployer_permissions(record_stack(stack_file).resources())
    if operator:
        wanted["operator"] = operator_permissions(
            own_network=settings.network.existing is None, image_repository=settings.training.image_repository
        )
    if buyer:
        wanted["buyer"] = buyer_permissions()
    policies = {
        f"{settings.name}-{settings.region}-{whose}-{number}": document
        for whose, permissions in wanted.items()
        for number, document in enumerate(documents(statements(permissions, settings.name, settings.region, settings.iam.path)), 1)
    }
    report = IamReport(policies=policies)
    write_json(report, json_file)
    if output is not None:
        _write({name: json.dumps(document, indent=2) + "\n" for name, document in policies.items()}, output)
    elif json_file is None:
        access().announce(on_standard_error=True)
        results().print(report.as_json(), markup=False, soft_wrap=True, end="")
    return 0


def _write(texts: dict[str, str], folder: Path) -> None:
    from trn.cli.output import errors
    from trn.cli.text_files import write_text

    for name, text in texts.items():
        write_text(folder / f"{name}.json", text, "name a folder with --output")
    for name in texts:
        errors().print(f"aws iam create-policy --policy-name {name} --policy-document file://{folder / name}.json", markup=False)
