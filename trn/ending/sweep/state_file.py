"""A state in a file, beside the one that the backend has today: the file may be an old one, and know nothing of what was made since."""

import json
from dataclasses import dataclass
from pathlib import Path

from trn.aws.cluster_identity import moment
from trn.change.ownership import StackCluster
from trn.cli.errors import OwnershipError
from trn.cli.text_files import read_text
from trn.engine.pulumi import Pulumi
from trn.engine.stack_export import StateId, is_older, is_other_stack
from trn.engine.stack_state import MAX_BYTES, parse_state

_HINT = "leave --state out: today's state is read from the backend, which answers"


@dataclass(frozen=True)
class Today:
    """What is known of a stack today, where it was read from a file."""

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


def _written(state: StateId) -> str:
    return moment(state.saved[0]) if state.saved is not None else ""
