"""A cluster of others described as a stack, as a change: the account is only read, and two files are written."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from facts.typed import typed
from facts.yaml_text import write_yaml
from stacks.namespace import NAMESPACE
from stacks.problems import ConfigurationError
from stacks.stack_yaml import MAX_BYTES
from trn.aws.api import Api
from trn.aws.identity import caller, principal_arn
from trn.aws.other_cluster import OtherCluster
from trn.before.import_cluster.draft import Draft, draft_of
from trn.before.import_cluster.import_file import import_file
from trn.before.import_cluster.locate import Found, found_in
from trn.before.import_cluster.makers import maker_of
from trn.before.import_cluster.matching import match
from trn.before.import_cluster.plan import after_import
from trn.before.import_cluster.report import Findings, ImportReport, data_of, lines
from trn.change.action import Action, Difference, Hold, Outcome, Pace, Refusal, written
from trn.change.hold import FilesLock
from trn.change.identity import File, New, file_id, file_of
from trn.change.known import Unknown
from trn.change.report import Report
from trn.change.whose import Site, Whose
from trn.cli.errors import MISUSE, CommandError
from trn.cli.text_files import read_text
from trn.engine.program import record_stack, settings_of
from trn.engine.stack_file import StackFile, parsed

if TYPE_CHECKING:
    from rich.console import RenderableType

_HINT = "make room there, or change into a folder that you may write to"


@dataclass(frozen=True)
class Described:
    """The cluster, and the files as they are and would be."""

    stack_file: File
    stack_text: str
    """As it is, or as it would be where there is none."""
    import_file: File
    found: Findings | None
    """None where the program refuses the draft."""
    import_text: str = ""
    wrong: ConfigurationError | None = None
    """What the program says of the draft: it is written all the same, for its reader to change."""
    silent: tuple[Unknown, ...] = ()


@dataclass(frozen=True)
class ImportCluster:
    """Describe a cluster as a stack, and write its file and the import file."""

    root: Path
    project: str
    stack: str
    cluster: str
    target: Path
    """Where the import file is written."""
    force: bool
    api_in: Callable[[str], Api]
    red: list[str] = field(default_factory=list[str])
    """What must be settled first, by the last look."""
    pace = Pace(in_order=True)
    document = ImportReport

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"import {self.stack} --cluster {self.cluster}"

    @property
    def _path(self) -> Path:
        return self.root / f"Pulumi.{self.stack}.yaml"

    def hold(self, _: Site, __: Whose) -> Hold:
        """Of the project's files: nothing in the account is changed, so nobody else is held up."""
        return FilesLock(self.root / "Pulumi.yaml")

    def look(self, site: Site, _: Whose) -> Described:
        """The account, and the stack file that is there or would be. Raises CommandError for what cannot be taken over, or is another's file."""
        there = found_in(self.cluster, site.api.region, self.api_in)
        draft = draft_of(there.cluster, principal_arn(site.api, caller(site.api)))
        file, target, silent = file_id(self._path), file_id(self.target), _silent(there)
        text = read_text(self._path, MAX_BYTES, _HINT) if file.sha256 else stack_file_text(self.stack, there.cluster, draft)
        stack_file = parsed(self.stack, text, self.root)
        if file.sha256:
            _refuse_other(stack_file, there.cluster)
        try:
            # Addresses of the documentation are taken here: the draft has one where the endpoint is open to all.
            settings_of(stack_file)
        except ConfigurationError as error:
            if file.sha256:
                raise
            return Described(file, text, target, None, wrong=error, silent=silent)
        recording = record_stack(stack_file)
        matches = match(site.api, recording, there.cluster, f"/{self.project}/{self.stack}")
        found = Findings(
            self.stack,
            there.cluster,
            maker_of(there.cluster),
            kept(draft, stack_file) if file.sha256 else draft,
            recording,
            matches,
            after_import(recording, matches, there.cluster),
            self._path,
            self.target,
        )
        self.red[:] = found.aftermath.red
        entries = json.dumps(import_file(recording, matches.taken), indent=2) + "\n"
        return Described(file, text, target, found, entries, silent=silent)

    def refusals(self, seen: Described) -> Iterator[Refusal]:
        """An import file that is there, and says something else."""
        if seen.found and seen.import_file.sha256 and not self.force and not _holds(seen.import_file, seen.import_text):
            hint = "add --force to overwrite it, or name another with --file"
            yield Refusal(f"{self.target.name} is there already, and differs", hint, code=MISUSE)

    def actions(self, seen: Described) -> list[Action]:
        """The files that do not hold it yet; of a draft that the program refuses, what it says."""
        first = [] if seen.stack_file.sha256 else [_writing(seen.stack_file, seen.stack_text, "it describes the cluster")]
        if seen.wrong is not None:
            wrong = seen.wrong

            def refuse(_: Site, __: New) -> Outcome:
                raise wrong

            return [*first, Action("read", New("stack", self.stack, str(self._path)), "the program must take it", refuse, is_change=False)]
        is_written = _holds(seen.import_file, seen.import_text)
        return [*first, *([] if is_written else [_writing(seen.import_file, seen.import_text, f"`{typed('pulumi import')}` reads it")])]

    def question(self, _: Described) -> None:
        """None: what is written is new, or named with --force."""

    def shown(self, _: Described) -> Iterator[str]:
        """All is said with what was written."""
        return iter(())

    def differences(self, shown: Described, now: Described) -> Iterator[Difference]:
        """A cluster, or a stack file, that says something else by now."""
        if (shown.stack_text, shown.import_text) != (now.stack_text, now.import_text):
            yield Difference("the cluster, or the stack file, has changed since it was looked at", is_grave=True)

    def result(self, seen: Described, report: Report) -> "Iterator[RenderableType]":
        """What maps to what, what was written, and the steps."""
        yield from (f"{action}: {text}" for action, outcome in report.left for text in outcome.said)
        if seen.found is not None and not report.left:
            yield from lines(seen.found, [Path(action.object.name) for action, _ in report.done])

    def data(self, seen: Described, _: Report) -> Mapping[str, Any]:
        """For `--json`."""
        return data_of(seen.found) if seen.found else {}


def _writing(file: File, text: str, because: str) -> Action:
    return Action("write", file, because, lambda _, confirmed: written(confirmed, text, _HINT))


def _holds(file: File, text: str) -> bool:
    return file == file_of(file.path, text)


def _silent(there: Found) -> tuple[Unknown, ...]:
    what = "whether clusters of other regions have the control plane's role"
    return (Unknown(what, f"AWS refuses to list those of {', '.join(there.closed)}"),) if there.closed else ()


def kept(draft: Draft, stack_file: StackFile) -> Draft:
    """What a file that was there says, in place of the draft: its notes were for the first reading."""
    own = stack_file.configuration
    names = {"core", *(own.get("nodeGroups") or {})}
    return Draft(own, [], {theirs: ours for theirs, ours in draft.groups.items() if ours in names})


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
