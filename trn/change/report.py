"""What became of a change: written whatever ends it."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from facts.document import Document, Part
from trn.aws.cluster_identity import ClusterIdentity
from trn.change.action import Action, End, Ended, Outcome, OutcomeKind
from trn.change.consent import Confirmed
from trn.change.known import Unknown
from trn.change.whose import Site, Whose
from trn.cli.errors import CommandError, OwnershipError
from trn.cli.interruption import signals_kept
from trn.cli.output import STANDARD_OUTPUT, write_json

HINT = "name a file with --json, or - for standard output"
DONE, ENDED = ("done", "gone"), ("done", "going", "refused", "unsure")
UNDER_WAY = Outcome("unsure", ("its end is not known: it may be done",))


class Entry(Part, frozen=True):
    """An action."""

    verb: str
    kind: str
    name: str
    id: str
    """What no second object shares: an ARN, a uid, a digest."""
    why: str


class EndedEntry(Entry, frozen=True):
    """An action that was begun, or found and not confirmed."""

    outcome: OutcomeKind
    said: tuple[str, ...]


class ChangeDocument(Document, frozen=True):
    """What the documents of all changing commands have. A command's own keys are null where it ended before it knew them."""

    command: str
    """As it is typed."""
    stack: str
    identity: ClusterIdentity | None
    """Whose the cluster is; null where it ended before that was read."""
    end: End
    error: str
    """What ended it before its time; empty at its own end."""
    confirmed: tuple[Entry, ...]
    done: tuple[EndedEntry, ...]
    left: tuple[EndedEntry, ...]
    unknown: tuple[str, ...]
    """What could not be read."""
    lock: str
    """Why the lock stays; empty where it does not."""


@dataclass
class Report:
    """Filled in as the change goes on."""

    name: str
    site: Site
    document: type[ChangeDocument]
    end: End = "failed"
    error: str = ""
    whose: Whose | None = None
    confirmed: Confirmed | None = None
    unknown: list[Unknown] = field(default_factory=list)
    outcomes: list[tuple[Action, Outcome]] = field(default_factory=list)
    """Of each action that was begun, or that was found and not confirmed, the last one."""
    has_lock: bool = False
    """Whether the lock was taken."""
    lock: str = ""
    """Why the lock stays; empty where it does not."""
    is_written: bool = True
    own: Callable[[], Mapping[str, Any]] = dict
    """The command's own keys, by the names of its model."""

    def note(self, action: Action, outcome: Outcome) -> None:
        """What became of an action, in place of what was known of it."""
        self.outcomes = [*((each, what) for each, what in self.outcomes if not action.is_within(each)), (action, outcome)]

    def forget(self, action: Action) -> None:
        """An action that is no matter of this run any more."""
        self.outcomes = [(each, what) for each, what in self.outcomes if each != action]

    def has_ended(self, action: Action) -> bool:
        """Whether it was done, is under way, was refused for good, or may be done: then it is not begun again."""
        known = self.outcome(action)
        return known is not None and known.kind in ENDED

    def outcome(self, action: Action) -> Outcome | None:
        """What is known of an action; None before it is begun."""
        return next((what for each, what in self.outcomes if (each.verb, each.object) == (action.verb, action.object)), None)

    @property
    def done(self) -> list[tuple[Action, Outcome]]:
        """What is done, or is not to be done any more."""
        return [(action, outcome) for action, outcome in self.outcomes if outcome.kind in DONE]

    def is_over(self, action: Action) -> bool:
        """Whether what comes after an action may begin: it was done or refused."""
        return any(action.is_within(each) and what.kind in (*DONE, "refused") for each, what in self.outcomes)

    @property
    def left(self) -> list[tuple[Action, Outcome]]:
        """What is not done."""
        return [(action, outcome) for action, outcome in self.outcomes if outcome.kind not in DONE]

    @property
    def code(self) -> int:
        """Exit code of a change that no error ended."""
        return int(self.end not in ("done", "nothing", "shown") or bool(self.lock) or not self.is_written)

    @property
    def written(self) -> ChangeDocument:
        """For `--json`: what all changes have, and the command's own keys."""
        common: dict[str, Any] = {
            "command": self.name,
            "stack": self.site.subject.stack,
            "identity": self.whose.ownership.identity if self.whose else None,
            "end": self.end,
            "error": self.error,
            "confirmed": [entry(action) for action in self.confirmed.actions] if self.confirmed else [],
            "done": [entry(*each) for each in self.done],
            "left": [entry(*each) for each in self.left],
            "unknown": [str(each) for each in self.unknown],
            "lock": self.lock,
        }
        return self.document.model_validate({**common, **self.own()})


def entry(action: Action, outcome: Outcome | None = None) -> dict[str, Any]:
    """An action, and what became of it, for the fields of an Entry or an EndedEntry."""
    found = {"verb": action.verb, "kind": action.object.kind, "name": action.object.name, "id": action.object.which, "why": action.because}
    return found if outcome is None else {**found, "outcome": outcome.kind, "said": outcome.said}


@contextmanager
def writing(report: Report) -> Iterator[None]:
    """Writes the report at the end of the block, after whatever ends it; raises CommandError before it where it could not be written."""
    _refuse_unwritable(report.site.json_file)
    try:
        yield
    except BaseException as error:
        report.end, report.error = _end(error, report), understood(error)
        raise
    finally:
        with signals_kept():
            _write(report)


def understood(error: BaseException) -> str:
    """An error in a line."""
    from trn.aws.errors import command_error

    known = error if isinstance(error, CommandError) else command_error(error)
    return str(known.args[0]) if known is not None else str(error) or type(error).__name__


def _end(error: BaseException, report: Report) -> End:
    match error:
        case Ended():
            return error.end
        case KeyboardInterrupt():
            return "interrupted"
        case typer.Abort():
            return "declined"
        case OwnershipError():
            return "stopped" if report.has_lock else "refused"
    return "failed"


def _refuse_unwritable(place: Path | None) -> None:
    """Raises CommandError for a place that cannot be written, before anything is asked. What else may happen to it is seen at the end."""
    if place is None or place == STANDARD_OUTPUT:
        return
    there = next(each for each in (place.absolute(), *place.absolute().parents) if each.exists())
    if there.is_dir() if there == place.absolute() else not there.is_dir():
        raise CommandError(f"cannot write `{place}`: {there} is {'a folder' if there.is_dir() else 'no folder'}", HINT)
    if not os.access(there, os.W_OK):
        raise CommandError(f"cannot write `{place}`: Permission denied", HINT)


def _write(report: Report) -> None:
    document = report.written
    try:
        write_json(document, report.site.json_file)
    except (CommandError, OSError) as error:
        report.is_written = False
        sys.stderr.write(f"{document.as_json()}{understood(error)}; it is above\n")
