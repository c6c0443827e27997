"""The lock that one operator holds on a cluster while a command changes it: a parameter in the account, taken at once or not at all."""

import getpass
import json
import socket
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from facts.names import lock_parameter
from operations.aws import parameters
from operations.aws.api import Api
from operations.errors import OwnershipError
from operations.interruption import interrupted_by_signals


@dataclass(frozen=True)
class Holder:
    """Who holds a lock."""

    who: str
    """ARN of the caller, as STS knows it."""
    where: str
    """User and host."""
    command: str
    since: str
    token: str = ""
    """Of one run: what tells two runs of one operator apart."""

    def __str__(self) -> str:
        return f"{self.who} on {self.where}, `trn {self.command}`, since {self.since}"

    def as_text(self) -> str:
        """As it is kept."""
        return json.dumps(asdict(self))


def read_holder(text: str) -> Holder:
    """Who a kept text names; for a text that no lock of `trn` wrote, the text itself."""
    try:
        return Holder(**json.loads(text))
    except (ValueError, TypeError):
        return Holder(text, "an unknown host", "?", "an unknown time")


def this_run(who: str, command: str) -> Holder:
    """The holder that this process is."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Holder(who, f"{getpass.getuser()}@{socket.gethostname()}", command, now, uuid.uuid4().hex)


@dataclass(frozen=True)
class Lock:
    """A lock that this run holds."""

    api: Api
    name: str
    holder: Holder

    def refuse_lost(self) -> None:
        """Raises OwnershipError where another run holds the lock by now, or no run does."""
        kept = parameters.read(self.api, self.name)
        if kept != self.holder.as_text():
            who = f"{read_holder(kept)} holds it" if kept else "no run holds it"
            raise OwnershipError(
                f"this run has lost its lock {self.name}: {who}", "nothing more was changed; see who broke it, then run it again"
            )

    def release(self) -> None:
        """Give it up, if it is still this run's."""
        if parameters.read(self.api, self.name) == self.holder.as_text():
            parameters.delete(self.api, self.name)


@contextmanager
def locked(
    api: Api, cluster: str, holder: Holder, tell: Callable[[str], None] = lambda line: None, *, break_lock: bool = False
) -> Iterator[Lock]:
    """Hold the cluster's lock within the block; given up at its end, and when the command is ended by a signal.

    Raises OwnershipError where another run holds it. `break_lock`: take it from whoever does.
    """
    lock = Lock(api, lock_parameter(cluster), holder)
    with interrupted_by_signals():
        try:
            _take(lock, tell, break_lock=break_lock)
            yield lock
        finally:
            lock.release()


def _take(lock: Lock, tell: Callable[[str], None], *, break_lock: bool) -> None:
    if not parameters.create(lock.api, lock.name, lock.holder.as_text()):
        kept = parameters.read(lock.api, lock.name)
        other = read_holder(kept) if kept else None
        if not break_lock:
            hint = "wait for it; if that run is dead, add --break-lock, which takes the lock from it"
            raise OwnershipError(f"the cluster is locked by {other or 'a run that has just ended'}", hint)
        tell(f"taking the lock {lock.name} from {other}")
        parameters.delete(lock.api, lock.name)
        if not parameters.create(lock.api, lock.name, lock.holder.as_text()):
            raise OwnershipError(f"another run took the lock {lock.name} first", "wait for it")
    tell(f"lock {lock.name} taken by {lock.holder.who}")
