"""The lock of a change, and the check that is made under it before each round and each run of Pulumi."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fcntl import LOCK_EX, LOCK_NB, flock
from os import fstat
from os.path import samestat
from pathlib import Path
from typing import Any, BinaryIO

from trn.aws.lock import NO_ANSWER, Lock, this_run
from trn.change.action import Action, Change, Ended, Hold, Outcome, PulumiRun
from trn.change.identity import StateId, state_id
from trn.change.report import Report, understood
from trn.change.whose import Site, Whose
from trn.cli.errors import CommandError, OwnershipError
from trn.cli.interruption import signals_kept
from trn.kubernetes.lease import LeaseLock

GROWN = "more is in Pulumi's state than was confirmed"


@dataclass(frozen=True)
class Guard:
    """Shows that all is as it was when the change was confirmed."""

    site: Site
    whose: Whose
    lock: Hold
    after: dict[Any, StateId] = field(default_factory=dict[Any, StateId])
    """What each state that was confirmed has become by runs of Pulumi of our own."""

    def check(self) -> None:
        """Before each round. Raises OwnershipError where the lock is not this run's, or account or cluster are others."""
        self.lock.refuse_lost()
        self.whose.refuse_change(self.site)

    def check_run(self, action: Action, *, each: bool = False) -> Outcome | None:
        """Before each action: for a run of Pulumi, or with `each`, the same; and the state. Where that is not the one that was confirmed the
        next look tells what is new to whoever is asked; a run that wants the very state that it was shown ends: raises Ended."""
        if each or isinstance(action, PulumiRun):
            self.check()
        if not isinstance(action, PulumiRun):
            return None
        now = state_id(self.site.pulumi, self.site.subject.stack)
        if action.allows(now) or now == self.after.get(action.object):
            return None
        if action.expects == "same":
            wrong = f"the state of stack `{self.site.subject.stack}` has changed since it was confirmed"
            raise Ended("stopped", wrong, "nothing more was changed; another run of Pulumi may be at it: look, and run it again")
        return Outcome("moved", (GROWN,))

    def note_run(self, action: Action, later: Iterable[Action]) -> None:
        """After a run of Pulumi that others follow: what it made of the state is what they are to find."""
        if isinstance(action, PulumiRun) and any(isinstance(each, PulumiRun) and each.object == action.object for each in later):
            self.after[action.object] = state_id(self.site.pulumi, self.site.subject.stack)


def cluster_lock(name: str, site: Site, whose: Whose) -> Lock:
    """The cluster's, for a change of this name: what most of them hold."""
    return Lock(site.api, whose.cluster, this_run(whose.ownership.caller, name), pause=site.pause)


def job_lock(name: str, job: str, namespace: str, site: Site, whose: Whose) -> LeaseLock:
    """That of a job's name, for a change of this name: others may change other jobs meanwhile."""
    return LeaseLock(site.kubernetes(), namespace, job, this_run(whose.ownership.caller, name))


def part_lock(name: str, site: Site, whose: Whose, kind: str, part: str) -> Lock:
    """Of one thing in the account, for a change that leaves the rest of the cluster to others."""
    return Lock(site.api, whose.cluster, this_run(whose.ownership.caller, name), part=(kind, part), pause=site.pause)


@dataclass
class FilesLock:
    """The lock of a project's files on this machine, for a change that writes only these: the kernel's own lock on one of them, which
    ends with the process, so that none is left to be broken."""

    path: Path
    """A file that every project has."""
    _file: BinaryIO | None = None

    @property
    def name(self) -> str:
        """The file."""
        return str(self.path)

    def take(self, tell: Callable[[str], None], *, break_lock: bool) -> None:
        """Raises OwnershipError where another run holds it, CommandError where the file cannot be locked."""
        try:
            # A file that is open for reading only cannot be locked over NFS (flock(2)).
            file = self.path.open("rb+")
            try:
                flock(file, LOCK_EX | LOCK_NB)
            except BaseException:
                file.close()
                raise
        except BlockingIOError as error:
            hint = "end it: the kernel's lock ends with its process, and with nothing else" if break_lock else "wait for it"
            raise OwnershipError(f"another run writes files of this project: it has locked {self.path}", hint) from error
        except OSError as error:
            raise CommandError(f"cannot lock {self.path}: {error.strerror}", "check that it is a file that you may write") from error
        self._file = file
        tell(f"lock on {self.path} taken")

    def refuse_lost(self) -> None:
        """Raises OwnershipError where the file is another one by now: a second run would lock that one."""
        try:
            is_there = self._file is not None and samestat(fstat(self._file.fileno()), self.path.stat())
        except OSError:
            is_there = False
        if not is_there:
            raise OwnershipError(
                f"this run has lost its lock: {self.path} has been replaced",
                "nothing more was changed; look at the project, then run it again",
            )

    def release(self) -> None:
        """Close it."""
        if self._file is not None:
            self._file.close()
        self._file = None


@contextmanager
def held(change: Change[Any], site: Site, whose: Whose, report: Report) -> Iterator[Guard]:
    """Hold the change's lock within the block. It is given back last; where that fails, the report says so and loses nothing else."""
    lock = change.hold(site, whose)
    try:
        lock.take(site.tell, break_lock=site.break_lock)
        report.has_lock = True
        yield Guard(site, whose, lock)
    finally:
        with signals_kept():
            try:
                lock.release()
            except (*NO_ANSWER, CommandError) as error:
                report.lock = f"the lock {lock.name} stays: {understood(error)}"
                site.tell(f"{report.lock}; the next run needs --break-lock")
