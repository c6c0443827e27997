"""Runs `trn import`."""

import json
from pathlib import Path

from facts.yaml_text import write_yaml
from stacks.namespace import NAMESPACE
from trn.aws.api import Api
from trn.aws.identity import caller, principal_arn
from trn.aws.other_cluster import OtherCluster
from trn.before.import_cluster.draft import Draft, draft_of
from trn.before.import_cluster.import_file import import_file
from trn.before.import_cluster.locate import find
from trn.before.import_cluster.makers import maker_of
from trn.before.import_cluster.matching import match
from trn.before.import_cluster.plan import after_import
from trn.before.import_cluster.report import Report, document_of, lines
from trn.change.clients import access
from trn.cli.errors import MISUSE, CommandError
from trn.cli.lines import print_lines
from trn.cli.output import results, write_json
from trn.cli.placement import STACK_NAME
from trn.cli.text_files import write_text
from trn.engine.program import record_stack, settings_of
from trn.engine.stack_file import StackFile, project_of, read_stack_file

_HINT = "make room there, or change into a folder that you may write to"


def run(stack: str, cluster: str, region: str, output: Path | None, json_file: Path | None, *, force: bool) -> int:
    """The exit code. Raises CommandError, ConfigurationError, and what botocore raises."""
    if not STACK_NAME.fullmatch(stack):
        raise CommandError(f"`{stack}` is no stack name", "letters, digits, hyphens, underscores and dots", code=MISUSE)
    if access().is_practice:
        raise CommandError("a practice account holds nothing but the stack's own cluster", "run it without --practice", code=MISUSE)
    root, project = project_of()
    target = output or root / f"import-{stack}.json"
    _refuse_place(target, root)
    other = find(cluster, region, lambda where: access().aws(stack, where))
    api = access().aws(stack, other.region)
    draft = draft_of(other, _caller(api))
    path = root / f"Pulumi.{stack}.yaml"
    is_there = path.exists()
    if is_there:
        _refuse_other(read_stack_file(stack), other)
    else:
        write_text(path, stack_file_text(stack, other, draft), _HINT)
    stack_file = read_stack_file(stack)
    # Addresses of the documentation are taken here: the draft has one where the endpoint is open to all.
    settings_of(stack_file)
    if is_there:
        draft = kept(draft, stack_file)
    recording = record_stack(stack_file)
    matches = match(api, recording, other, f"/{project}/{stack}")
    found = after_import(recording, matches, other)
    text = json.dumps(import_file(recording, matches.taken), indent=2) + "\n"
    if not force and target.exists() and not _holds(target, text):
        raise CommandError(
            f"{target.name} is there already, and differs", "add --force to overwrite it, or name another with --file", code=MISUSE
        )
    write_text(target, text, _HINT)
    report = Report(stack, other, maker_of(other), draft, recording, matches, found, path, target, is_there)
    write_json(document_of(report), json_file)
    print_lines(results(json_file), list(lines(report)))
    return 1 if found.red else 0


def kept(draft: Draft, stack_file: StackFile) -> Draft:
    """What a file that was there says, in place of the draft: its notes were for the first reading."""
    own = stack_file.configuration
    names = {"core", *(own.get("nodeGroups") or {})}
    return Draft(own, [], {theirs: ours for theirs, ours in draft.groups.items() if ours in names})


def _refuse_place(target: Path, root: Path) -> None:
    """Raises CommandError, before anything is written, for a folder or a device, and for files that Pulumi reads."""
    if target.exists() and not target.is_file():
        raise CommandError(f"{target} is not a file", "name a file with --file", code=MISUSE)
    if target.resolve().parent == root and target.name.startswith("Pulumi"):
        raise CommandError(f"{target.name} is a file of the project", "name another with --file, such as import.json", code=MISUSE)


def _holds(target: Path, text: str) -> bool:
    data = text.encode()
    return target.stat().st_size == len(data) and target.read_bytes() == data


def _caller(api: Api) -> str:
    return principal_arn(api, caller(api))


def _refuse_other(stack_file: StackFile, other: OtherCluster) -> None:
    wanted = {"name": other.name, "region": other.region}
    for key, value in wanted.items():
        given = stack_file.configuration.get(key)
        if given != value:
            raise CommandError(
                f"Pulumi.{stack_file.stack}.yaml is there already, and its {key} is {given}, not {value}",
                "name another stack, or delete the file",
                code=MISUSE,
            )


def stack_file_text(stack: str, other: OtherCluster, draft: Draft) -> str:
    """The draft of the stack file, with what to look at before it is used."""
    head = [
        "# yaml-language-server: $schema=docs/config.schema.json",
        "#",
        f"# Made by `trn import {stack}` from cluster {other.name} in {other.region}. Every key: docs/configuration.md",
        *(f"# Look at: {note}" for note in draft.notes),
    ]
    pairs = {f"{NAMESPACE}:{key}": value for key, value in draft.configuration.items()}
    return "\n".join(head) + "\n" + write_yaml({"config": pairs})
