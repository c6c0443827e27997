"""The lock that one operator holds on a cluster, or a part of it, while a command changes it: taken at once or not at all, and given up by its id."""

import getpass
import json
import socket
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from facts.names import lock_name, lock_parameter, part_lock_name
from facts.typed import typed
from trn.aws import locks
from trn.aws.api import Api
from trn.aws.errors import is_refusal
from trn.cli.errors import OwnershipError

LOOKS, PAUSE_S = 5, 2
"""How often EC2 is asked for a lock that it does not show: a list may lag behind what was made (EC2 API, eventual consistency)."""
NO_ANSWER = (ClientError, BotoCoreError, ResponseParserError, KeyError)
"""What a call raises that AWS refused, or gave no whole answer to."""
_WHERE, _COMMAND, _TOKEN = "trn:lock-where", "trn:lock-command", "trn:lock-token"


@dataclass(frozen=True)
class Holder:
    """Who holds a lock."""

    who: str
    """ARN of the caller."""
    where: str
    """User and host."""
    command: str
    since: str
    token: str = ""
    """Of one run: what tells two runs of one operator apart."""

    def __str__(self) -> str:
        return f"{self.who} on {self.where}, `{typed(f'trn {self.command}')}`, since {self.since}"

    @property
    def tags(self) -> dict[str, str]:
        """What the lock says of its holder, beside what EC2 says: who made it, and when."""
        return {_WHERE: self.where, _COMMAND: self.command, _TOKEN: self.token}


def _holder(kept: locks.Kept) -> Holder:
    """Who holds a lock; one that no command made is nobody's but its maker's."""
    tags, since = kept.tags, f"{kept.created_at:%Y-%m-%dT%H:%M:%SZ}"
    return Holder(kept.created_by, tags.get(_WHERE, "an unknown host"), tags.get(_COMMAND, "?"), since, tags.get(_TOKEN, ""))


def _holder_of_0_1_0(text: str) -> Holder:
    try:
        return Holder(**json.loads(text))
    except (ValueError, TypeError):
        return Holder(text, "an unknown host", "?", "an unknown time")


def this_run(who: str, command: str) -> Holder:
    """The holder that this process is."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Holder(who, f"{getpass.getuser()}@{socket.gethostname()}", command, now, uuid.uuid4().hex)


@dataclass
class Lock:
    """The lock of a cluster, or of one part, for one run."""

    api: Api
    cluster: str
    holder: Holder
    pause: Callable[[float], None] = time.sleep
    id: str = ""
    """Empty while this run does not hold it."""
    is_in_doubt: bool = False
    """It was asked for, and there is no answer."""
    part: tuple[str, str] | None = None
    """Kind and name of what alone is locked, such as image and REPOSITORY:TAG; None: the cluster."""

    @property
    def name(self) -> str:
        """As the account has it."""
        return part_lock_name(*self.part) if self.part else lock_name(self.cluster)

    def refuse_lost(self) -> None:
        """Raises OwnershipError where another run holds the lock by now, or no run does."""
        kept = self._shown()
        if kept is None or kept.id != self.id:
            who = f"{_holder(kept)} holds it" if kept else "no run holds it"
            raise OwnershipError(
                f"this run has lost its lock {self.name}: {who}", "nothing more was changed; see who broke it, then run it again"
            )

    def _shown(self) -> locks.Kept | None:
        """The lock as EC2 shows it; where it shows none, asked for some more."""
        for number in range(LOOKS):
            if number:
                self.pause(PAUSE_S)
            kept = locks.read(self.api, self.name)
            if kept is not None:
                return kept
        return None

    def take(self, tell: Callable[[str], None], *, break_lock: bool) -> None:
        """Raises OwnershipError where another run holds it. `break_lock`: delete the lock that is shown, and no other, and take it then."""
        if not self._made():
            other = self._shown()
            if not (break_lock and other is not None):
                hint = "wait for it; if that run is dead, add --break-lock, which takes the lock from it"
                who = _holder(other) if other else "a run that has just begun or ended"
                what = " ".join(self.part) if self.part else "cluster"
                raise OwnershipError(f"the {what} is locked by {who}", hint)
            tell(f"taking the lock {self.name} from {_holder(other)}")
            locks.delete(self.api, other.id)
            if not self._made():
                raise OwnershipError(f"another run took the lock {self.name} first", "wait for it")
        if not self.part:
            self._refuse_0_1_0()
        tell(f"lock {self.name} taken by {self.holder.who}")

    def _made(self) -> bool:
        """Whether this run has the lock now. What it was told with an answer that was lost, the lock's token says."""
        self.is_in_doubt = True
        try:
            self.id = locks.create(self.api, self.name, self.cluster, self.holder.tags)
        except NO_ANSWER as error:
            if is_refusal(error):
                self.is_in_doubt = False
                raise
            try:
                self.id = self._own(self._shown())
            except NO_ANSWER:
                raise error from None
            self.is_in_doubt = False
            if not self.id:
                raise
        self.is_in_doubt = False
        return bool(self.id)

    def _own(self, kept: locks.Kept | None) -> str:
        """The id of a lock that this run made, empty for another's."""
        return kept.id if kept is not None and _holder(kept).token == self.holder.token else ""

    def _refuse_0_1_0(self) -> None:
        """Raises OwnershipError where a run of release 0.1.0, which sees no lock of later ones, is at the cluster."""
        text = locks.read_parameter(self.api, self.cluster)
        if text is not None:
            name = lock_parameter(self.cluster)
            hint = f"wait for it; if that run is dead: aws ssm delete-parameter --region {self.api.region} --name {name}"
            raise OwnershipError(f"the cluster is locked by trn 0.1.0: {_holder_of_0_1_0(text)}", hint)

    def release(self) -> None:
        """Give it up, if this run has it. No other run's lock has its id."""
        which = self.id or (self._own(self._shown()) if self.is_in_doubt else "")
        if which:
            locks.delete(self.api, which)
        self.id, self.is_in_doubt = "", False
