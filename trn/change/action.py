"""A change as a value: what it looks at, what it would do, what it refuses, what it asks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, runtime_checkable

from trn.change.identity import File, Identity, StateId, file_id
from trn.change.whose import Site, Whose
from trn.cli.errors import CommandError
from trn.cli.text_files import write_text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from trn.change.report import ChangeDocument, Report

Seen = TypeVar("Seen")
End = Literal["done", "nothing", "shown", "left", "refused", "declined", "unknown", "stopped", "interrupted", "failed"]
OutcomeKind = Literal["done", "going", "gone", "moved", "held", "refused", "unsure", "not confirmed", "taken back"]


class Ended(CommandError):
    """Ends a change, and says how."""

    def __init__(self, end: End, wrong: str, hint: str = "", *, code: int = 1) -> None:
        super().__init__(wrong, hint, code=code)
        self.end: End = end


@dataclass(frozen=True)
class Outcome:
    """What became of an action."""

    kind: OutcomeKind
    """going: sent once, and waited for until a look does not see it. gone: a later look does not see it any more. moved: the object is another one, or has changed, so that nothing was sent. held: not yet; the next round tries again.
    refused: it will not be done. unsure: sent, and no end of it is known. not confirmed: a later look found it.
    taken back: it was done, and what it was for was not."""
    said: tuple[str, ...] = ()
    settled: "Callable[[Site], Outcome | None] | None" = None
    """What is waited for before the action counts as done: reads only; None as long as it lasts."""
    waits: int = 0
    """Pauses for that; 0: as many as the change has for any action."""
    gave: Any = None
    """What the command says of it beside."""
    is_last: bool = False
    """Nothing more is done, and nothing more is waited for."""


NOT_CONFIRMED = Outcome("not confirmed", ("it was not there when it was confirmed",))


@dataclass(frozen=True)
class Action:
    """One changing call. Two with the same verb and object are the same to whoever confirms them."""

    verb: str
    object: Identity
    because: str
    do: Callable[[Site, Any], Outcome]
    """Makes the call, conditioned on the identity that it is handed. Called by the executor only."""
    phase: int = 0
    """It waits while something of a lower phase stands: for as many rounds as `Pace.patience` says, and for ever for what was not confirmed."""
    follows: "Callable[[Action], bool]" = lambda confirmed: False
    """Whether it comes of another action, so that consent to that one is consent to this one."""
    is_change: bool = True
    """False: nothing is called, it is only waited for, and nobody is asked."""
    undo: Callable[[Site], Any] | None = field(default=None, kw_only=True)
    """Takes back what only prepares for what follows, where that is not done. By what is found then: it may be done in part, or not at all."""

    def is_within(self, confirmed: "Action") -> bool:
        """Whether consent to the other action is consent to this one."""
        return self.verb == confirmed.verb and self.object.within(confirmed.object)

    def __str__(self) -> str:
        return f"{self.verb} {self.object.kind} {self.object.name}"


@dataclass(frozen=True)
class PulumiRun(Action):
    """A run of the Pulumi CLI. The state is compared with its object right before it."""

    expects: Literal["same", "within"] = "same"
    """Whether the state must be as it was, or may have shrunk: a destroy is tried again with what is left."""
    wanted: Any = None
    """What it writes, as far as the stack file says it: consent to one text of the file is none to another."""

    def is_within(self, confirmed: Action) -> bool:
        """A run that must find the state as it was is another one where the state has only shrunk, and so is one that writes something else."""
        is_same = isinstance(confirmed, PulumiRun) and self.wanted == confirmed.wanted
        return is_same and super().is_within(confirmed) and (self.expects == "within" or self.object == confirmed.object)

    def allows(self, now: StateId) -> bool:
        """Whether the state is still the one that was confirmed."""
        return now == self.object if self.expects == "same" else now.within(self.object)


def written(file: File, text: str, hint: str = "") -> Outcome:
    """Writes a file, whole or not at all, where it still holds what it held when it was looked at. Raises CommandError as `write_text` does."""
    if file_id(file.path) != file:
        return Outcome("moved", (f"{file.path} has been edited since it was looked at",))
    write_text(file.path, text, hint)
    return Outcome("done")


@dataclass(frozen=True)
class Refusal:
    """Why a command does nothing."""

    wrong: str
    hint: str = ""
    code: int = 1
    shown: "tuple[RenderableType, ...]" = ()
    """What is shown before it."""


@dataclass(frozen=True)
class Difference:
    """What a later look saw otherwise than it was shown."""

    what: str
    is_grave: bool
    """Whether it is asked about again; else it is only told."""


@dataclass(frozen=True)
class Typed:
    """What is typed after a yes, such as a sum: a second yes would be given without reading."""

    text: str
    is_right: Callable[[str], bool]
    wrong: str
    """Said of another text, after it."""


@dataclass(frozen=True)
class Question:
    """What is asked: counts and costs of exactly the actions."""

    text: str
    named: str = ""
    """Why the cluster's name is typed too, or given with `--name`; empty where it need not be."""
    typed: Typed | None = None
    """`--yes` takes the place of this too: what limits it then is for the command to refuse."""
    apart: tuple[str, str] | None = None
    """What is asked about by itself, which no option covers, and what would make that question needless."""
    is_named_blindly: bool = False
    """Whether `--name` covers what the look did not see: the command is for a cluster that may not answer any more."""


@dataclass(frozen=True)
class Pace:
    """How often it looks and waits."""

    rounds: int = 1
    """Looks, each followed by what is still to be done."""
    pause_s: float = 15
    waits: int = 120
    """Pauses for one action to settle."""
    overdue: str = "no end of it is known"
    """Said of an action that does not settle in that time."""
    patience: tuple[int, ...] = ()
    """Rounds for which each phase but the first waits for those before it."""
    in_order: bool = False
    """Whether each action waits for the end of the one before it, and lock and identity are looked at before each."""


class Hold(Protocol):
    """A lock, for one run."""

    @property
    def name(self) -> str:
        """As users find it."""
        ...

    def take(self, tell: Callable[[str], None], *, break_lock: bool) -> None:
        """By a conditional write. Raises OwnershipError where another run holds it; `break_lock`: take it from that one."""
        ...

    def refuse_lost(self) -> None:
        """Raises OwnershipError where this run does not hold it any more."""
        ...

    def release(self) -> None:
        """Give back what this run holds, and no lock that was taken since."""
        ...


class Change(Protocol[Seen]):
    """A command that changes something."""

    @property
    def name(self) -> str:
        """As in the lock and in the report: `scale dev trn1-32xl 0`."""
        ...

    @property
    def document(self) -> "type[ChangeDocument]":
        """The model of its report."""
        ...

    @property
    def pace(self) -> Pace:
        """How often it looks and waits."""
        ...

    def hold(self, site: Site, whose: Whose, /) -> Hold:
        """What no second run may hold meanwhile: the cluster's lock, or a smaller one."""
        ...

    def look(self, site: Site, whose: Whose, /) -> Seen:
        """Reads only. A part that could not be read is Unknown; without what an error leaves no plan possible, it is raised."""
        ...

    def refusals(self, seen: Seen, /) -> Iterable[Refusal]:
        """Pure."""
        ...

    def actions(self, seen: Seen, /) -> Sequence[Action]:
        """Pure: everything that is still to be done, in its order."""
        ...

    def question(self, seen: Seen, /) -> Question | None:
        """Pure. None asks nothing, and leaves out no other step."""
        ...

    def shown(self, seen: Seen, /) -> "Iterable[RenderableType]":
        """Pure: what is shown before the question."""
        ...

    def differences(self, shown: Seen, now: Seen, /) -> Iterable[Difference]:
        """Pure: what has changed between two looks, beside the actions themselves."""
        ...

    def result(self, seen: Seen, report: "Report", /) -> "Iterable[RenderableType]":
        """Pure: lines of the result."""
        ...

    def data(self, seen: Seen, report: "Report", /) -> Mapping[str, Any]:
        """Pure: the command's own keys of `--json`, after whatever end, by their names in the model."""
        ...


@runtime_checkable
class KnownBefore(Protocol):
    """A change some of whose own keys of `--json` are known before a look: they are in the report of one that ends there."""

    @property
    def always(self) -> Mapping[str, Any]:
        """These keys, as they are by now."""
        ...
