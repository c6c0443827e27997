"""`trn init`: from options, kept answers and questions to a stack file that the program takes."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from facts.typed import typed
from trn.before.init.asked import Interview
from trn.before.init.asking import Quit, Terminal
from trn.before.init.kept import Kept
from trn.before.init.making import File, Request
from trn.before.init.offers import Account, Catalogue, Offers
from trn.before.init.own_address import OwnAddress
from trn.before.init.questions import PRIVATE, QUESTIONS, Question, WrongAnswer
from trn.before.init.samples import EXAMPLE_RESERVATION, asks, sample_of
from trn.cli.errors import INTERRUPTED

STOPPED = 1
"""Exit code after `q`: nothing was made, and what follows with && is not to run."""


def run(request: Request, root: Path, project: str) -> int:
    """Ask, check, write. Returns the exit code. Raises WrongAnswer, CompleteError or ConfigurationError."""
    from trn.change.clients import access

    outside = access()
    sample = sample_of(request.sample).text if request.sample else None
    offers: Offers = Account(lambda region: outside.aws(request.stack, region), request.block_hours) if request.live else Catalogue()
    interview = Interview(questions_for(request, sample), offers, {"stack": request.stack})
    if sample is not None:
        # Its reservation is an example: the one option or answer that a block cannot do without.
        interview.draft["capacity"] = "capacity-block"
    if "allow" not in request.given and any(question.key == "allow" for question in interview.questions):
        _learn_address(interview, OwnAddress(outside.own_address))
    interview.take(request.given, fill=request.yes)
    kept = Kept.of(root, request.stack)
    file = File(request, root, project, sample)
    if request.fresh:
        kept.forget()
    if not request.yes:
        try:
            _talk(interview, request, kept, file)
        except Quit:
            return _broken_off("stopped", interview, kept, request.stack, STOPPED)
        except (KeyboardInterrupt, typer.Abort):
            return _broken_off("\ninterrupted", interview, kept, request.stack, INTERRUPTED)
    code = file.write(interview)
    kept.forget()
    return code


def questions_for(request: Request, sample: str | None) -> tuple[Question, ...]:
    """All, or those that a sample leaves open. Raises WrongAnswer for an option that a sample has no place for."""
    if sample is None:
        return QUESTIONS
    open_keys = asks(sample)
    closed = [question.option for question in QUESTIONS if question.key in request.given and question.key not in open_keys]
    found = tuple(question for question in QUESTIONS if question.key in open_keys)
    if closed:
        options = ", ".join(question.option for question in found)
        hint = f"leave it out, and edit Pulumi.{request.stack}.yaml afterwards"
        raise WrongAnswer(f"{', '.join(closed)} cannot change the sample {request.sample}", options, hint)

    # Enough for a rehearsal.
    def example(_draft: Mapping[str, Any], _offers: Offers) -> str:
        return EXAMPLE_RESERVATION

    return tuple(replace(question, needs=(), default=example) if question.key == "reservation" else question for question in found)


def _learn_address(interview: Interview, address: OwnAddress) -> None:
    """The default of one question, known when that question is asked."""

    def known(_draft: Mapping[str, Any], _offers: Offers) -> str | None:
        block = interview.draft["own_address"] = address.block()
        return block

    interview.questions = tuple(
        replace(question, default=known) if question.key == "allow" else question for question in interview.questions
    )


def _talk(interview: Interview, request: Request, kept: Kept, file: File) -> None:
    """Take up kept answers, and ask for the rest until the program takes the whole. Raises Quit."""
    terminal, earlier, given = Terminal(), kept.read(), dict(request.given)
    if earlier is not None:
        said = ", ".join(f"{key.replace('_', ' ')} {text}" for key, text in earlier.items())
        terminal.show(f"answers of an earlier time are kept: {said}")
        if terminal.confirm("Go on with them?"):
            interview.take_kept(earlier)
        else:
            kept.forget()
    terminal.show("Enter takes what is in brackets, q stops; a wrong answer is asked again")
    while True:
        interview.ask(
            given,
            terminal,
            lambda question: _before(question, interview, terminal),
            lambda question: _after(question, interview, terminal, file),
        )
        wrong = file.mistakes(interview)
        if wrong is None:
            return
        keys = [question.key for question in interview.questions if any(_is_about(path, question) for path in wrong.paths)]
        if not keys:
            raise wrong.error
        terminal.show(str(wrong.error))
        interview.drop(keys)
        given = {key: text for key, text in given.items() if key not in keys}


def _is_about(path: str, question: Question) -> bool:
    return any(path == start or path.startswith((f"{start}.", f"{start}[")) for start in question.paths)


def _before(question: Question, interview: Interview, terminal: Terminal) -> None:
    draft = interview.draft
    if question.key == "reservation" and {"instance_type", "region", "zone", "count"} <= draft.keys():
        for line in interview.offers.blocks(draft["instance_type"], draft["region"], draft["zone"], draft["count"])[0]:
            terminal.show(line)


def _after(question: Question, interview: Interview, terminal: Terminal, file: File) -> None:
    if question.key == "allow" and not interview.draft["allow"]:
        terminal.show(
            f"{PRIVATE}: `{typed('pulumi up')}`, kubectl and trn must run inside the VPC, which the stack itself makes; docs/private.md has three ways there"
        )
    block_follows = question.key == "capacity" and interview.draft["capacity"] == "capacity-block"
    if question.changes_cost and not block_follows and file.sample is None:
        terminal.show(f"so far {file.cost(interview)}")


def _broken_off(word: str, interview: Interview, kept: Kept, stack: str, code: int) -> int:
    """Say in one line that nothing was written, and where the answers are."""
    count = len(interview.texts)
    until = kept.write(interview.texts) if count else None
    line = f"{word}: nothing was written"
    if until is not None:
        answers = "1 answer is" if count == 1 else f"{count} answers are"
        line += f"; {answers} kept until {until:%Y-%m-%d} in {kept.path}: `trn init {stack}` goes on with them, `trn init {stack} --fresh` forgets them"
    elif count:
        line += f", and the answers could not be kept in {kept.path.parent}"
    sys.stderr.write(f"{line}\n")
    return code
