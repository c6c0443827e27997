"""`trn kubeconfig`: how kubectl gets in, from what EKS says of the cluster."""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from operations.access import access
from operations.errors import CommandError
from operations.kube.cluster import kubeconfig_of
from operations.output import errors, write_json
from operations.rehearse.command import settings_of
from operations.stack_file import read_stack_file


@dataclass(frozen=True)
class KubeconfigOptions:
    """What the command line said."""

    stack: str
    output: Path | None
    json_file: Path | None


def run(options: KubeconfigOptions) -> int:
    """Print it, or write it where nobody else can read it. JSON is YAML that kubectl takes."""
    settings = settings_of(read_stack_file(options.stack))
    made = kubeconfig_of(access().aws(options.stack, settings.region), settings.name)
    write_json(made, options.json_file)
    text = json.dumps(made, indent=2) + "\n"
    if options.output is not None:
        _write(options.output, text)
        errors().print(f"export KUBECONFIG={options.output}", markup=False, soft_wrap=True)
    elif options.json_file is None:
        sys.stdout.write(text)
    return 0


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Never readable by others, not even for a moment; kubectl warns of a file that is.
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            path.chmod(0o600)
            file.write(text)
    except OSError as error:
        raise CommandError(f"cannot write `{path}`: {error.strerror}", "name a file with --output") from error
