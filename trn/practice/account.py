"""One stack's practice account: opened with its lock, saved after every change, and closed."""

from contextlib import ExitStack
from dataclasses import dataclass, field

from simulator.account import kinds
from simulator.account.disk import AccountFolder, UnwritableAccount, held
from simulator.account.state import AccountState
from simulator.account.world import World
from trn.practice.engine.project import EngineFolder


@dataclass
class PracticeAccount:
    """The account of one stack, held by this process while it is open."""

    folder: EngineFolder
    world: World = field(default_factory=World)
    _kept: AccountFolder = field(init=False)
    _lock: ExitStack = field(default_factory=ExitStack)
    _is_unwritable: bool = False

    def open(self) -> "PracticeAccount":
        """Hold the folder and read it. Raises AccountInUse, DamagedAccount."""
        self._lock.enter_context(held(self.folder.account))
        try:
            if self.folder.has_control_plane:
                from trn.practice.control_plane import half_of

                self.world.cluster = half_of(self.folder)
            self.read()
        except BaseException:
            self._lock.close()
            raise
        return self

    def read(self) -> None:
        """Take what is on disk for all there is, as the next command does: what was not written did not happen. Raises DamagedAccount."""
        state = AccountState()
        self._kept = AccountFolder(self.folder.account)
        self._kept.load_into(state)
        self.world.state = state
        self._settle_kubernetes()
        self._is_unwritable = False

    def save(self) -> None:
        """Write what has changed. Raises UnwritableAccount."""
        try:
            self._kept.save(self.world.state)
            if self.world.cluster is not None:
                self.world.cluster.follow(self.world.state)
        except UnwritableAccount:
            self._is_unwritable = True
            raise

    def close(self) -> None:
        """Let others have it. Opening it again reads what they did.

        A command that could not write has said so: it ends as a killed one does, and nothing is written behind its back.
        """
        try:
            if not self._is_unwritable:
                self.save()
        finally:
            self._lock.close()

    def pass_time(self) -> None:
        """Everything that AWS was asked for ends: what is being created is there, what is being deleted is gone."""
        self.world.pass_time()
        self.save()

    def _settle_kubernetes(self) -> None:
        """Behind the API server nothing waits for a look: it ended when its caller did."""
        for item in list(self.world.state):
            if kinds.is_kubernetes(item.registration.type) and item.status == "creating":
                self.world.orphan(item.registration)
