"""Pulumi on the stage: the rehearsal's engine behind the CLI's commands, as in practice, with account and state in memory."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, cast

from simulator.account.world import World
from simulator.engine.run import Engine, Kill, Phase
from simulator.engine.state import State
from simulator.outputs import CREATED_AT
from simulator.recording import exists_in_cloud
from trn.engine.stack_file import StackFile
from trn.practice.engine.project import EngineFolder, practice_folder
from trn.practice.pulumi import RehearsalEngine
from trn.practice.state import refreshed

Cut = Literal["", "killed", "cancelled"]
"""How a run ends in its midst: killed, what is under way goes on in the account and the state knows no end of it; else it is saved."""
LOCKED = (
    "error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete the lock file with"
    " `pulumi cancel`.\n"
)
CANCELLED = "error: update cancelled\n"


@dataclass
class _Kept:
    """Account and state, in the places of those on disk."""

    engine: Engine
    folder: EngineFolder
    """In which nothing is."""
    saved_at = CREATED_AT

    @property
    def world(self) -> World:
        """The account."""
        return self.engine.world

    def load(self) -> State:
        """The state."""
        return self.engine.state

    def save(self, state: State | None = None) -> None:
        """It is there already."""

    def pass_time(self) -> None:
        """What AWS was asked for ends."""
        self.engine.world.pass_time()


@dataclass
class _Ending(Engine):
    """An engine whose run is killed."""

    kill: Kill | None = None

    def up(self, *given: Any, **more: Any) -> Phase:
        """Until it is killed."""
        return super().up(*given, **more, kill=self.kill)

    def destroy(self, **more: Any) -> Phase:
        """Until it is killed."""
        return super().destroy(**more, kill=self.kill)


@dataclass(frozen=True)
class StagePulumi(RehearsalEngine):
    """The commands of the CLI that `trn` runs."""

    cut: Cut = ""

    @property
    def state(self) -> Any:
        """In memory, as the account is."""
        return self.account

    def drive(self, act: Callable[[Engine], Phase]) -> Phase:
        """Run the engine to its end; or until half of what it changes is changed, and the next is under way."""
        engine: Engine = cast("Any", self.account).engine
        whole = act(engine.copy()) if self.cut else None
        steps = [whole.steps[key] for key in whole.order if _changes(whole, key)] if whole else []
        if not steps:
            return act(engine)
        step = steps[len(steps) // 2]
        kill = Kill(step.urn, step.operation, 0.5 if self.cut == "killed" else 1.0)
        phase = act(_Ending(engine.world, engine.state, engine.seed, kill=kill))
        if self.cut == "cancelled":
            # The CLI lets what is under way end, and saves it.
            refreshed(engine.state, engine.world, drop=False)
        return phase

    def forget_all(self) -> None:
        """An empty stack stays one."""


def _changes(phase: Phase, key: str) -> bool:
    change = phase.changes.get(key)
    return change is None or (change.kind != "same" and exists_in_cloud(change.registration))


def stage_pulumi(engine: Engine, stack_file: StackFile, cut: Cut = "") -> StagePulumi:
    """As one run of the CLI has it: the stack file as it is at that moment."""
    return StagePulumi(cast("Any", _Kept(engine, practice_folder(stack_file.stack))), stack_file, cut)
