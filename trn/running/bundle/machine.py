"""Parts that this machine and Pulumi have: versions, the stack file, what Pulumi holds."""

import os
import platform
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from facts.typed import typed
from stacks.stack_yaml import MAX_BYTES
from trn.cli.errors import CommandError
from trn.cli.text_files import read_text
from trn.running.bundle.part import YAML, Absent, Part
from trn.running.bundle.subject import Subject

PACKAGES = ("pulumi", "pulumi-aws", "pulumi-eks", "pulumi-kubernetes", "boto3", "botocore", "kubernetes", "pydantic")
TOOLS = {
    "pulumi": ("pulumi", "version"),
    "aws": ("aws", "--version"),
    "kubectl": ("kubectl", "version", "--client", "--output=json"),
    "checkout": ("git", "describe", "--always", "--dirty", "--abbrev=12"),
}
CHECKOUT = Path(__file__).resolve().parents[3]
_SET = re.compile(r"(?:AWS|PULUMI|KUBE|TRN)\w*|(?:HTTPS?|NO|ALL)_PROXY", re.IGNORECASE)
"""Variables that change what commands do. Only their names are kept."""


def parts(subject: Subject) -> Iterator[Part]:
    """Those that need nothing but this machine, then those of Pulumi."""
    yield Part("versions.json", "versions of trn, Python, SDKs and tools", "this machine", "each tool's own", lambda: versions(subject))
    yield Part(
        f"stack-file{YAML}", "the stack file", "this machine", subject.path.name,
        lambda: read_text(subject.path, MAX_BYTES, "check that it is a file that you may read"),
    )  # fmt: skip
    yield Part("stack-file-check.txt", "what the program says of the stack file", "this machine", "the program", lambda: _judged(subject))
    export = typed(f"pulumi stack export --stack {subject.stack}")
    yield Part("pulumi/resources.json", "resources that Pulumi holds, without their values", "Pulumi", export, lambda: _resources(subject))
    yield Part("pulumi/outputs.json", "stack outputs", "Pulumi", export, lambda: _outputs(subject))


def versions(subject: Subject) -> dict[str, Any]:
    """Versions, and the names of the variables that are set. A tool that is missing or hangs has its reason in place of a version."""
    from trn.cli.version import version

    return {
        "trn": version(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "packages": {name: _installed(name) for name in PACKAGES},
        "tools": {name: _told(subject, command) for name, command in TOOLS.items()},
        "variables that are set": sorted(name for name in os.environ if _SET.fullmatch(name)),
    }


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _told(subject: Subject, command: tuple[str, ...]) -> str:
    try:
        # git speaks of the checkout of trn, wherever the command is typed.
        return " ".join(subject.tools.answer(command, subject.patience_s / (len(TOOLS) + 1), folder=CHECKOUT).split())
    except CommandError as error:
        return f"not known: {error.args[0]}"


def _judged(subject: Subject) -> str:
    settings = subject.settings
    return f"it is taken: cluster {settings.name} in {settings.region}\n"


def _resources(subject: Subject) -> dict[str, Any]:
    deployment = subject.export()
    return {
        "resources": [
            {key: each[key] for key in ("urn", "id", "created", "modified", "external", "initErrors") if key in each}
            for each in deployment.get("resources") or ()
        ],
        "pending operations": [
            {"urn": (each.get("resource") or {}).get("urn"), "type": each.get("type")}
            for each in deployment.get("pending_operations") or ()
        ],
    }


def _outputs(subject: Subject) -> dict[str, Any]:
    if not subject.outputs:
        raise Absent("the state holds no outputs")
    return dict(subject.outputs)
