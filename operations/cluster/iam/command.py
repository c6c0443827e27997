"""`trn iam`: the policy documents of one stack, for the one who brings it up and the one who looks after it."""

import json
from dataclasses import dataclass
from pathlib import Path

from facts.iam import Document
from operations.cluster.iam.documents import Permissions, deployer_permissions, documents, operator_permissions, statements
from operations.errors import MISUSE, CommandError
from operations.output import errors, results, write_json
from operations.rehearse.command import record_stack, settings_of
from operations.stack_file import read_stack_file


@dataclass(frozen=True)
class IamOptions:
    """What the command line said."""

    stack: str
    deployer: bool
    operator: bool
    output: Path | None
    json_file: Path | None


def run(options: IamOptions) -> int:
    """Print the documents, or write one file for each."""
    if not options.deployer and not options.operator:
        raise CommandError("whose document?", "add --deployer for `pulumi up`, --operator for the commands of trn, or both", code=MISUSE)
    stack_file = read_stack_file(options.stack)
    settings = settings_of(stack_file)
    wanted: dict[str, Permissions] = {}
    if options.deployer:
        wanted["deployer"] = deployer_permissions(record_stack(stack_file).resources())
    if options.operator:
        wanted["operator"] = operator_permissions()
    made = {
        f"{settings.name}-{settings.region}-{whose}-{number}": document
        for whose, permissions in wanted.items()
        for number, document in enumerate(documents(statements(permissions, settings.name, settings.region)), 1)
    }
    write_json(made, options.json_file)
    if options.output is not None:
        _write(made, options.output)
    elif options.json_file is None:
        results().print(json.dumps(made, indent=2), markup=False, soft_wrap=True)
    return 0


def _write(made: dict[str, Document], folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, document in made.items():
            (folder / f"{name}.json").write_text(json.dumps(document, indent=2) + "\n")
    except OSError as error:
        raise CommandError(f"cannot write `{error.filename}`: {error.strerror}", "name a folder with --output") from error
    for name in made:
        errors().print(f"aws iam create-policy --policy-name {name} --policy-document file://{folder / name}.json", markup=False)
