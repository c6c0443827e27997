"""What a sweep is told, what it knows of the stack's state, and what it refuses."""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from facts.typed import typed
from trn.aws.api import Api
from trn.aws.cluster_identity import moment
from trn.aws.leftovers import CLUSTERS, Found
from trn.aws.role_users import role_users
from trn.change.action import Refusal
from trn.change.ownership import DELETING, FAILED, Ownership, StackCluster
from trn.change.sweep_plan import DATA_NAMES, ROLES, Keeping, SweepPlan, plan_sweep, wrong_data
from trn.cli.errors import MISUSE, CommandError, OwnershipError
from trn.cli.text_files import read_text
from trn.engine.pulumi import Pulumi
from trn.engine.stack_export import StateStamp, is_older, is_other_stack
from trn.engine.stack_state import MAX_BYTES, parse_state

_HINT = "leave --state out: today's state is read from the backend, which answers"


def refuse_data(names: Sequence[str]) -> frozenset[str]:
    """What `--data` was given. Raises CommandError for what is neither a kind of data nor an id."""
    wrong = wrong_data(names)
    if wrong:
        raise CommandError(f"`{wrong[0]}` is no kind of data and no id", f"kinds: {', '.join(sorted(DATA_NAMES))}", code=MISUSE)
    return frozenset(names)


def judged(api: Api, found: Collection[Found], keeping: Keeping) -> SweepPlan:
    """What of these would be deleted, after a look at which clusters use the roles among them. Reads only."""
    if any(item.kind == ROLES for item in found):
        keeping = replace(keeping, role_users=role_users(api))
    return plan_sweep(found, keeping)


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
        yield Refusal(wrong, f"`{typed(f'trn recover {stack}')}` if a run was killed, then `{typed(f'trn destroy {stack}')}`")


# A state in a file may be an old one, and know nothing of what was made since


@dataclass(frozen=True)
class Today:
    """What is known of a stack today, beside the state that was given. Nothing where none was given: the state is then the backend's."""

    ids: frozenset[str] = frozenset()
    """What the backend's state holds."""
    unknown_since: str | None = None
    """Time of the file, where the backend does not say what it holds."""


def ask_today(pulumi: Pulumi, subject: StackCluster, path: Path) -> Today:
    """The backend's state beside that of a file, which was read as this stack's before. Raises OwnershipError where it is not the same, or a newer one."""
    given = parse_state(json.loads(read_text(path, MAX_BYTES, _HINT, too_large=_HINT)), subject.cluster)
    code, printed = pulumi.ask(("pulumi", "stack", "export", "--stack", subject.stack))
    try:
        now = parse_state(json.loads(printed), subject.cluster) if code == 0 else None
    except (ValueError, KeyError, TypeError, AttributeError):
        now = None
    if now is None:
        return Today(unknown_since=_written(given.id))
    if is_other_stack(given.id, now.id):
        raise OwnershipError(f"`{path}` is the state of another stack of this name than the one that Pulumi's backend has", _HINT)
    if given.id.digest != now.id.digest and not is_older(now.id, than=given.id):
        written, of_now = (f" of {at}" if at else "" for at in (_written(given.id), _written(now.id)))
        raise OwnershipError(f"`{path}` is an old state{written}: Pulumi's backend has another{of_now and ','}{of_now}", _HINT)
    return Today(now.ids)


def _written(state: StateStamp) -> str:
    return moment(state.saved[0]) if state.saved is not None else ""
