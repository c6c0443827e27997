"""What a sweep of one stack is told, and how that of a destroy goes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trn.aws.api import Api
from trn.aws.leftovers import CLUSTERS, KINDS, Found
from trn.aws.places import look, place_of
from trn.change.action import Refusal
from trn.change.ownership import DELETING, FAILED, Consent, Ownership, StackCluster, chosen_stack
from trn.change.sweep_plan import DATA_NAMES, Keeping, SweepPlan, wrong_data
from trn.cli.errors import MISUSE, CommandError
from trn.cli.watching import Watching
from trn.ending.sweep.run import Outcome, Sweep, judged
from trn.ending.sweep.state_file import Today, ask_today
from trn.engine.pulumi import Pulumi


@dataclass(frozen=True)
class Choices:
    """What the caller of a sweep has chosen."""

    state_file: Path | None = None
    data: frozenset[str] = frozenset()
    """Kinds of data, and ids of data, that are deleted too."""
    final_backup: bool = False
    """As in the stack file."""
    break_lock: bool = False


def refuse_data(names: Sequence[str]) -> frozenset[str]:
    """What `--data` was given. Raises CommandError for what is neither a kind of data nor an id."""
    wrong = wrong_data(names)
    if wrong:
        raise CommandError(f"`{wrong[0]}` is no kind of data and no id", f"kinds: {', '.join(sorted(DATA_NAMES))}", code=MISUSE)
    return frozenset(names)


def planned(api: Api, ownership: Ownership, today: Today, choices: Choices, named: str, watching: Watching) -> tuple[Keeping, SweepPlan]:
    """What a sweep of this stack would delete, and for whom. Reads only. Raises CommandError where it is not clear for whom."""
    everything = list(look(api, place_of(api, ownership.subject.cluster), watching.tracked(KINDS)))
    stack = chosen_stack(ownership, everything, named)
    keeping = Keeping(ownership.owner(stack), ownership.state.ids | today.ids, choices.data, today.unknown_since)
    return keeping, judged(api, everything, keeping)


def today_of(pulumi: Pulumi, subject: StackCluster, choices: Choices) -> Today:
    """What the backend has beside the file that was given; nothing where none was given: the state is then the backend's."""
    return Today() if choices.state_file is None else ask_today(pulumi, subject, choices.state_file)


def refuse_living(ownership: Ownership, plan: SweepPlan) -> Iterator[Refusal]:
    """Where a cluster is up that the state does not hold, and where the plan has one whose stack is not gone.

    Sweep is for what a destroy left: one that is being made or changed lives, whichever backend has its stack.
    """
    stack = ownership.subject.stack
    if ownership.status not in ("", DELETING, FAILED) and not ownership.is_proven:
        wrong = (
            f"the cluster is up ({ownership.status}), and Pulumi's state of stack `{stack}` does not hold it: nothing of it is left over"
        )
        yield Refusal(wrong, "`pulumi whoami --verbose` names the backend: is it the one that made the cluster?")
    doomed = any(item.kind == CLUSTERS.name for item in plan.deletions)
    if doomed and ownership.status != DELETING and not ownership.state.is_gone:
        wrong = (
            f"the cluster is up ({ownership.status}), and its stack `{stack}` is not gone: a sweep would tear it down without draining it"
        )
        yield Refusal(wrong, f"`trn recover {stack}` if a run was killed, then `trn destroy {stack}`")


def sweep_of(api: Api, keeping: Keeping, choices: Choices, watching: Watching) -> Sweep:
    """The deletions of one owner."""
    assert keeping.owner is not None
    return Sweep(api, keeping.owner, watching.pause, watching.tell, keeping, choices.final_backup, show=watching.show)


def bound(sweep: Sweep, plan: SweepPlan, check: Callable[[], frozenset[str]], consent: Consent) -> Outcome:
    """Delete what is in the plan. What appears meanwhile is asked about once; with `--yes` it stays and is reported."""

    def agree(new: tuple[Found, ...]) -> bool:
        for item in new:
            sweep.tell(f"new since the plan was confirmed: {item.kind} {item.id} ({item.because})")
        return not consent.yes and consent.ask(f"Delete these {len(new)} as well?")

    return replace(sweep, check=check, agree=agree).run(plan)
