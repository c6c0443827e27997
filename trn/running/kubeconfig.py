"""`trn kubeconfig`: how kubectl gets in, from what EKS says of the cluster."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from trn.cli.errors import MISUSE, CommandError
from trn.cli.options import JsonFile, Stack
from trn.cli.text_files import read_text


def kubeconfig(
    stack: Stack,
    output: Annotated[Path | None, typer.Option("--output", help="File to write, readable by you alone. Else standard output.")] = None,
    json_file: JsonFile = None,
) -> int:
    """A kubeconfig of the cluster that asks the AWS CLI for tokens and holds no secret. Your own kubeconfig is not touched.

    Example: trn kubeconfig dev --output ~/.kube/trn, or: trn kubeconfig dev
    """
    from trn.change.clients import access
    from trn.change.cluster import KubeconfigReport, kubeconfig_of
    from trn.cli.output import errors, write_json
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file

    settings = settings_of(read_stack_file(stack))
    document = kubeconfig_of(access().aws(stack, settings.region), settings.name)
    write_json(KubeconfigReport(kubeconfig=document), json_file)
    if access().is_practice:
        note = "note     it leads nowhere: the API server is part of the practice account, and only `trn --practice` reaches it"
        errors().print(note, markup=False, soft_wrap=True)
    # JSON is YAML that kubectl takes.
    text = json.dumps(document, indent=2) + "\n"
    if output is not None:
        _refuse_foreign(output, document)
        _write(output, text)
        errors().print(f"export KUBECONFIG={output}", markup=False, soft_wrap=True)
    elif json_file is None:
        sys.stdout.write(text)
    return 0


def _refuse_foreign(path: Path, document: Mapping[str, Any]) -> None:
    """Raises CommandError where a file is there that is not an earlier answer of this command: it may hold the ways to all other clusters."""
    from stacks.stack_yaml import MAX_BYTES, YamlError, read_yaml

    own = document["current-context"]
    hint = f"name a file of its own, such as --output {path.with_name(f'trn-{own}')}; `KUBECONFIG=A:B` has both"
    if not path.is_file() or not path.stat().st_size:
        return
    try:
        there = read_yaml(read_text(path, MAX_BYTES, hint))
    except YamlError as error:
        raise CommandError(f"`{path}` is there, and is no kubeconfig: {error}", hint, code=MISUSE) from error
    names = {str(entry.get("name")) for entry in there.get("clusters") or ()} if isinstance(there, dict) else set[str]()
    if names != {own}:
        others = ", ".join(sorted(names - {own})) or "something else"
        raise CommandError(f"`{path}` is there, and is not of this cluster alone: it holds {others}", hint, code=MISUSE)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Never readable by others, not even for a moment; kubectl warns of a file that is.
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            path.chmod(0o600)
            file.write(text)
    except OSError as error:
        raise CommandError(f"cannot write `{path}`: {error.strerror}", "name a file with --output") from error
