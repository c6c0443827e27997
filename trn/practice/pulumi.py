"""Pulumi in practice: the real CLI with the simulated providers, or the rehearsal's engine behind the CLI's commands."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from simulator.engine.clock import Step
from simulator.engine.disk import StateFolder
from simulator.engine.run import Engine, Phase, is_of_earlier_run
from simulator.engine.state import OLD
from simulator.recording import exists_in_cloud
from trn.cli.output import errors
from trn.engine.program import record_stack
from trn.engine.pulumi import PulumiCli
from trn.engine.recovery import UNREACHABLE_SWITCH
from trn.engine.stack_file import StackFile
from trn.practice.account import PracticeAccount
from trn.practice.engine.locks import remove_dead_locks
from trn.practice.engine.process import Providers
from trn.practice.engine.project import EngineFolder, environment
from trn.practice.state import exported, imported, previewed, refreshed, refused_preview, take_over


def remove_command(stack: str) -> tuple[str, ...]:
    """Forgets a stack that holds nothing any more: the next `up` may then take another engine."""
    return ("pulumi", "stack", "rm", "--yes", "--non-interactive", "--stack", stack)


def end_control_plane(folder: EngineFolder) -> None:
    """End the real control plane of a stack that is down, where it has one, and say so."""
    if folder.kubernetes.exists():
        from trn.practice.control_plane import stop

        stop(folder)


def clear_locks(folder: EngineFolder, stack_file: StackFile) -> None:
    """Remove the locks that killed runs left, and say so. The caller holds the account: no other run of practice is alive."""
    for process in remove_dead_locks(folder, stack_file):
        errors().print(f"note     removed the lock of a run that was killed (process {process})", markup=False)


@dataclass(frozen=True)
class PracticeCli:
    """The real CLI, in the folder's own project and backend. While it runs the account is its providers'."""

    account: PracticeAccount
    stack_file: StackFile

    def run(self, command: tuple[str, ...], more: Mapping[str, str], /) -> tuple[int, str]:
        """Run a command with more environment, passing on what it prints. A stack that was destroyed is forgotten too."""
        with self._cli() as cli:
            code, printed = cli.run(command, more)
            if command[1] == "destroy" and code == 0:
                cli.ask(remove_command(self.stack_file.stack))
                end_control_plane(self.account.folder)
            return code, printed

    def ask(self, command: tuple[str, ...]) -> tuple[int, str]:
        """Run a command for its answer."""
        with self._cli() as cli:
            return cli.ask(command)

    @contextmanager
    def _cli(self) -> Iterator[PulumiCli]:
        folder: EngineFolder = self.account.folder
        self.account.close()
        try:
            providers = Providers(folder, time_scale=0, faults=())
            try:
                attach = providers.attach()
                folder.prepare(self.stack_file)
                clear_locks(folder, self.stack_file)
                yield PulumiCli(environment(folder, self.stack_file.stack, attach), folder.project)
            finally:
                providers.stop()
        finally:
            self.account.open()


@dataclass
class NoStack:
    """A backend without the stack, in the CLI's own words."""

    stack: str
    _is_said: bool = False
    """A sweep asks again before each change."""

    def run(self, _command: tuple[str, ...], _more: Mapping[str, str], /) -> tuple[int, str]:
        """No command finds it."""
        if not self._is_said:
            self._is_said = True
            sys.stderr.write(f"nothing of stack `{self.stack}` is up in practice; `trn practice up {self.stack}` brings it up\n")
        return 255, f"error: no stack named '{self.stack}' found\n"

    def ask(self, command: tuple[str, ...]) -> tuple[int, str]:
        """No command finds it."""
        return self.run(command, {})


@dataclass(frozen=True)
class RehearsalEngine:
    """The rehearsal's engine over an account and a state on disk; answers the few commands of the CLI that `trn` runs."""

    account: PracticeAccount
    stack_file: StackFile

    def run(self, command: tuple[str, ...], more: Mapping[str, str], /) -> tuple[int, str]:
        """Do what `pulumi up`, `destroy`, `refresh` or `import --file` does."""
        act: Callable[[], tuple[int, str]] = {
            "up": lambda: self._up(frozenset(target for option, target in pairwise(command) if option == "--target")),
            "destroy": self._destroy,
            # With a target it only takes the lock, and the account's own is held by this process.
            "refresh": lambda: (0, "") if "--target" in command else self._refresh(drop=UNREACHABLE_SWITCH in more),
            "import": lambda: self._import(Path(command[command.index("--file") + 1])),
            "stack": lambda: self._take_over(Path(command[command.index("--file") + 1])),
        }[command[1]]
        code, printed = act()
        errors().print(printed, end="", markup=False)
        return code, printed

    def ask(self, command: tuple[str, ...]) -> tuple[int, str]:
        """Answer `pulumi stack export` or `pulumi preview --json`. A preview fails where the program's hook refuses the change."""
        if command[1] == "stack":
            return 0, json.dumps(exported(self.state.load(), self.state.saved_at))
        state, program = self.state.load(), record_stack(self.stack_file)
        errors_said = refused_preview(state, program)
        if errors_said:
            return 255, json.dumps({"diagnostics": errors_said})
        return 0, json.dumps(previewed(state, self.account.world, program))

    @property
    def state(self) -> StateFolder:
        """Where the state is."""
        return StateFolder(self.account.folder.rehearsal)

    def drive(self, act: Callable[[Engine], Phase]) -> Phase:
        """Run the engine on the state on disk, with a checkpoint at each step: whatever ends the run, the folder tells the truth."""
        folder = self.state
        state = folder.load()

        def checkpoint(under_way: Any) -> None:
            folder.begin(state, under_way)
            self.account.save()
            folder.save(state, under_way)

        phase = act(Engine(self.account.world, state, checkpoint=checkpoint))
        checkpoint(())
        return phase

    def forget_all(self) -> None:
        """After a destroy that ended well there is no stack any more."""
        shutil.rmtree(self.account.folder.rehearsal, ignore_errors=True)

    def _up(self, targets: frozenset[str]) -> tuple[int, str]:
        graph = record_stack(self.stack_file)
        self.account.pass_time()
        phase = self.drive(lambda engine: engine.up(graph, targets=targets))
        refused = [error_text(step) for step in phase.errors]
        return (1 if refused else 0), "".join([*refused, f"{changed_count(phase)} resources changed\n"])

    def _destroy(self) -> tuple[int, str]:
        phase = self.drive(lambda engine: engine.destroy())
        refused = [error_text(step) for step in phase.errors]
        if not refused:
            self.forget_all()
            end_control_plane(self.account.folder)
        return (1 if refused else 0), "".join([*refused, f"{changed_count(phase)} resources deleted\n"])

    def _refresh(self, *, drop: bool) -> tuple[int, str]:
        folder = self.state
        state = folder.load()
        gone = refreshed(state, self.account.world, drop=drop)
        self.account.save()
        folder.save(state)
        return 0, f"{gone} resources that are gone were dropped from the state\n"

    def _take_over(self, file: Path) -> tuple[int, str]:
        """`pulumi stack import` of a state in which what was under way has taken the places of what it was to replace."""
        folder = self.state
        state = folder.load()
        taken = take_over(json.loads(file.read_text())["deployment"], state, self.account.world)
        folder.save(state)
        return 0, f"{taken} resources took their places in the state\n"

    def _import(self, file: Path) -> tuple[int, str]:
        folder = self.state
        state = folder.load()
        wanted = json.loads(file.read_text())["resources"]
        missing = imported(wanted, state, self.account.world, record_stack(self.stack_file))
        if missing:
            return 1, f"error: {missing} does not exist\n"
        folder.save(state)
        return 0, f"{len(wanted)} resources imported\n"


def changed_count(phase: Phase) -> int:
    """Resources that were created, changed or deleted: what has an object in the account, so no components and no providers."""
    return sum(1 for key, step in phase.steps.items() if step.refusal is None and not step.cut and _counts(phase, key))


def _counts(phase: Phase, key: str) -> bool:
    if OLD in key:
        # A resource that this run replaces counts once.
        return is_of_earlier_run(key)
    change = phase.changes[key]
    return change.kind != "same" and exists_in_cloud(change.registration)


def error_text(step: Step) -> str:
    """An error as the engine prints it: the service's own words, then why, and what to do."""
    assert step.refusal is not None
    return f"error: {step.urn.rsplit('::', 1)[-1]}: {step.refusal}\n  cause: {step.refusal.cause}\n  to do: {step.refusal.fix}\n"
