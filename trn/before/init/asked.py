"""From options, kept answers and questions to a whole draft: what is given is read first, and all that is wrong with it said at once."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trn.before.init.asking import Terminal
from trn.before.init.offers import Offers
from trn.before.init.questions import Draft, ElsewhereOnly, Question, WrongAnswer
from trn.cli.errors import MISUSE, CompleteError


class Interview:
    """The answers to some questions, and the texts they were given as."""

    def __init__(self, questions: Sequence[Question], offers: Offers, draft: dict[str, Any]) -> None:
        """`draft` holds what is known before the first question."""
        self.questions, self.offers, self.draft = questions, offers, draft
        self.texts: dict[str, str] = {}
        """To be kept where the questions are broken off."""

    def take(self, given: Mapping[str, str], *, fill: bool) -> None:
        """Read the options; with `fill` take defaults for the rest. Raises WrongAnswer, or CompleteError for several."""
        wrong: list[WrongAnswer] = []
        for question in self.questions:
            try:
                text = given.get(question.key)
                # Without what it needs nothing can be said of it: its turn comes, or the mistake before it is said.
                if all(need in self.draft for need in question.needs):
                    wants_default = text is None and fill and not (wrong and question.is_slow)
                    self._read(question, self._or_default(question) if wants_default else text)
            except WrongAnswer as error:
                wrong.append(error)
        if len(wrong) == 1:
            raise wrong[0]
        if wrong:
            raise CompleteError("\n\n".join(map(str, wrong)), code=MISUSE)

    def _or_default(self, question: Question) -> str | None:
        if not question.applies(self.draft):
            return None
        default = question.default(self.draft, self.offers)
        return question.otherwise(self.draft, self.offers) if default is None else default

    def _read(self, question: Question, text: str | None) -> None:
        if text is not None:
            self.draft[question.key] = question.read(text, self.draft, self.offers)
            self.texts[question.key] = text

    def take_kept(self, kept: Mapping[str, str]) -> None:
        """Take answers of an earlier time, as far as they can be taken still."""
        for question in self.questions:
            if question.key in self.draft or any(need not in self.draft for need in question.needs):
                continue
            try:
                self._read(question, kept.get(question.key))
            except WrongAnswer:
                continue

    def ask(
        self, given: Mapping[str, str], terminal: Terminal, before: Callable[[Question], None], after: Callable[[Question], None]
    ) -> None:
        """Ask for what is not answered; an option that could not be read before is read at its turn. Raises Quit.

        `before` and `after` are called around each question that is asked.
        """
        for question in self.questions:
            if question.key in self.draft or not question.applies(self.draft):
                continue
            try:
                self._read(question, given.get(question.key))
            except WrongAnswer as wrong:
                terminal.explain(wrong)
            if question.key not in self.draft:
                before(question)
                self._ask(question, terminal)
                after(question)

    def _ask(self, question: Question, terminal: Terminal) -> None:
        """Ask until the answer can be taken."""
        while question.key not in self.draft:
            # First the default: what is learned for it is said with the question.
            default = question.default(self.draft, self.offers)
            text = terminal.ask(question.words(self.draft, self.offers), default)
            try:
                self._read(question, text)
            except ElsewhereOnly as wrong:
                terminal.explain(wrong)
                if self._moves(wrong, terminal):
                    self._read(question, text)
            except WrongAnswer as wrong:
                terminal.explain(wrong)

    def _moves(self, wrong: ElsewhereOnly, terminal: Terminal) -> bool:
        """Offer the regions that have the type; whether the draft is in one of them then."""
        if not wrong.regions:
            return False
        here: Draft = self.draft
        region = terminal.ask(f"Take another region ({', '.join(wrong.regions)}; Enter to stay in {here['region']})", None)
        if region not in wrong.regions:
            return False
        self.draft["region"] = self.texts["region"] = region
        terminal.show(f"the region is {region}")
        return True

    def drop(self, keys: Sequence[str]) -> None:
        """Forget answers, so that they are asked for again."""
        for key in keys:
            self.draft.pop(key, None)
            self.texts.pop(key, None)
