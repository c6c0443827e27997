"""One bundle from beginning to end: gather, redact, pack."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from trn.change.clients import access
from trn.running.bundle import account, cluster, logs, machine
from trn.running.bundle.gathering import Gathering
from trn.running.bundle.part import Outcome, Part
from trn.running.bundle.redact import Redactor
from trn.running.bundle.secrets import is_secret_name
from trn.running.bundle.subject import Subject
from trn.running.bundle.writing import NAME, TOTAL_BYTES, index

Shown = Callable[[Sequence[Part]], Iterable[Part]]
"""Passes parts on, and shows the progress."""


@dataclass(frozen=True)
class Bundle:
    """What is to be packed."""

    files: dict[str, str]
    """By name, the index first."""
    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...]

    @property
    def missing(self) -> tuple[Outcome, ...]:
        """Parts that could not be got."""
        return tuple(it for it in self.outcomes if it.text is None and not it.is_absent)


def gathered(subject: Subject, at: datetime, patience_s: float, shown: Shown) -> Bundle:
    """All that can be read of a stack now, redacted. Reads only."""
    redactor = Redactor(value for name, value in os.environ.items() if is_secret_name(name))
    gathering = Gathering(redactor, patience_s)
    first = [*machine.parts(subject), *account.parts(subject), *cluster.parts(subject)]
    for part in shown(first):
        gathering.take(part)
    kept = list[Part]()
    gathering.take(logs.chosen(subject, kept))
    for part in shown(kept):
        gathering.take(part)
    outcomes = list(_within(TOTAL_BYTES, (_redacted(outcome, redactor) for outcome in gathering.outcomes)))
    notes = [*_notes(subject, outcomes)]
    files = {NAME: redactor.everywhere(index(subject.stack, at, outcomes, notes))}
    files |= {it.part.file: it.text for it in outcomes if it.text is not None}
    files |= {f"errors/{it.part.file}.txt": redactor.everywhere(it.trace) for it in outcomes if it.trace}
    return Bundle(files, tuple(outcomes), tuple(notes))


def _redacted(outcome: Outcome, redactor: Redactor) -> Outcome:
    """Without the secrets that were met in other parts."""
    text = None if outcome.text is None else redactor.everywhere(outcome.text)
    return replace(outcome, text=text, why=redactor.everywhere(outcome.why))


def _within(most: int, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """Parts until the bundle is full; what comes later is named."""
    size = 0
    for it in outcomes:
        size += len((it.text or "").encode())
        yield it if size <= most else Outcome(it.part, why=f"left out: the bundle has {most >> 20} MiB already")


def _notes(subject: Subject, outcomes: Sequence[Outcome]) -> Iterator[str]:
    if access().is_practice:
        yield "Of a practice account: none of it is AWS"
    (who,) = (it for it in outcomes if it.part.file == "aws/caller.json")
    if who.text is not None and '"warning": "' in who.text:
        yield who.text.partition('"warning": "')[2].partition('"')[0]
