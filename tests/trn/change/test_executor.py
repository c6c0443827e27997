"""The laws of the executor, each with a change that breaks it where its line is deleted."""

import inspect
import json
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer

from simulator.aws_endpoint.wire import Refused
from simulator.outputs import ACCOUNT
from tests.trn.change.invented import CLUSTER, Books, Library, NoError, Remove, RemoveReport, pulumi_run
from tests.trn.change.owned import EMPTY, FakePulumi, put_lock, state, subject
from trn.aws.lock import Holder
from trn.change import executor
from trn.change.action import Action, Difference, End, Ended, Outcome, Pace, Question, Refusal, Typed
from trn.change.consent import Confirmed
from trn.change.executor import carry_out, show
from trn.change.identity import Aws, Kube, state_id
from trn.change.known import Unknown, known, unknowns
from trn.cli.errors import CommandError, OwnershipError

ROUNDS = Pace(rounds=3)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """Two books."""
    return Library(tmp_path)


def refusing(message: str = "no answer") -> Callable[[], None]:
    """A call that fails."""

    def fail() -> None:
        raise CommandError(message)

    return fail


# Order


def test_all_that_was_confirmed_is_done_and_reported(library: Library):
    """Whose, the plan and the question come first; the report has all of it."""
    assert library.run(Remove(library), library.person(True)) == 0
    assert (library.removed, library.asked, library.results, library.lock) == (["uid-a", "uid-b"], ["Remove 2?"], ["removed 2"], {})
    assert library.shown[0].startswith(f"cluster {CLUSTER}, by Pulumi's state")
    report = library.report
    assert (report["end"], [entry["id"] for entry in report["done"]], report["left"]) == ("done", ["uid-a", "uid-b"], [])
    assert (report["identity"]["stack"], report["removed"]) == ("organization/trn/dev", ["uid-a", "uid-b"])


def test_there_is_no_switch_that_leaves_a_step_out():
    """And nothing else of it is public."""
    assert list(inspect.signature(carry_out).parameters) == ["change", "site", "person"]
    assert list(inspect.signature(show).parameters) == ["change", "site"]
    assert executor.__all__ == ["carry_out", "show"]


def test_a_question_may_want_the_clusters_name_too(library: Library):
    """`--name` gives it, `--yes` does not."""
    change = Remove(library)
    change.question = lambda seen: Question("Remove?", "the backend does not say")  # pyright: ignore[reportAttributeAccessIssue]
    assert "--yes alone is not enough: the backend does not say" in library.ends(change, library.person(yes=True))
    assert library.removed == []
    assert library.run(change, library.person(True, types=CLUSTER)) == 0


def test_a_question_may_want_a_text_after_the_yes(library: Library):
    """Another text is a no; `--yes` is asked for neither."""
    change, typed = Remove(library), Typed("How many?", lambda text: text == "2", "is not the number")
    change.question = lambda seen: Question("Remove?", typed=typed)  # pyright: ignore[reportAttributeAccessIssue]
    assert "`3` is not the number" in library.ends(change, library.person(True, types="3"))
    assert (library.removed, library.asked, library.report["end"]) == ([], ["Remove?", "How many?"], "declined")
    library.ends(change, library.person(False, types="2"), NoError)
    assert library.run(change, library.person(True, types="2")) == 0
    library.shelf["c"] = "uid-c"
    assert (library.run(change, library.person(yes=True)), library.removed) == (0, ["uid-a", "uid-b", "uid-c"])


def test_what_differs_wants_the_text_again(library: Library):
    """The first one was typed for what was shown."""
    change, texts = Remove(library, differs=lambda shown, now: [Difference("another book", is_grave=True)]), ["2", "1"]
    typed = Typed("How many?", lambda text: text == texts.pop(0), "is not the number")
    change.question = lambda seen: Question("Remove?", typed=typed)  # pyright: ignore[reportAttributeAccessIssue]
    assert "`2` is not the number" in library.ends(change, library.person(True, True, types="2"))
    assert (library.removed, texts) == ([], [])


def test_a_report_that_ends_before_a_look_has_what_is_known_without_one(library: Library):
    """Whether money is spent is asked by whoever reads it, whatever ended the change."""

    class CountingReport(RemoveReport, frozen=True):
        count: int = -1

    class Counting(Remove):
        always = property(lambda self: {"count": len(self.library.removed)})

    library.cloud.of("cluster")[CLUSTER]["tags"] = {"trn:cluster": CLUSTER, "trn:stack": "organization/trn/peer"}
    for run in (
        lambda: library.run(Counting(library, document=CountingReport), library.person()),
        lambda: show(Counting(library, document=CountingReport), library.site()),
    ):
        with pytest.raises(OwnershipError):
            run()
        assert (library.report["count"], library.report["removed"]) == (0, None)


@pytest.mark.parametrize(("end", "outcome"), [("refused", "refused"), ("unknown", "unsure")])
def test_an_action_says_itself_that_it_was_refused(library: Library, end: End, outcome: str):
    """In the command's own words; an end of another kind leaves it open whether it is done."""

    def ended() -> None:
        raise Ended(end, "not this one")

    library.before_removal[1] = ended
    assert "not this one" in library.ends(Remove(library), library.person(True))
    assert [each["outcome"] for each in library.report["left"]] == [outcome]


def test_nothing_is_looked_at_before_it_is_known_whose_the_cluster_is(library: Library):
    """A cluster that another stack made."""
    library.cloud.of("cluster")[CLUSTER]["tags"] = {"trn:cluster": CLUSTER, "trn:stack": "organization/trn/peer"}
    assert "is not the cluster of stack" in library.ends(Remove(library), library.person(), OwnershipError)
    assert (library.looks, library.report["end"]) == (0, "refused")


def test_where_the_state_does_not_prove_whose_it_is_the_name_is_typed(library: Library):
    """`--yes` says nothing about it."""
    library.pulumi.export = EMPTY
    assert "--yes alone is not enough" in library.ends(Remove(library), library.person(yes=True))
    assert library.removed == []
    assert library.run(Remove(library), library.person(True, types=CLUSTER)) == 0


@pytest.mark.parametrize("yes", [True, False])
def test_a_name_that_is_given_is_the_clusters(library: Library, yes: bool):
    """Whoever names another cluster does not mean this one, though the state proves whose it is and nobody would ask."""
    person = replace(library.person(True), said=replace(library.person(True).said, yes=yes, name="another"))
    assert "`another` is not the cluster's name" in library.ends(Remove(library), person)
    assert (library.removed, library.asked, library.lock) == ([], [], {})
    person = replace(person, said=replace(person.said, name=CLUSTER))
    assert library.run(Remove(library), person) == 0


def test_before_the_cluster_a_change_is_about_account_and_stack(library: Library):
    """One that may come before it says so and asks for no name; where the cluster is there, or any other change is made, nothing is left out."""
    library.pulumi.export = EMPTY
    before = replace(subject(CLUSTER), may_be_absent=True)
    with pytest.raises(OwnershipError, match="is not the cluster's name"):
        library.run(Remove(library), library.person(True), subject=before)
    library.cloud.of("cluster").clear()
    with pytest.raises(OwnershipError, match="is not the cluster's name"):
        library.run(Remove(library), library.person(True))
    library.shown.clear()
    assert library.run(Remove(library), library.person(True), subject=before) == 0
    assert library.shown[0] == f"stack dev in account {ACCOUNT}, us-west-2: it has no cluster yet, by Pulumi's state and by EKS"
    library.pulumi.export = state("another")
    with pytest.raises(OwnershipError, match="does not hold the cluster"):
        library.run(Remove(library), library.person(True), subject=before)


def test_what_would_be_done_is_shown_and_nothing_is_changed(library: Library):
    """For `--dry-run`: the same looks, refusals and report, without a question and without the lock."""
    assert show(Remove(library), library.site()) == 0
    assert (library.removed, library.asked, library.report["end"], library.looks) == ([], [], "shown", 1)
    assert library.shown[-1].startswith("books: ")
    refused = Remove(library, refuses=lambda seen: [Refusal("not today")])
    with pytest.raises(CommandError, match="not today"):
        show(refused, library.site())
    assert library.report["end"] == "refused"
    library.before_look[3] = refusing()
    assert (show(Remove(library), library.site()), library.report["end"]) == (1, "unknown")


@pytest.mark.parametrize("look", [1, 2])
def test_what_is_refused_is_not_done(library: Library, look: int):
    """At the first look nobody is asked; at the second nothing is done."""
    change = Remove(library, refuses=lambda seen: [Refusal("the library is closed", code=2)] if library.looks == look else [])
    assert "the library is closed" in library.ends(change, library.person(True))
    assert (library.removed, len(library.asked), library.report["end"], library.lock) == ([], look - 1, "refused", {})


def test_a_no_ends_it_before_the_lock(library: Library):
    """Nothing is called that changes."""
    library.ends(Remove(library), library.person(False), NoError)
    assert library.removed == []
    assert not [name for name, _ in library.cloud.wire.calls if name == "ec2.CreateLaunchTemplate"]


def test_nothing_to_do_gives_back_the_lock_of_a_dead_run(library: Library):
    """One that died as it gave its lock up; without `--break-lock` it is left alone."""
    library.shelf.clear()
    put_lock(library.cloud, CLUSTER, Holder("dead", "host", "sweep", "2026-01-01T00:00:00Z", "t"))
    assert (library.run(Remove(library), library.person()), len(library.lock)) == (0, 1)
    assert (library.run(Remove(library), library.person(), break_lock=True), library.lock) == (0, {})
    assert library.report["end"] == "nothing"


def test_nothing_to_do_asks_nothing(library: Library):
    """And takes no lock."""
    library.shelf.clear()
    assert library.run(Remove(library), library.person()) == 0
    assert (library.asked, library.report["end"]) == ([], "nothing")


# Consent


def test_only_a_person_confirms():
    """There is no other way to a Confirmed."""
    with pytest.raises(TypeError, match="only a Person"):
        Confirmed(object())


@pytest.mark.parametrize("look", [2, 3])
def test_what_is_new_is_left_alone_with_yes_and_reported(library: Library, look: int):
    """Under the lock, and in a later round; the others are done."""
    library.before_look[look] = lambda: library.shelf.update(c="uid-c")
    done_last = {"a": Outcome("held")} if look == 3 else {}
    change = Remove(library, ROUNDS, outcome=lambda name: done_last.pop(name, Outcome("done")))
    assert library.run(change, library.person(yes=True)) == 1
    assert "uid-c" not in library.removed
    assert {"uid-a", "uid-b"} <= set(library.removed)
    report = library.report
    assert (report["end"], [(entry["id"], entry["outcome"]) for entry in report["left"]]) == ("left", [("uid-c", "not confirmed")])


@pytest.mark.parametrize(("is_agreed", "removed", "code"), [(True, ["uid-a", "uid-b", "uid-c"], 0), (False, ["uid-a", "uid-b"], 1)])
def test_what_is_new_is_asked_about(library: Library, is_agreed: bool, removed: list[str], code: int):
    """A no leaves it out, and is not asked for twice."""
    library.before_look[2] = lambda: library.shelf.update(c="uid-c")
    first = {"a": Outcome("held")}
    change = Remove(library, ROUNDS, outcome=lambda name: first.pop(name, Outcome("done")))
    assert library.run(change, library.person(True, is_agreed)) == code
    assert (sorted({*library.removed}), library.asked) == (removed, ["Remove 2?", "Do these 1 too?"])
    assert "not confirmed yet: remove book c, it is there" in library.shown


def test_another_object_of_the_same_name_was_not_confirmed(library: Library):
    """A name identifies nothing."""
    library.before_look[2] = lambda: library.shelf.update(a="uid-other")
    assert library.run(Remove(library), library.person(yes=True)) == 1
    assert library.removed == ["uid-b"]


def grave(shown: Books, now: Books) -> list[Difference]:
    """The shelf is another one."""
    return [Difference("the shelf has moved", is_grave=True)] if shown != now else []


def test_a_grave_difference_ends_a_run_with_yes(library: Library):
    """It was said to what was shown."""
    library.before_look[2] = lambda: library.shelf.pop("b")
    assert "the shelf has moved" in library.ends(Remove(library, differs=grave), library.person(yes=True))
    assert (library.removed, library.report["end"], library.lock) == ([], "stopped", {})


def test_a_grave_difference_is_asked_about_until_a_look_shows_none(library: Library):
    """What is agreed to is what the last look saw."""
    library.before_look |= {2: lambda: library.shelf.pop("b"), 3: lambda: library.shelf.update(c="uid-c")}
    assert library.run(Remove(library, differs=grave), library.person(True, True, True)) == 0
    assert (library.asked, library.removed) == (["Remove 2?", "Remove 1?", "Remove 2?"], ["uid-a", "uid-c"])
    library.shelf.update(a="uid-a")
    library.before_look = {library.looks + 2: lambda: library.shelf.pop("a")}
    library.ends(Remove(library, differs=grave), library.person(True, False), NoError)
    assert library.removed == ["uid-a", "uid-c"]


def test_a_mild_difference_is_told(library: Library):
    """And asked about by nobody."""
    change = Remove(library, differs=lambda shown, now: [Difference("dust", is_grave=False)])
    assert library.run(change, library.person(yes=True)) == 0
    assert "dust" in library.shown


def test_a_question_that_there_was_none_of_is_asked(library: Library):
    """What asked nothing at first may ask under the lock."""
    change = Remove(library, asks=lambda seen: len(change.actions(seen)) < 2)
    library.before_look[2] = lambda: library.shelf.pop("a")
    assert "nothing to ask about" in library.ends(change, library.person(yes=True))
    assert library.removed == []
    library.shelf.update(a="uid-a")
    library.before_look[library.looks + 2] = lambda: library.shelf.pop("a")
    assert library.run(change, library.person(True)) == 0
    assert (library.asked, library.removed) == (["Remove 1?"], ["uid-b"])


# What is not known


@pytest.mark.parametrize("look", [1, 2])
def test_yes_does_not_cover_what_is_not_known(library: Library, look: int):
    """Nor what is not known under the lock only."""
    library.before_look[look] = refusing()
    text = library.ends(Remove(library, runs="within"), library.person(yes=True))
    assert "--yes does not cover what could not be seen: what is on the shelf is not known: no answer" in text
    assert (library.removed, library.report["end"], library.lock) == ([], "unknown", {})


@pytest.mark.parametrize("look", [1, 2])
def test_a_person_types_the_name_to_go_on_without_it(library: Library, look: int):
    """Another text is a no; what was gone on without is not asked about twice."""
    library.before_look |= {at: refusing() for at in range(look, 9)}
    library.ends(Remove(library, runs="within"), library.person(True, types="trian"), OwnershipError)
    assert library.removed == []
    library.looks = 0
    assert library.run(Remove(library, runs="within"), library.person(True, types=CLUSTER)) == 0
    assert (library.removed, library.report["unknown"]) == (["destroy"], ["what is on the shelf is not known: no answer"])
    assert len([question for question in library.asked if "type the cluster's name" in question]) == 2


def test_what_is_not_known_in_a_later_round_ends_a_run_with_yes(library: Library):
    """It is not the end of what is there."""
    library.before_look[3] = refusing()
    library.ends(Remove(library, ROUNDS, outcome=lambda name: Outcome("held")), library.person(yes=True))
    assert (library.removed, library.report["end"]) == (["uid-a", "uid-b"], "unknown")


def test_nothing_to_do_is_not_said_of_what_is_not_known(library: Library):
    """An error is no answer."""
    library.before_look[1] = refusing()
    assert "it cannot be said" in library.ends(Remove(library), library.person(yes=True))


def test_an_unknown_is_found_however_deep_it_lies():
    """So that no command can forget to name it."""
    lost = Unknown("jobs", "403")
    assert list(unknowns({"a": [Books((), state=(1, frozenset({lost})))]})) == [lost]
    assert list(unknowns(Books(lost))) == [lost]


def test_an_error_that_no_user_can_cause_is_no_unknown():
    """Nor a cluster that is another one."""
    for error in (ValueError("bug"), OwnershipError("another one")):

        def read(error: Exception = error) -> None:
            raise error

        with pytest.raises(type(error)):
            known("jobs", read)


def test_what_was_not_known_when_it_began_is_nothing_that_a_later_look_must_show(library: Library):
    """What went can be told then; of what is not known since nobody can say so."""

    def run(lost: Callable[[int], tuple[Unknown, ...]]) -> tuple[str, int]:
        library.removed.clear()
        library.shelf.update(a="uid-a", b="uid-b")
        library.looks = library.pauses = 0
        library.at_pause = {1: library.shelf.clear}
        change = Remove(library, ROUNDS, outcome=lambda name: Outcome("going"), lost=lost)
        library.run(change, library.person(True, types=CLUSTER))
        return library.report["end"], library.looks

    assert run(lambda look: (Unknown("lent", "403"),)) == ("done", 3)
    assert run(lambda look: (Unknown("lent", "403"),) if look > 2 else ()) == ("left", 4)


# Phases


def later(**more: Any) -> Callable[[str], dict[str, Any]]:
    """The book b comes after the others."""
    return lambda name: {"phase": 1, **more} if name == "b" else {}


def test_a_later_phase_waits_for_what_goes_before_it(library: Library):
    """It is done once that is gone, or once it has waited long enough."""
    library.at_pause = {2: lambda: library.shelf.pop("a")}
    pace = Pace(rounds=5, patience=(4,))
    change = Remove(library, pace, outcome=lambda name: Outcome("going" if name == "a" else "done"), more=later())
    assert library.run(change, library.person(True)) == 0
    assert (library.removed, library.pauses) == (["uid-a", "uid-b"], 2)
    library.shelf.update(a="uid-a", b="uid-b")
    library.at_pause, library.pauses = {}, 0
    assert library.run(change, library.person(True)) == 1
    assert (library.removed[2:], library.pauses) == (["uid-a", "uid-b"], 4)
    library.shelf.update(b="uid-b")
    short = Remove(library, Pace(rounds=2, patience=(4,)), outcome=lambda name: Outcome("going"), more=later())
    library.run(short, library.person(True))
    assert "it waits for what goes before it" in library.report["left"][1]["said"]


def test_a_later_phase_never_passes_what_was_not_confirmed(library: Library):
    """However long it waits; and nothing waits for that."""
    library.before_look[2] = lambda: library.shelf.update(c="uid-c")
    change = Remove(library, Pace(rounds=9, patience=(2,)), more=later())
    assert library.run(change, library.person(yes=True)) == 1
    assert (library.removed, library.pauses) == (["uid-a"], 0)
    assert [entry["said"] for entry in library.report["left"] if entry["name"] == "b"] == [
        ["something that was not confirmed is in its way"]
    ]


def test_what_is_under_way_is_begun_once(library: Library):
    """It is waited for until it is gone."""
    library.at_pause = {2: library.shelf.clear}
    assert library.run(Remove(library, Pace(rounds=5), outcome=lambda name: Outcome("going")), library.person(True)) == 0
    assert (library.removed, library.pauses, library.results) == (["uid-a", "uid-b"], 2, ["removed 2"])


def test_what_was_refused_and_went_by_itself_is_nothing_that_is_left(library: Library):
    """It went with something else."""
    library.at_pause = {1: library.shelf.clear}
    change = Remove(library, ROUNDS, outcome=lambda name: Outcome("refused" if name == "a" else "going"))
    assert library.run(change, library.person(True)) == 0
    assert [entry["outcome"] for entry in library.report["done"]] == ["gone", "gone"]


def test_what_was_not_confirmed_and_went_by_itself_is_none_of_this_run(library: Library):
    """It is not among what was done."""
    library.before_look[2] = lambda: library.shelf.update(c="uid-c")
    library.at_pause = {1: library.shelf.clear}
    assert library.run(Remove(library, ROUNDS, outcome=lambda name: Outcome("going")), library.person(yes=True)) == 0
    assert ([entry["name"] for entry in library.report["done"]], library.report["left"]) == (["a", "b"], [])


def test_what_comes_of_something_that_was_confirmed_is_confirmed(library: Library):
    """And what is only waited for needs no consent: nothing is done to it."""
    library.before_look[2] = lambda: library.shelf.update(c="uid-c", d="uid-d")
    more = {"c": {"follows": lambda other: other.object.which == "uid-a"}, "d": {"is_change": False}}
    assert library.run(Remove(library, more=lambda name: more.get(name, {})), library.person(yes=True)) == 0
    assert library.removed == ["uid-a", "uid-b", "uid-c", "uid-d"]
    more["c"] = {"follows": lambda other: other.object.which == "uid-z"}
    library.shelf.update(a="uid-a")
    library.before_look[library.looks + 2] = library.before_look[2]
    assert library.run(Remove(library, more=lambda name: more.get(name, {})), library.person(yes=True)) == 1


def test_the_result_is_of_the_last_look(library: Library):
    """Not of the one before the first round."""
    library.at_pause = {1: lambda: library.shelf.update(z="uid-z")}
    first = {"a": Outcome("held")}
    seen = list[Books]()
    change = Remove(library, ROUNDS, outcome=lambda name: first.pop(name, Outcome("done")))
    change.result = lambda last, report: seen.append(last) or []  # pyright: ignore[reportAttributeAccessIssue]
    library.run(change, library.person(yes=True))
    assert seen[0] == Books((Kube("book", "a", "uid-a"), Kube("book", "z", "uid-z")))


# Lock, identity, state


def test_the_lock_of_another_run_is_left_alone(library: Library):
    """And nothing is looked at again."""
    other = put_lock(library.cloud, CLUSTER, Holder("another", "host", "sweep", "2026-01-01T00:00:00Z", "t"))
    assert "is locked by another" in library.ends(Remove(library), library.person(yes=True), OwnershipError)
    assert (library.looks, library.removed, library.report["end"]) == (1, [], "refused")
    assert list(library.lock) == [other]
    assert library.run(Remove(library), library.person(yes=True), break_lock=True) == 0


LOST: dict[str, Callable[[Library], None]] = {"lock": Library.lose_lock, "identity": Library.make_again}


@pytest.mark.parametrize("what", LOST)
def test_lock_and_identity_are_compared_before_the_first_round(library: Library, what: str):
    """The second look may have taken its time."""
    library.before_look[2] = lambda: LOST[what](library)
    library.ends(Remove(library), library.person(yes=True), OwnershipError)
    assert (library.removed, library.report["end"]) == ([], "stopped")


@pytest.mark.parametrize("what", LOST)
def test_lock_and_identity_are_compared_before_each_round(library: Library, what: str):
    """Between rounds minutes pass."""
    library.at_pause[1] = lambda: LOST[what](library)
    library.ends(Remove(library, ROUNDS, outcome=lambda name: Outcome("held")), library.person(yes=True), OwnershipError)
    assert (library.removed, library.report["end"]) == (["uid-a", "uid-b"], "stopped")
    assert [entry["outcome"] for entry in library.report["left"]] == ["held", "held"]
    assert len(library.lock) == (what == "lock")


@pytest.mark.parametrize("what", LOST)
def test_lock_and_identity_are_compared_while_an_action_settles(library: Library, what: str):
    """The next action is not begun."""
    library.at_pause[1] = lambda: LOST[what](library)
    change = Remove(library, outcome=lambda name: Outcome("done", settled=lambda site: None))
    library.ends(change, library.person(yes=True), OwnershipError)
    assert library.removed == ["uid-a"]
    assert [entry["outcome"] for entry in library.report["left"]] == ["unsure"]


@pytest.mark.parametrize("expects", ["within", "same"])
@pytest.mark.parametrize("what", [*LOST, "state"])
def test_lock_identity_and_state_are_compared_before_each_run_of_pulumi(library: Library, what: str, expects: str):
    """Also where it is not the first action of its round."""
    library.before_removal[2] = lambda: {**LOST, "state": Library.grow}[what](library)
    if (what, expects) == ("state", "within"):
        assert library.run(Remove(library, runs=expects), library.person(yes=True)) == 1
        assert [entry["outcome"] for entry in library.report["left"]] == ["moved"]
    else:
        library.ends(Remove(library, runs=expects), library.person(yes=True))
        assert library.report["end"] == "stopped"
    assert library.removed == ["uid-a", "uid-b"]


@pytest.mark.parametrize(("answers", "is_done"), [((True,), False), ((True, False), False), ((True, True), True)])
def test_a_state_that_grew_right_before_a_run_is_asked_about_in_the_next_round(library: Library, answers: tuple[bool, ...], is_done: bool):
    """A run that takes whatever was confirmed; with `--yes` it is left."""
    library.before_removal[2] = library.grow
    person = library.person(yes=True) if len(answers) == 1 else library.person(*answers)
    assert library.run(Remove(library, ROUNDS, runs="within"), person) == int(not is_done)
    assert ("destroy" in library.removed) is is_done
    assert ("Do these 1 too?" in library.asked) is (len(answers) == 2)


def test_nothing_follows_what_is_the_last(library: Library):
    """Nor is anything else waited for."""
    outcomes = {"a": Outcome("going"), "b": Outcome("refused", ("no",), is_last=True)}
    library.shelf["c"] = "uid-c"
    assert library.run(Remove(library, ROUNDS, outcome=lambda name: outcomes.get(name, Outcome("done"))), library.person(yes=True)) == 1
    assert (library.removed, library.looks) == (["uid-a", "uid-b"], 2)


def test_a_question_of_its_own_is_covered_by_no_option(library: Library):
    """Neither by `--yes` nor by `--name`; a person is asked it first, and again where something grave has changed."""
    change = Remove(library, differs=lambda shown, now: [Difference("another book", is_grave=True)] if library.looks == 2 else [])
    change.question = lambda seen: Question("Remove?", apart=("no copy is made", "make one"))  # pyright: ignore[reportAttributeAccessIssue]
    for person in (library.person(yes=True), library.person(yes=True, types=CLUSTER)):
        assert "no copy is made; --yes does not cover that" in library.ends(change, person, OwnershipError)
    assert library.removed == []
    library.looks = 0
    library.asked.clear()
    assert library.run(change, library.person(True, True, True, True)) == 0
    assert [question.split(" (")[0] for question in library.asked] == ["no copy is made", "Remove?"] * 2


def test_a_name_given_in_advance_may_cover_what_is_not_known(library: Library):
    """Of a command that says so, and at its first look: in the midst nobody could know of it."""
    change = Remove(library, runs="within")
    change.question = lambda seen: Question("Remove?", is_named_blindly=True)  # pyright: ignore[reportAttributeAccessIssue]
    library.before_look |= {at: refusing() for at in range(1, 9)}
    assert "--yes alone is not enough: what is on the shelf is not known" in library.ends(change, library.person(yes=True), OwnershipError)
    library.looks = 0
    assert library.run(change, library.person(yes=True, name=CLUSTER)) == 0
    assert library.removed == ["destroy"]
    library.looks, library.before_look = 0, {2: refusing()}
    assert "--yes does not cover what could not be seen" in library.ends(change, library.person(yes=True, name=CLUSTER))
    assert library.removed == ["destroy"]


@pytest.mark.parametrize(("expects", "is_done"), [("within", True), ("same", False)])
def test_a_state_that_shrank_is_within_what_was_confirmed(library: Library, expects: str, is_done: bool):
    """An `up` wants the very state that it was shown."""
    library.before_removal[1] = library.shrink
    change = Remove(library, runs=expects)
    if is_done:
        assert library.run(change, library.person(yes=True)) == 0
    else:
        assert "has changed since it was confirmed" in library.ends(change, library.person(yes=True))
    assert ("destroy" in library.removed) is is_done


def test_a_state_that_shrank_while_the_question_stood_is_not_the_one_of_an_up(library: Library):
    """It is asked about as any other run; with `--yes` it is left."""
    library.before_look[2] = library.shrink
    assert library.run(Remove(library, runs="same"), library.person(yes=True)) == 1
    assert [entry["outcome"] for entry in library.report["left"]] == ["not confirmed"]
    assert "destroy" not in library.removed


@pytest.mark.parametrize("look", [2, 3])
def test_a_run_of_pulumi_on_more_than_was_confirmed_is_left_alone(library: Library, look: int):
    """Between question and lock, and between its tries."""
    library.before_look[look] = library.grow
    library.pulumi.on_run = lambda command: (library.removed.append(command[1]), (1, "it failed"))[1]
    library.run(Remove(library, Pace(rounds=2), runs="within"), library.person(yes=True))
    assert library.removed.count("destroy") == look - 2
    assert library.report["left"][-1]["outcome"] == "not confirmed"


class Twice(Remove):
    """Pulumi runs before the books and after them."""

    def actions(self, seen: Any) -> list[Action]:
        """Of one look."""
        up, refresh = (pulumi_run(seen.state, ("pulumi", word), "it must", expects="same") for word in ("up", "refresh"))
        return [up, *super().actions(seen)[:-1], refresh]


@pytest.mark.parametrize("is_at_it", [False, True])
def test_what_a_run_of_ours_made_of_the_state_is_what_the_next_one_finds(library: Library, is_at_it: bool):
    """And nothing that another one has made of it since."""
    library.pulumi.on_run = lambda command: (library.removed.append(command[1]), library.grow(), (0, ""))[-1]
    change = Twice(library, IN_ORDER, runs="same")
    if is_at_it:
        library.before_removal[2] = library.shrink
        assert "has changed since it was confirmed" in library.ends(change, library.person(yes=True))
    else:
        assert library.run(change, library.person(yes=True)) == 0
    assert library.removed == ["up", "uid-a", "uid-b", *([] if is_at_it else ["refresh"])]


def test_a_run_of_pulumi_that_failed_is_tried_again_with_what_is_left(library: Library):
    """No new question: what is left was confirmed."""
    tries = [(1, "it failed"), (0, "")]

    def run(command: tuple[str, ...]) -> tuple[int, str]:
        library.removed.append(command[1])
        library.shrink()
        return tries.pop(0)

    library.pulumi.on_run = run
    assert library.run(Remove(library, ROUNDS, runs="within"), library.person(True)) == 0
    assert (library.removed.count("destroy"), library.asked) == (2, ["Remove 3?"])


def test_a_lock_that_is_not_given_back_is_a_line_of_the_report(library: Library):
    """Nothing else is lost by it; the exit code says that something is left."""
    library.cloud.wire.denied.add("ec2.DeleteLaunchTemplate")
    assert library.run(Remove(library), library.person(yes=True)) == 1
    assert (library.report["end"], len(library.report["done"])) == ("done", 2)
    assert "stays: AccessDeniedException" in library.report["lock"]
    assert any("--break-lock" in line for line in library.shown)


def test_a_lock_that_is_not_given_back_hides_no_error(library: Library):
    """What ended it is told."""
    library.cloud.wire.denied.add("ec2.DeleteLaunchTemplate")
    library.before_removal[1] = refusing("the shelf broke")
    assert "the shelf broke" in library.ends(Remove(library), library.person(yes=True))
    assert (library.report["error"], "stays" in library.report["lock"]) == ("the shelf broke", True)


def test_the_lock_of_the_run_that_broke_ours_is_not_given_back(library: Library):
    """It is theirs."""
    library.before_removal[2] = library.lose_lock
    assert library.run(Remove(library), library.person(yes=True)) == 0
    assert len(library.lock) == 1


# Acting


def test_what_is_done_is_not_done_twice(library: Library):
    """An object whose finalizer takes its time is still seen."""
    outcomes = {"a": [Outcome("done")], "b": [Outcome("held"), Outcome("done")]}
    library.at_pause[1] = lambda: library.shelf.update(a="uid-a")
    assert library.run(Remove(library, ROUNDS, outcome=lambda name: outcomes[name].pop(0)), library.person(yes=True)) == 0
    assert library.removed == ["uid-a", "uid-b", "uid-b"]


def test_what_a_later_look_does_not_see_any_more_is_gone(library: Library):
    """Another did it, or it ended by itself: nothing of it is left."""
    library.at_pause[1] = library.shelf.clear
    assert library.run(Remove(library, ROUNDS, outcome=lambda name: Outcome("held")), library.person(yes=True)) == 0
    assert [entry["outcome"] for entry in library.report["done"]] == ["gone", "gone"]


def test_what_could_not_be_seen_is_not_gone(library: Library):
    """A person may go on without it, and it is still left."""
    library.before_look |= {look: refusing() for look in (3, 4)}
    assert library.run(Remove(library, ROUNDS, outcome=lambda name: Outcome("held")), library.person(True, types=CLUSTER)) == 1
    assert [entry["outcome"] for entry in library.report["left"]] == ["held", "held"]


def test_what_may_be_done_is_not_done_again(library: Library):
    """Nobody knows."""
    change = Remove(library, Pace(rounds=3, waits=1), outcome=lambda name: Outcome("unsure", settled=lambda site: None))
    assert library.run(change, library.person(yes=True)) == 1
    assert library.removed == ["uid-a", "uid-b"]


def test_what_was_refused_is_not_tried_again(library: Library):
    """It is reported with the service's words."""
    outcomes = {"a": Outcome("refused", ("in use",)), "b": Outcome("held")}
    assert library.run(Remove(library, ROUNDS, outcome=outcomes.__getitem__), library.person(yes=True)) == 1
    assert (library.removed.count("uid-a"), library.removed.count("uid-b")) == (1, 3)
    assert [(entry["outcome"], entry["said"]) for entry in library.report["left"]] == [("refused", ["in use"]), ("held", [])]


def test_what_does_not_settle_is_no_success(library: Library):
    """It is said for how long it was waited for."""
    change = Remove(library, Pace(waits=4, overdue="still at it"), outcome=lambda name: Outcome("done", settled=lambda site: None))
    assert library.run(change, library.person(yes=True)) == 1
    assert library.pauses == 8
    assert {(entry["outcome"], *entry["said"]) for entry in library.report["left"]} == {("unsure", "still at it")}


def test_a_call_that_aws_refuses_is_not_done(library: Library):
    """And one without an answer may be."""

    def refused() -> None:
        library.cloud.wire.faults["sts.GetCallerIdentity"] = [Refused("AccessDenied", "no")]
        library.cloud.api.client("sts").get_caller_identity()

    library.before_removal[1] = refused
    with pytest.raises(Exception, match="AccessDenied"):
        library.run(Remove(library), library.person(yes=True))
    assert [entry["outcome"] for entry in library.report["left"]] == ["refused"]
    broken = Refused("InternalFailure", "try again", 500)

    def failed() -> None:
        library.cloud.wire.faults["sts.GetCallerIdentity"] = [broken] * 9
        library.cloud.api.client("sts").get_caller_identity()

    for without in (refusing(), failed):
        library.before_removal[1] = without
        with pytest.raises(Exception, match=r"no answer|InternalFailure"):
            library.run(Remove(library), library.person(yes=True))
        assert [entry["outcome"] for entry in library.report["left"]] == ["unsure"]


# One after the other, and taken back


IN_ORDER = Pace(in_order=True)


@pytest.mark.parametrize(("kind", "is_next"), [("held", False), ("moved", False), ("unsure", False), ("refused", True), ("done", True)])
def test_in_order_nothing_begins_before_the_one_before_it_has_ended(library: Library, kind: Any, is_next: bool):
    """A job that has not left keeps its node; a refused run of Pulumi leaves nodes that are to be opened."""
    outcomes = {"a": Outcome(kind), "b": Outcome("done")}
    library.run(Remove(library, IN_ORDER, outcome=outcomes.__getitem__), library.person(yes=True))
    assert ("uid-b" in library.removed) is is_next


def test_in_order_what_was_not_confirmed_stops_what_comes_after_it(library: Library):
    """And what prepared for it is taken back."""
    library.before_look[2] = library.grow
    library.run(Remove(library, IN_ORDER, runs="same", undoes=True), library.person(yes=True))
    assert (library.removed, library.put_back) == (["uid-a", "uid-b"], ["uid-b", "uid-a"])


@pytest.mark.parametrize("what", LOST)
def test_in_order_lock_and_identity_are_compared_before_each_action(library: Library, what: str):
    """Each may have taken its time."""
    library.before_removal[1] = lambda: LOST[what](library)
    library.ends(Remove(library, IN_ORDER), library.person(yes=True))
    assert (library.removed, library.report["end"]) == (["uid-a"], "stopped")


@pytest.mark.parametrize("kind", ["held", "moved"])
def test_what_prepared_for_what_was_not_done_is_taken_back(library: Library, kind: Any):
    """In reverse, the one under way included, and the report says so."""
    outcomes = {"a": Outcome("done"), "b": Outcome(kind)}
    assert library.run(Remove(library, outcome=outcomes.__getitem__, undoes=True), library.person(yes=True)) == 1
    assert library.put_back == ["uid-b", "uid-a"]
    assert {entry["outcome"] for entry in library.report["left"]} == {"taken back"}


@pytest.mark.parametrize("kind", ["unsure", "refused", "done"])
def test_what_may_have_led_to_something_is_not_taken_back(library: Library, kind: Any):
    """The next run goes on from there."""
    library.run(Remove(library, outcome=lambda name: Outcome(kind), undoes=True), library.person(yes=True))
    assert library.put_back == []


def test_after_an_error_and_after_ctrl_c_it_is_taken_back(library: Library):
    """With the lock, which is given back after it; a second signal waits."""
    locks = list[bool]()
    library.at_undo["uid-b"] = lambda: (locks.append(bool(library.lock)), interrupt())
    library.before_removal[2] = refusing("it fell")
    library.ends(Remove(library, undoes=True), library.person(yes=True), KeyboardInterrupt)
    assert (library.put_back, locks, library.lock) == (["uid-b", "uid-a"], [True], {})
    assert library.report["end"] == "interrupted"
    again = Library(library.folder)
    again.before_removal[2] = interrupt
    again.ends(Remove(again, undoes=True), again.person(yes=True), KeyboardInterrupt)
    assert again.put_back == ["uid-b", "uid-a"]


@pytest.mark.parametrize("what", LOST)
def test_after_a_lost_lock_nothing_is_taken_back(library: Library, what: str):
    """Another run is at it, or it is another cluster."""
    library.before_removal[1] = lambda: LOST[what](library)
    library.ends(Remove(library, IN_ORDER, undoes=True), library.person(yes=True))
    assert library.put_back == []


@pytest.mark.parametrize("what", LOST)
def test_after_ctrl_c_nothing_is_taken_back_that_another_run_has_by_then(library: Library, what: str):
    """The lock was broken while a call lasted: nodes that the other run has closed are not opened."""
    library.before_removal[2] = lambda: (LOST[what](library), interrupt())
    library.ends(Remove(library, undoes=True), library.person(yes=True), KeyboardInterrupt)
    assert library.put_back == []
    assert all("not taken back: " in entry["said"][0] for entry in library.report["left"])


def test_what_was_taken_back_says_why(library: Library):
    """Else nothing does."""
    library.run(Remove(library, outcome=lambda name: Outcome("held", ("it is in use",)), undoes=True), library.person(yes=True))
    assert {(entry["outcome"], *entry["said"]) for entry in library.report["left"]} == {("taken back", "it is in use")}


def test_what_cannot_be_taken_back_is_a_line_of_the_report(library: Library):
    """It hides no error, and the others are taken back."""
    library.before_removal[2] = refusing("it fell")
    library.at_undo["uid-b"] = refusing("stuck")
    assert library.ends(Remove(library, undoes=True), library.person(yes=True)) == "error: it fell"
    assert library.put_back == ["uid-a"]
    said = {entry["name"]: (entry["outcome"], *entry["said"]) for entry in library.report["left"]}
    assert said == {"a": ("taken back",), "b": ("unsure", "not taken back: stuck")}
    assert any("not taken back: stuck" in line for line in library.shown)


# Report


def interrupt() -> None:
    """Ctrl-C."""
    signal.raise_signal(signal.SIGINT)


def terminate() -> None:
    """kill -TERM."""
    signal.raise_signal(signal.SIGTERM)


def bug() -> None:
    """A mistake."""
    raise ZeroDivisionError("bug")


def abort() -> None:
    """A no at the terminal."""
    raise typer.Abort


@pytest.mark.parametrize(
    ("act", "error", "end"),
    [
        (interrupt, KeyboardInterrupt, "interrupted"),
        (terminate, KeyboardInterrupt, "interrupted"),
        (bug, ZeroDivisionError, "failed"),
        (abort, typer.Abort, "declined"),
    ],
)
@pytest.mark.parametrize("when", ["look", "second look", "removal", "pause"])
def test_the_report_is_written_whatever_ends_it(library: Library, act: Any, error: type[BaseException], end: str, when: str):
    """And the lock given back before."""
    places = {"look": library.before_look, "second look": library.before_look, "removal": library.before_removal, "pause": library.at_pause}
    places[when][2 if when in ("second look", "removal") else 1] = act
    change = Remove(library, ROUNDS, outcome=lambda name: Outcome("held"))
    library.ends(change, library.person(yes=True), error)
    assert (library.report["end"], library.lock, library.report["lock"]) == (end, {}, "")
    if when == "removal":
        assert [entry["outcome"] for entry in library.report["left"]] == ["held", "unsure"]


def test_a_second_signal_does_not_cut_off_what_gives_the_lock_back(library: Library):
    """Nor the report."""
    library.before_removal[1] = interrupt
    delete, deleted = library.cloud.wire.handlers["ec2.DeleteLaunchTemplate"], list[Any]()

    def answered(given: Any) -> Any:
        deleted.append(given)
        interrupt()
        return delete(given)

    library.cloud.wire.handlers["ec2.DeleteLaunchTemplate"] = answered
    library.ends(Remove(library), library.person(yes=True), KeyboardInterrupt)
    assert (len(deleted), library.lock, library.report["end"]) == (1, {}, "interrupted")


def test_signals_end_it_from_the_first_look_on_and_are_left_as_they_were(library: Library):
    """Not only while the lock is held."""

    def other(number: int, frame: Any) -> None:
        raise AssertionError("the signal went past it")

    before = signal.signal(signal.SIGTERM, other)
    try:
        library.before_look[1] = terminate
        library.ends(Remove(library), library.person(yes=True), KeyboardInterrupt)
        assert library.report["end"] == "interrupted"
        assert library.run(Remove(library), library.person(yes=True)) == 0
        assert signal.getsignal(signal.SIGTERM) is other
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_signal_does_not_cut_off_the_report(library: Library, monkeypatch: pytest.MonkeyPatch):
    """It counts when that is written."""
    monkeypatch.setattr(Remove, "data", lambda *_: interrupt() or {})
    library.ends(Remove(library), library.person(yes=True), KeyboardInterrupt)
    assert (library.report["end"], len(library.report["done"])) == ("done", 2)


def test_a_place_that_cannot_be_written_is_said_before_anything_is_asked(library: Library, tmp_path: Path):
    """A folder, and a file in place of a folder."""
    (tmp_path / "file").touch()
    for place in (tmp_path, tmp_path / "file" / "report.json"):
        assert "cannot write" in library.ends(Remove(library), library.person(), json_file=place)
    assert (library.looks, library.removed) == (0, [])
    assert library.run(Remove(library), library.person(True), json_file=tmp_path / "new" / "report.json") == 0
    assert json.loads((tmp_path / "new" / "report.json").read_text())["end"] == "done"


def test_a_full_disk_loses_no_report(library: Library, capsys: pytest.CaptureFixture[str]):
    """It goes to standard error, and the exit code says that it is not where it was asked for."""
    assert library.run(Remove(library), library.person(True), json_file=Path("/dev/full")) == 1
    said = capsys.readouterr().err
    report, _ = json.JSONDecoder().raw_decode(said)
    assert (report["end"], "No space left on device" in said) == ("done", True)
    library.shelf.update(a="uid-a")
    library.before_look[library.looks + 1] = bug
    library.ends(Remove(library), library.person(True), ZeroDivisionError, json_file=Path("/dev/full"))


# Identities


def test_an_object_without_arn_or_uid_has_no_identity():
    """A name alone identifies nothing."""
    with pytest.raises(ValueError, match="no ARN"):
        Aws("node group", "core", "", "2026-01-01T00:00:00Z")
    with pytest.raises(ValueError, match="no uid"):
        Kube("pod", "training/a", "")


def test_names_are_not_compared():
    """ARN and time are."""
    made = Aws("node group", "core", "arn", "2026-01-01T00:00:00Z")
    assert made == Aws("node group", "renamed", "arn", "2026-01-01T00:00:00Z")
    assert made != Aws("node group", "core", "arn", "2026-02-02T00:00:00Z")
    assert Kube("pod", "a", "1") != Kube("pod", "a", "2")


def test_a_state_of_another_lineage_is_another_state():
    """Though it holds the same ids."""

    def read(**deployment: Any) -> Any:
        export = state(CLUSTER)
        return state_id(FakePulumi({**export, "deployment": {**export["deployment"], **deployment}}), "dev")

    assert read() == read()
    assert read().within(read())
    salted = read(secrets_providers={"type": "passphrase", "state": {"salt": "v1:x"}})
    assert not salted.within(read())
    for broken in (FakePulumi(None), FakePulumi({"no": "state"})):
        with pytest.raises(CommandError):
            state_id(broken, "dev")


def test_actions_are_told_by_what_they_do_and_to_what():
    """As the report and the questions have them."""
    remove, burn = (Action(verb, Kube("book", "a", "1"), "because", lambda site, which: Outcome("done")) for verb in ("remove", "burn"))
    assert str(remove) == "remove book a"
    assert (remove.is_within(remove), burn.is_within(remove)) == (True, False)
