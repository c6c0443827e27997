"""A tiny invented change: books on a shelf are removed, each by its uid; what the laws of the executor are tried with."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.trn.aws.cloud import Cloud
from tests.trn.aws.leftovers import leave_control_plane
from tests.trn.change.owned import FakePulumi, break_locks, locks_among, state, subject
from trn.change.action import Action, Difference, Hold, Outcome, Pace, PulumiRun, Question, Refusal
from trn.change.consent import Person
from trn.change.executor import carry_out
from trn.change.hold import cluster_lock
from trn.change.identity import Kube, StateId, state_id
from trn.change.known import Unknown, known
from trn.change.ownership import Consent
from trn.change.report import ChangeDocument, Report
from trn.change.whose import Site, Whose
from trn.cli.errors import CommandError

CLUSTER = "train"


@dataclass(frozen=True)
class Books:
    """What is on the shelf."""

    there: tuple[Kube, ...] | Unknown
    state: Any = None
    lost: tuple[Unknown, ...] = ()


@dataclass
class Library:
    """An account with its cluster, a shelf, a person, and what happens when."""

    folder: Path
    shelf: dict[str, str] = field(default_factory=lambda: {"a": "uid-a", "b": "uid-b"})
    """Names and uids."""
    removed: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    looks: int = 0
    before_look: dict[int, Callable[[], Any]] = field(default_factory=dict)
    """By the number of the look, from 1."""
    put_back: list[str] = field(default_factory=list)
    at_undo: dict[str, Callable[[], Any]] = field(default_factory=dict)
    """By the uid of what is put back."""
    before_removal: dict[int, Callable[[], Any]] = field(default_factory=dict)
    at_pause: dict[int, Callable[[], Any]] = field(default_factory=dict)
    pauses: int = 0

    def __post_init__(self) -> None:
        self.cloud = Cloud()
        leave_control_plane(self.cloud, CLUSTER)
        self.pulumi = FakePulumi(state(CLUSTER, "fs-1"))
        self.pulumi.on_run = lambda command: (self.removed.append(command[1]), (0, ""))[1]

    @property
    def json_file(self) -> Path:
        """Where the report goes."""
        return self.folder / "report.json"

    @property
    def report(self) -> dict[str, Any]:
        """As it was written."""
        return json.loads(self.json_file.read_text())

    @property
    def lock(self) -> dict[str, Any]:
        """Locks that are held."""
        return locks_among(self.cloud.of("template"))

    def lose_lock(self) -> None:
        """Another run breaks it."""
        break_locks(self.cloud.of("template"))

    def make_again(self) -> None:
        """Another cluster stands in its place."""
        self.cloud.of("cluster")[CLUSTER]["createdAt"] = "2026-02-02T00:00:00Z"

    def grow(self) -> None:
        """Pulumi's state gets a resource."""
        self.pulumi.export = state(CLUSTER, "fs-1", "fs-2")

    def shrink(self) -> None:
        """Pulumi's state loses one."""
        self.pulumi.export = state(CLUSTER)

    def pause(self, _: float) -> None:
        """Time passes."""
        self.pauses += 1
        self.at_pause.get(self.pauses, lambda: None)()

    def site(self, **more: Any) -> Site:
        """Where it happens."""

        def tell(what: Any) -> None:
            self.shown.append(str(what))

        given: dict[str, Any] = {"json_file": self.json_file, **more}
        given = {"subject": subject(CLUSTER), **given}
        return Site(self.cloud.api, self.pulumi, kubernetes=lambda: None, pause=self.pause, tell=tell, say=self.results.append, **given)  # pyright: ignore

    def person(self, *answers: bool, yes: bool = False, types: str = "", name: str = "") -> Person:
        """One who says yes or no, question by question, and types a name."""
        left = list(answers)

        def ask(question: str) -> bool:
            self.asked.append(question)
            return left.pop(0)

        def confirm(question: str) -> None:
            if not ask(question):
                raise NoError

        def prompt(question: str) -> str:
            self.asked.append(question)
            return types

        return Person(Consent(yes, name, confirm=confirm, ask=ask, prompt=prompt), self.shown.append)

    def run(self, change: "Remove", person: Person, **more: Any) -> int:
        """Carry it out."""
        return carry_out(change, self.site(**more), person)

    def ends(self, change: "Remove", person: Person, error: type[BaseException] = CommandError, **more: Any) -> str:
        """Carry it out to an error; its text."""
        with pytest.raises(error) as raised:
            self.run(change, person, **more)
        return str(raised.value)


class NoError(Exception):
    """A person said no."""


def pulumi_run(
    state: StateId, words: tuple[str, ...], because: str, *, environment: Mapping[str, str] | None = None,
    expects: Literal["same", "within"] = "same",
) -> PulumiRun:  # fmt: skip
    """A run, by the words of its command line."""

    def run(site: Site, _: StateId) -> Outcome:
        code, printed = site.pulumi.run(words, environment or {})
        return Outcome("held", (printed,)) if code else Outcome("done")

    return PulumiRun(" ".join(words[:2]), state, because, run, expects=expects)


class RemoveReport(ChangeDocument, frozen=True):
    """What was removed."""

    schema_: Literal["remove"] = "remove"
    removed: tuple[str, ...] | None = None


@dataclass
class Remove:
    """Remove all books."""

    library: Library
    pace: Pace = field(default_factory=Pace)
    asks: Callable[[Books], bool] = lambda seen: True
    differs: Callable[[Books, Books], list[Difference]] = lambda shown, now: []
    refuses: Callable[[Books], list[Refusal]] = lambda seen: []
    outcome: Callable[[str], Outcome] = lambda name: Outcome("done")
    more: Callable[[str], dict[str, Any]] = lambda name: {}
    """What else its action says of a book: phase, what it follows from."""
    lost: Callable[[int], tuple[Unknown, ...]] = lambda look: ()
    """What a look does not see, by its number."""
    runs: Any = ""
    """Whether Pulumi runs after the books: what it expects of the state."""
    undoes: bool = False
    """Whether books can be put back."""
    name: str = "remove"
    document: type[ChangeDocument] = RemoveReport

    def hold(self, site: Site, whose: Whose) -> Hold:
        """The cluster's lock."""
        return cluster_lock(self.name, site, whose)

    def look(self, site: Site, _: Whose) -> Books:
        """The shelf, as it is now."""
        library = self.library
        library.looks += 1

        def there() -> tuple[Kube, ...]:
            library.before_look.get(library.looks, lambda: None)()
            return tuple(Kube("book", name, uid) for name, uid in library.shelf.items())

        return Books(known("what is on the shelf", there), state_id(site.pulumi, "dev") if self.runs else None, self.lost(library.looks))

    def refusals(self, seen: Books) -> list[Refusal]:
        """As told."""
        return self.refuses(seen)

    def actions(self, seen: Books) -> list[Action]:
        """One for each book."""
        found = () if isinstance(seen.there, Unknown) else seen.there
        actions = [Action("remove", book, "it is there", self._remove, undo=self._undo(book), **self.more(book.name)) for book in found]
        if self.runs:
            actions.append(pulumi_run(seen.state, ("pulumi", "destroy"), "it is to go", expects=self.runs))
        return actions

    def _remove(self, _: Site, book: Kube) -> Outcome:
        library = self.library
        library.before_removal.get(len(library.removed) + 1, lambda: None)()
        library.removed.append(book.uid)
        outcome = self.outcome(book.name)
        if outcome.kind == "done":
            library.shelf.pop(book.name, None)
        return outcome

    def _undo(self, book: Kube) -> Callable[[Site], None] | None:
        def undo(_: Site) -> None:
            self.library.at_undo.get(book.uid, lambda: None)()
            self.library.put_back.append(book.uid)

        return undo if self.undoes else None

    def question(self, seen: Books) -> Question | None:
        """As told."""
        return Question(f"Remove {len(self.actions(seen))}?") if self.asks(seen) else None

    def shown(self, seen: Books) -> Iterator[str]:
        """The books."""
        yield f"books: {seen.there}"

    def differences(self, shown: Books, now: Books) -> list[Difference]:
        """As told."""
        return self.differs(shown, now)

    def result(self, seen: Books, report: Report) -> Iterator[str]:
        """How many."""
        yield f"removed {len(report.outcomes) - len(report.left)}"

    def data(self, seen: Books, report: Report) -> Mapping[str, Any]:
        """Its own key."""
        return {"removed": list(self.library.removed)}
