"""Every changing command through everything that may come between a question and its answer: what is done was confirmed, and no more."""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from signal import SIGINT, SIGTERM, Signals
from typing import Any

import pytest

from tests.trn.change.cases import CASES, Case
from tests.trn.change.stage import CLUSTER, FAULTS, KILLED, LOCK, STACK, Ended, Stage
from trn.table import ENTRIES

ROWS = [pytest.param(name, marks=[pytest.mark.long] * case.is_long) for name, case in CASES.items()]
COMMANDS, ASKING = (
    pytest.mark.parametrize("name", rows) for rows in (ROWS, [row for row, case in zip(ROWS, CASES.values(), strict=True) if case.agreed])
)
DEFAULT, LONG = 2, 24
"""How many of a command's calls are tried in a column, evenly drawn: by default, and with the mark `long`."""
IDENTITIES: dict[str, Callable[[Stage], None]] = {
    "made again": lambda stage: stage.make_again(createdAt="2026-02-02T00:00:00Z"),
    "another account": lambda stage: setattr(stage, "account", "999999999999"),
}


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])


@cache
def whole(name: str) -> Stage:
    """A run that a person agreed to and nothing stopped."""
    return _run(name, _stage(name))[0]


def _stage(name: str, answers: Sequence[str] | None = None) -> Stage:
    """Before a run; without `answers` with those that agree."""
    stage = Stage(CASES[name].agreed if answers is None else tuple(answers))
    CASES[name].prepare(stage)
    return stage


@cache
def _before(name: str, act: Callable[[Stage], None] = lambda stage: None) -> dict[str, Any]:
    stage = _stage(name)
    act(stage)
    return stage.everything()


def _lock(name: str) -> str:
    """As the account has it."""
    return next((call.given["LaunchTemplateName"] for call in whole(name).calls if call.name == LOCK[0]), "")


def _run(name: str, stage: Stage, *options: str) -> tuple[Stage, Ended]:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder, CASES[name].around(stage):
        return stage, stage.trn(*CASES[name].words, *options, folder=Path(folder))


def _yes(name: str, prepare: Callable[[Stage], None]) -> tuple[Stage, Ended]:
    stage = _stage(name, ())
    prepare(stage)
    return _run(name, stage, *CASES[name].yes)


def _wrong(case: Case, stage: Stage, ended: Ended, before: dict[str, Any], *, lock: bool = False) -> Iterator[str]:
    """What breaks a law, after whatever run. `lock`: whether one may stay."""
    after = stage.everything()
    changed = {key for key, value in after.items() if before.get(key) != value} | (before.keys() - after.keys())
    if foreign := [key for key in changed if not case.is_own(key)]:
        yield f"not its own, and changed: {foreign}"
    if stage.locks() and not lock:
        yield "the lock stays"
    if ended.code == KILLED:
        return
    if ended.report is None:
        yield "there is no report"
        return
    confirmed = {(entry["verb"], entry["id"]) for entry in ended.report["confirmed"]}
    if more := [call.key for _, call in stage.changes if case.acted(stage, call) not in confirmed]:
        yield f"done and not confirmed: {more}"
    is_well = case.is_well(ended.report)
    if (ended.code == 0) != (ended.report["end"] in ("done", "nothing") and not ended.report["lock"] and is_well):
        yield f"exit code {ended.code} after {ended.report['end']}"
    told = len(ended.report["done"]) + len(ended.report["left"])
    if stage.changes and not told:
        yield "changes that the report does not have"
    if ended.report["end"] in ("failed", "refused", "stopped", "unknown") and ended.report["error"].split("\n")[0] not in ended.err:
        yield "an error in the report that was not told"


def test_every_changing_command_is_in_the_matrix():
    """A row of the table of commands says that it changes something: then it has a row here."""
    walked = {name.partition(" --")[0] for name in CASES}
    assert walked == {place for place, entry in ENTRIES.items() if entry.changes}


@COMMANDS
def test_a_run_that_was_agreed_to_is_done(name: str):
    """And nothing that changes, the lock neither, was called before the answer."""
    stage, ended = _run(name, _stage(name))
    assert (ended.code, ended.report and ended.report["end"]) == (0, "done")
    assert stage.changes
    assert min(number for number, call in enumerate(stage.calls, 1) if call.is_change) > max(stage.asked_at, default=0)
    assert list(_wrong(CASES[name], stage, ended, _before(name))) == []


@ASKING
@pytest.mark.parametrize("answers", [(), ("n",)])
def test_without_consent_nothing_is_called_that_changes(name: str, answers: tuple[str, ...]):
    """A no, and an end of the input."""
    stage, ended = _run(name, _stage(name, answers))
    assert (ended.code, ended.report and ended.report["end"]) == (1, "declined")
    assert not [call for call in stage.calls if call.lock]
    assert stage.changes == []
    assert list(_wrong(CASES[name], stage, ended, _before(name))) == []


@COMMANDS
@pytest.mark.parametrize("again", [None, "", "n", "y"])
def test_what_differs_at_the_second_look_is_asked_again(name: str, again: str | None):
    """With `--yes`, and after a no, nothing of it is done; after a yes what was then confirmed."""
    case = CASES[name]
    answers = (*case.agreed, *(case.agreed if again == "y" else [again] if again else []))
    taken = _taken(name)
    for what, differ in case.differ.items():
        stage = _stage(name, () if again is None else answers)
        stage.before(taken, lambda differ=differ, stage=stage: differ(stage))
        after = _stage(name, ())
        differ(after)
        stage, ended = _run(name, stage, *(case.yes if again is None else []))
        assert list(_wrong(case, stage, ended, after.everything())) == [], what
        goes_on = case.goes_on and again != ""
        assert (bool(stage.changes), ended.code) == ((True, 0) if again == "y" else (goes_on, 1)), what
        assert len(stage.asked_at) == (0 if again is None else len(answers) + (again == "")), what


@COMMANDS
def test_what_the_second_look_refuses_is_not_done(name: str):
    """What was shown is not there any more, or something stands in its way."""
    case = CASES[name]
    for what, act in case.refused.items():
        stage, before = _stage(name), _stage(name, ())
        stage.before(_taken(name), lambda act=act, stage=stage: act(stage))
        act(before)
        stage, ended = _run(name, stage)
        assert list(_wrong(case, stage, ended, before.everything())) == [], what
        assert (stage.changes, ended.code != 0) == ([], True), what


@COMMANDS
def test_a_lock_that_is_held_is_left_alone(name: str):
    """Nothing is done beside another run, and `--break-lock` takes it."""

    def held(stage: Stage) -> None:
        stage.lock(CASES[name].lease, _lock(name))

    stage, ended = _yes(name, held)
    assert (ended.code, stage.changes, ended.report and ended.report["end"]) == (1, [], "refused")
    assert list(_wrong(CASES[name], stage, ended, _before(name), lock=True)) == []
    assert "another" in str(stage.locks())
    if not CASES[name].breaks:
        return
    stage = _stage(name, ())
    held(stage)
    stage, ended = _run(name, stage, *CASES[name].yes, "--break-lock")
    assert (ended.code, stage.locks()) == (0, {})


def _taken(name: str) -> int:
    """Number of the call that takes the lock."""
    return next(number for number, call in enumerate(whole(name).calls, 1) if call.lock == "take")


def _checks(stage: Stage) -> list[int]:
    """Numbers of the calls that begin a check of lock and identity."""
    return [number for number, call in enumerate(stage.calls, 1) if call.lock == "check" and not call.name.startswith("ssm")]


def _drawn(values: Sequence[Any], count: int) -> Sequence[Any]:
    return values[:: -(-len(values) // count)]


def _numbers(name: str, first: int = 1, *, count: int) -> Sequence[int]:
    """Each call that changes something is among those of the long tier."""
    drawn = _drawn(range(first, len(whole(name).calls) + 1), min(count, CASES[name].draws))
    return sorted({*drawn, *(number for number, _ in whole(name).changes if number >= first)}) if count == LONG else drawn


def _last_check(name: str) -> int:
    """Number of the call that begins the last check before the first change."""
    first = whole(name).changes[0][0]
    return max(number for number in _checks(whole(name)) if number < first)


def _meanwhile(name: str, act: Callable[[Stage], None], *, first: int, count: int, lock: bool) -> None:
    for number in _numbers(name, first, count=count):
        stage = _stage(name)
        stage.before(number, lambda stage=stage: act(stage))
        stage, ended = _run(name, stage)
        assert list(_wrong(CASES[name], stage, ended, _before(name, act), lock=lock)) == [], number
        if number <= _last_check(name):
            assert (stage.changes, ended.code) == ([], 1), number


def _lost(name: str, count: int) -> None:
    for number in _numbers(name, _taken(name) + 1, count=count):
        stage = _stage(name)
        stage.before(number, stage.lose_lock)
        stage, ended = _run(name, stage)
        assert list(_wrong(CASES[name], stage, ended, _before(name), lock=True)) == [], number
        later = [at for at in _checks(stage) if at >= number]
        assert not [at for at, _ in stage.changes if later and at > later[0]], number
        if number <= _last_check(name):
            assert (stage.changes, ended.code, ended.report and ended.report["end"]) == ([], 1, "stopped"), number
        if number < len(stage.calls):
            assert "another" in json.dumps(stage.locks(), default=str), number


@COMMANDS
def test_a_lock_that_is_lost_in_the_midst_ends_it(name: str):
    """Nothing is done from the next check on, and the other run keeps its lock."""
    _lost(name, DEFAULT)


@pytest.mark.long
@COMMANDS
def test_a_lock_that_is_lost_at_any_call_ends_it(name: str):
    """The same at every call."""
    _lost(name, LONG)


@COMMANDS
@pytest.mark.parametrize("what", IDENTITIES)
def test_another_cluster_in_its_place_is_left_alone(name: str, what: str):
    """From whatever call on."""
    _meanwhile(name, IDENTITIES[what], first=1, count=DEFAULT, lock=False)


@pytest.mark.long
@COMMANDS
@pytest.mark.parametrize("what", IDENTITIES)
def test_another_cluster_in_its_place_is_left_alone_at_any_call(name: str, what: str):
    """The same at every call."""
    _meanwhile(name, IDENTITIES[what], first=1, count=LONG, lock=False)


def _faulty(name: str) -> Iterator[tuple[int, Any]]:
    """The first and the last call of each kind, with each way to fail."""
    places: dict[str, list[int]] = {}
    for number, call in enumerate(whole(name).calls, 1):
        places.setdefault(call.key, []).append(number)
    for key, numbers in places.items():
        for fault in FAULTS[key.partition(" ")[0]]:
            yield from ((number, fault) for number in sorted({numbers[0], numbers[-1]}))


def _failed(name: str, count: int) -> None:
    first = whole(name).changes[0][0]
    for number, fault in _drawn(list(_faulty(name)), min(count, CASES[name].draws)):
        is_lock, yes = bool(whole(name).calls[number - 1].lock), CASES[name].yes
        for options, answers in ((yes, ()), ((), (CLUSTER, *CASES[name].agreed)), ((), (*CASES[name].agreed, CLUSTER))):
            stage = _stage(name, answers)
            stage.fault(number, fault)
            stage, ended = _run(name, stage, *options)
            about = (number, fault, options, answers, ended.err)
            assert list(_wrong(CASES[name], stage, ended, _before(name), lock=is_lock)) == [], about
            assert ended.report is not None
            assert bool(stage.locks()) <= bool(ended.report["lock"] or ended.code), about
            # The lock's token settles an answer that was lost.
            is_settled = is_lock and fault == "lost"
            if number < first and not is_settled and (options or not ended.report["unknown"]):
                assert (stage.changes == [] or not CASES[name].is_well(ended.report), ended.code != 0) == (True, True), about
            if ended.report["unknown"] and ended.code == 0:
                assert CLUSTER in answers[: len(stage.asked_at)], about


@COMMANDS
def test_an_error_while_looking_is_no_answer(name: str):
    """`--yes` does nothing after one; a person types the cluster's name, or nothing is done either."""
    _failed(name, DEFAULT)


@pytest.mark.long
@COMMANDS
def test_an_error_of_any_kind_at_any_call_is_no_answer(name: str):
    """The same for each."""
    _failed(name, LONG)


def _next(name: str, stage: Stage) -> tuple[Stage, Ended]:
    return _run(name, stage, *CASES[name].yes, *CASES[name].next_yes, *(["--break-lock"] if stage.locks() else []))


def _stopped(name: str, by: Signals | None, count: int) -> None:
    end = whole(name).everything()
    for number in _numbers(name, count=count):
        stage = _stage(name)
        stage.kill(number, by)
        stage, ended = _run(name, stage)
        assert ended.code in (KILLED if by is None else 130, 0), number
        assert list(_wrong(CASES[name], stage, ended, _before(name), lock=by is None)) == [], (number, ended.err)
        if by is not None:
            assert ended.report is not None
            assert ended.report["end"] == ("interrupted" if ended.code else "done"), number
        stage.is_dead, stage.stop_at, stage.asked_at = False, 0, []
        is_over = stage.everything() == end
        stage, ended = _next(name, stage)
        if stage.is_locked and ended.code:
            assert "`pulumi cancel`" in ended.err, number
            stage.is_locked = False
            stage, ended = _next(name, stage)
        is_ended = CASES[name].ended
        if is_ended is not None:
            assert is_ended(stage, ended, end), (number, ended.err)
        else:
            assert (ended.code, stage.everything()) == (CASES[name].again if is_over else 0, end), (number, ended.err)


@COMMANDS
@pytest.mark.parametrize("by", [None, SIGINT])
def test_a_run_that_was_stopped_is_ended_by_the_next(name: str, by: Signals | None):
    """A kill leaves the lock, which `--break-lock` takes; Ctrl-C leaves a report and no lock."""
    _stopped(name, by, DEFAULT)


@pytest.mark.long
@COMMANDS
@pytest.mark.parametrize("by", [None, SIGINT, SIGTERM])
def test_a_run_that_was_stopped_at_any_call_is_ended_by_the_next(name: str, by: Signals | None):
    """The same at every call."""
    _stopped(name, by, LONG)


def test_the_stage_is_the_shipped_stack():
    """Or the matrix would be about another one."""
    assert STACK in (Path.cwd() / "Pulumi.dev.yaml").name
