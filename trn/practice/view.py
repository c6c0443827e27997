"""How `trn practice up` and `down` say what happened."""

from collections.abc import Iterator
from typing import Literal

from facts.document import Document, Part
from simulator.engine.state import Pending
from simulator.report.words import duration
from trn.practice.engines import EngineName
from trn.practice.run import Outcome
from trn.table import ENTRIES


class UnderWay(Part, frozen=True):
    """An operation whose outcome is unknown."""

    urn: str
    doing: str


class PracticeRunReport(Document, frozen=True):
    """What both runs have."""

    stack: str
    engine: EngineName
    ended_well: bool
    seconds: float
    """Virtual; 0 with the real engine."""
    resources: int
    errors: tuple[str, ...]
    under_way: tuple[UnderWay, ...]


class PracticeUpReport(PracticeRunReport, frozen=True):
    """What `trn practice up` did."""

    schema_: Literal["trn-practice-up"] = "trn-practice-up"


class PracticeDownReport(PracticeRunReport, frozen=True):
    """What `trn practice down` did."""

    schema_: Literal["trn-practice-down"] = "trn-practice-down"


class PracticeJobReport(Document, frozen=True):
    """What `trn practice job` did."""

    schema_: Literal["trn-practice-job"] = "trn-practice-job"
    stack: str
    happened: str


class PracticeEventReport(Document, frozen=True):
    """What `trn practice event` did."""

    schema_: Literal["trn-practice-event"] = "trn-practice-event"
    stack: str
    happened: str


def report_of(stack: str, outcome: Outcome, *, down: bool) -> PracticeRunReport:
    """For `--json`."""
    report = PracticeDownReport if down else PracticeUpReport
    return report(
        stack=stack,
        engine=outcome.engine,
        ended_well=outcome.ended_well,
        seconds=outcome.seconds,
        resources=outcome.resource_count,
        errors=tuple(outcome.errors),
        under_way=tuple(UnderWay(urn=item.registration.urn, doing=item.doing) for item in outcome.under_way),
    )


def lines(stack: str, outcome: Outcome, left: int, *, down: bool) -> Iterator[str]:
    """What was done, what stopped it, and what comes next. `left`: objects that are in the account."""
    word = "down" if down else "up"
    yield from (text.rstrip() for text in outcome.errors)
    yield from (f"note     the fault {name} did not happen: no resource that it is meant for" for name in outcome.unused_faults)
    if outcome.interrupted:
        yield "stopped  by Ctrl-C: what was begun goes on in the account, and the state holds what had ended"
    elif outcome.engine == "rehearsal":
        done = f"{outcome.resource_count} resources {'deleted' if down else 'created or changed'} in {duration(outcome.seconds)} of virtual time"
        yield f"{word:<9}{done}" if outcome.ended_well else f"{'stopped' if not outcome.under_way else 'killed':<9}{done}"
    for item in outcome.under_way:
        yield f"{item.doing:<9}{_name(item)}: its outcome is unknown"
    if outcome.under_way:
        yield f"next     trn --practice recover {stack}"
    elif not outcome.ended_well:
        yield f"next     trn practice {word} {stack}" + ("" if outcome.interrupted else ", once the cause is gone")
    elif not down:
        yield f"next     trn --practice {ENTRIES['practice up'].next[0]} {stack}"
    else:
        yield f"left     {left} objects in the account" + (f": trn --practice sweep {stack} lists them" if left else "")


def _name(item: Pending) -> str:
    return f"{item.registration.type.rsplit(':', 1)[-1]} {item.registration.name}"
