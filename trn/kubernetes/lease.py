"""The lock that one person holds on a name in a namespace while a command changes the job of it: a Lease of Kubernetes.

The API server makes it or answers 409, and deletes it only as the one it was, by uid and resourceVersion (Kubernetes, DeleteOptions). So
two people may submit two jobs at once, and need no right to the lock of the cluster.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from facts.kubernetes_kinds import Resource
from trn.aws.lock import Holder
from trn.cli.errors import CommandError, OwnershipError
from trn.kubernetes.client import AlreadyThere, Conflict, Forbidden, Kubernetes, Object

LEASES = Resource("Lease", "/apis/coordination.k8s.io/v1", "leases")
_WHO, _WHERE, _COMMAND = "trn/lock-who", "trn/lock-where", "trn/lock-command"


@dataclass
class LeaseLock:
    """The lock of a name, for one run."""

    kubernetes: Kubernetes
    namespace: str
    of: str
    """What is locked: the name of a job."""
    holder: Holder
    _own: Object = field(default_factory=dict)
    """As the server keeps it; empty while this run does not hold it."""
    _is_in_doubt: bool = False
    """It was asked for, and there is no answer."""

    @property
    def name(self) -> str:
        """As the cluster has it."""
        return f"trn-{self.of}"

    def _shown(self) -> Object | None:
        return self.kubernetes.read(f"{LEASES.path}/namespaces/{self.namespace}/{LEASES.plural}/{self.name}")

    def refuse_lost(self) -> None:
        """Raises OwnershipError where another run holds the lock by now, or no run does."""
        there = self._shown()
        if not self._is_own(there):
            who = f"{_holder(there)} holds it" if there else "no run holds it"
            wrong = f"this run has lost its lock {self.namespace}/{self.name}: {who}"
            raise OwnershipError(wrong, "nothing more was changed; see who broke it, then run it again")

    def take(self, tell: Callable[[str], None], *, break_lock: bool) -> None:
        """Raises OwnershipError where another run holds it. `break_lock`: delete the lock that is shown, and no other, and take it then."""
        if not self._made():
            other = self._shown()
            if not (break_lock and other):
                hint = "wait for it; if that run is dead, add --break-lock, which takes the lock from it"
                who = _holder(other) if other else "a run that has just begun or ended"
                raise OwnershipError(f"the job {self.of} is locked by {who}", hint)
            tell(f"taking the lock {self.namespace}/{self.name} from {_holder(other)}")
            with suppress(Conflict):
                self._delete(other)
            if not self._made():
                raise OwnershipError(f"another run took the lock {self.namespace}/{self.name} first", "wait for it")
        tell(f"lock {self.namespace}/{self.name} taken by {self.holder.who}")

    def _made(self) -> bool:
        """Whether this run has the lock now. What it was told with an answer that was lost, the lock's token says."""
        marks = {_WHO: self.holder.who, _WHERE: self.holder.where, _COMMAND: self.holder.command}
        metadata = {"name": self.name, "namespace": self.namespace, "annotations": marks}
        spec = {"holderIdentity": self.holder.token, "acquireTime": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"}
        body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}
        self._is_in_doubt = True
        try:
            self._own = self.kubernetes.make(LEASES, self.namespace, body)
        except (AlreadyThere, Forbidden) as error:
            self._is_in_doubt = False
            if isinstance(error, Forbidden):
                raise
        except CommandError as error:
            try:
                there = self._shown()
            except CommandError:
                raise error from None
            if there is None or not self._is_own(there):
                self._is_in_doubt = False
                raise
            self._own = there
        self._is_in_doubt = False
        return bool(self._own)

    def _is_own(self, there: Object | None) -> bool:
        return bool(there) and _token(there) == self.holder.token

    def release(self) -> None:
        """Give it up, if this run has it. No other run's lock has its uid."""
        which = self._own or (self._shown() if self._is_in_doubt else None)
        if which and self._is_own(which):
            try:
                self._delete(which)
            except Conflict:
                # It is another run's, or this run's and was written to.
                now = self._shown()
                if now and self._is_own(now):
                    self._delete(now)
        self._own, self._is_in_doubt = {}, False

    def _delete(self, which: Object) -> None:
        metadata = which["metadata"]
        self.kubernetes.delete(LEASES, self.name, self.namespace, uid=metadata["uid"], version=metadata["resourceVersion"])


def _token(lease: Object) -> str:
    return str((lease.get("spec") or {}).get("holderIdentity") or "")


def _holder(lease: Object) -> Holder:
    """Who holds a lock; one that no command made is an unknown caller's."""
    marks, spec = lease["metadata"].get("annotations") or {}, lease.get("spec") or {}
    since = lease["metadata"].get("creationTimestamp") or spec.get("acquireTime") or "an unknown time"
    return Holder(
        marks.get(_WHO, "an unknown caller"), marks.get(_WHERE, "an unknown host"), marks.get(_COMMAND, "?"), since, _token(lease)
    )
