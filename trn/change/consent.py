"""Who is asked. Nothing else makes a Confirmed, and nothing is done without one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from trn.change.action import Action, Ended, Question
from trn.change.known import Unknown
from trn.change.ownership import Consent
from trn.change.whose import Whose
from trn.cli.errors import MISUSE, OwnershipError

_A_PERSON = object()


@dataclass(frozen=True)
class Confirmed:
    """What a person has agreed to."""

    made_by: object
    actions: tuple[Action, ...] = ()
    declined: tuple[Action, ...] = ()
    """Those that a later look found and a person said no to."""
    unknown: frozenset[str] = frozenset()
    """What was not seen, and gone on without."""

    def __post_init__(self) -> None:
        if self.made_by is not _A_PERSON:
            raise TypeError("only a Person confirms")

    def covers(self, action: Action) -> bool:
        """Whether an action was agreed to, or comes of one that was."""
        return not action.is_change or any(action.is_within(each) or action.follows(each) for each in self.actions)

    def leaves(self, action: Action) -> bool:
        """Whether a person said no to an action."""
        return any(action.is_within(each) for each in self.declined)


@dataclass(frozen=True)
class Person:
    """Whoever runs the command: what the options said, and a terminal for the rest."""

    said: Consent
    tell: Callable[[str], None]

    def confirm(self, whose: Whose, plan: Sequence[Action], question: Question | None, unknown: Sequence[Unknown]) -> Confirmed:
        """Consent to a plan. Raises where there is none."""
        if self.said.name:
            # Whoever names a cluster means no other, whether or not the name is needed.
            self.said.type_name(whose.cluster, "")
        if unknown and question is not None and question.is_named_blindly:
            self.said.type_name(whose.cluster, "; ".join(map(str, unknown)))
        else:
            self._type_name(whose, unknown)
        if not (unknown or whose.is_known):
            self.said.type_name(whose.cluster, "Pulumi's state does not say whose this cluster is")
        if question is not None and question.named:
            self.said.type_name(whose.cluster, question.named)
        self._ask_apart(question)
        if question is not None and not self.said.yes:
            self._ask(question)
        return Confirmed(_A_PERSON, tuple(plan), unknown=frozenset(each.what for each in unknown))

    def again(
        self, before: Confirmed, whose: Whose, plan: Sequence[Action], grave: Sequence[str], question: Question | None,
        unknown: Sequence[Unknown],
    ) -> Confirmed:  # fmt: skip
        """Consent after a later look: `before` itself where nothing was left to ask about.

        What is new is asked about, or with `--yes` left alone. Raises where something grave has changed and a person does not agree to
        it: `--yes` was said to what was shown.
        """
        unseen = [each for each in unknown if each.what not in before.unknown]
        self._type_name(whose, unseen)
        seen = replace(before, unknown=before.unknown | {each.what for each in unseen}) if unseen else before
        new = [action for action in plan if not seen.covers(action) and not seen.leaves(action)]
        if self.said.yes and grave:
            raise Ended("stopped", "\n  ".join(["this is not what was confirmed:", *grave]), "nothing more was changed; run it again")
        if self.said.yes or not (grave or new):
            return seen
        for line in (*grave, *(f"not confirmed yet: {action}, {action.because}" for action in new)):
            self.tell(line)
        if grave:
            self._ask_apart(question)
            self._ask(question or Question("Go on?"))
        elif not self.said.ask(f"Do these {len(new)} too?"):
            return replace(seen, declined=(*seen.declined, *new))
        return replace(seen, actions=(*seen.actions, *new))

    def _ask_apart(self, question: Question | None) -> None:
        if question is not None and question.apart is not None:
            self.said.agree_apart(*question.apart)

    def _ask(self, question: Question) -> None:
        """A yes, and what is typed beside it. Raises what `confirm` raises, and Ended for another text."""
        self.said.confirm(question.text)
        if question.typed is not None:
            typed = self.said.prompt(question.typed.text)
            if not question.typed.is_right(typed):
                raise Ended("declined", f"`{typed}` {question.typed.wrong}", "run it again", code=MISUSE)

    def _type_name(self, whose: Whose, unknown: Sequence[Unknown]) -> None:
        """Neither `--yes` nor `--name` covers what is not known: both were given before anybody could know of it."""
        if not unknown:
            return
        what = "; ".join(map(str, unknown))
        if self.said.yes:
            hint = "make it answer, and run it again; or leave --yes out, and type the cluster's name when asked"
            raise Ended("unknown", f"--yes does not cover what could not be seen: {what}", hint)
        typed = self.said.prompt(f"{what}; type the cluster's name to go on without it")
        if typed != whose.cluster:
            raise OwnershipError(f"`{typed}` is not the cluster's name, {whose.cluster}; nothing was changed", code=MISUSE)
