"""Pulumi in practice: the real CLI with the simulated providers, or the rehearsal's engine behind the CLI's commands."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from operations.cluster.destroy.recovery import UNREACHABLE_SWITCH
from operations.engine.process import Providers
from operations.engine.project import EngineFolder, environment
from operations.practice.account import PracticeAccount
from operations.program import record_stack
from operations.pulumi import PulumiCli
from operations.stack_file import StackFile
from simulator.engine.clock import Step
from simulator.engine.disk import StateFolder
from simulator.engine.plan import plan
from simulator.engine.recovery import drop_unreachable, find, refresh
from simulator.engine.run import Engine, Phase
from simulator.engine.state import State
from simulator.recording import Recording, Registration


@dataclass(frozen=True)
class PracticeCli:
    """The real CLI, in the folder's own project and backend. While it runs the account is its providers'."""

    account: PracticeAccount
    stack_file: StackFile

    def run(self, command: tuple[str, ...], more: Mapping[str, str], /) -> tuple[int, str]:
        """Run a command with more environment, passing on what it prints."""
        with self._cli() as cli:
            return cli.run(command, more)

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
                yield PulumiCli(environment(folder, self.stack_file.stack, attach), folder.project)
            finally:
                providers.stop()
        finally:
            self.account.open()


@dataclass(frozen=True)
class NoStack:
    """A backend without the stack, in the CLI's own words."""

    stack: str

    def run(self, _command: tuple[str, ...], _more: Mapping[str, str], /) -> tuple[int, str]:
        """No command finds it."""
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
        """Do what `pulumi destroy`, `refresh` or `import --file` does."""
        act: Callable[[], tuple[int, str]] = {
            "destroy": self._destroy,
            # With a target it only takes the lock, and the account's own is held by this process.
            "refresh": lambda: (0, "") if "--target" in command else self._refresh(drop=UNREACHABLE_SWITCH in more),
            "import": lambda: self._import(Path(command[command.index("--file") + 1])),
        }[command[1]]
        code, printed = act()
        sys.stderr.write(printed)
        sys.stderr.flush()
        return code, printed

    def ask(self, command: tuple[str, ...]) -> tuple[int, str]:
        """Answer `pulumi stack export` or `pulumi preview --json`."""
        return 0, json.dumps(exported(self.state.load()) if command[1] == "stack" else self._preview())

    @property
    def state(self) -> StateFolder:
        """Where the state is."""
        return StateFolder(self.account.folder.rehearsal)

    def drive(self, act: Callable[[Engine], Phase]) -> Phase:
        """Run the engine on the state on disk, with a checkpoint at each step: whatever ends the run, the folder tells the truth."""
        folder = self.state
        state = folder.load()

        def checkpoint(under_way: Any) -> None:
            self.account.save()
            folder.save(state, under_way)

        phase = act(Engine(self.account.world, state, checkpoint=checkpoint))
        checkpoint(())
        return phase

    def forget_all(self) -> None:
        """After a destroy that ended well there is no stack any more."""
        shutil.rmtree(self.account.folder.rehearsal, ignore_errors=True)

    def _destroy(self) -> tuple[int, str]:
        phase = self.drive(lambda engine: engine.destroy())
        errors = [error_text(step) for step in phase.errors]
        if not errors:
            self.forget_all()
        gone = sum(1 for step in phase.steps.values() if step.operation == "delete" and step.refusal is None)
        return (1 if errors else 0), "".join([*errors, f"{gone} resources deleted\n"])

    def _refresh(self, *, drop: bool) -> tuple[int, str]:
        folder = self.state
        state = folder.load()
        before = len(state.held)
        state.pending.clear()
        self.account.pass_time()
        if drop:
            drop_unreachable(state, self.account.world)
        refresh(state, self.account.world)
        folder.save(state)
        return 0, f"{before - len(state.held)} resources that are gone were dropped from the state\n"

    def _import(self, file: Path) -> tuple[int, str]:
        folder, world = self.state, self.account.world
        state = folder.load()
        wanted = json.loads(file.read_text())["resources"]
        begun = {(item.registration.type, item.registration.name): item.registration for item in state.pending}
        programs = {(item.type, item.name): item for item in record_stack(self.stack_file)}
        for entry in wanted:
            key = (entry["type"], entry["name"])
            asked = begun.get(key) or programs[key]
            found = world.state.find(entry["type"], entry["id"]) or find(asked, world)
            if found is None:
                return 1, f"error: {entry['type']} {entry['id']} does not exist\n"
            # What it came from may have been destroyed meanwhile.
            kept = {name: frozenset(getattr(asked, name) & state.held.keys()) for name in ("dependencies", "providers")}
            state.save(replace(asked, id=found.registration.id, outputs=found.registration.outputs, **kept), _unready(found.status))
            state.pending[:] = [item for item in state.pending if (item.registration.type, item.registration.name) != key]
        folder.save(state)
        return 0, f"{len(wanted)} resources imported\n"

    def _preview(self) -> dict[str, Any]:
        state, recording = self.state.load(), record_stack(self.stack_file)
        changes = plan(state, recording, creations=self.account.world.state.creations, seed=0)
        made = [change.new for change in changes.values() if change.kind == "create" and change.new is not None]
        return {"steps": [{"op": "create", "urn": item.urn, "newState": _resource(item, recording)} for item in made]}


def _unready(status: str) -> str | None:
    return None if status == "ready" else "it did not become ready"


def error_text(step: Step) -> str:
    """An error as the engine prints it: the service's own words, then why, and what to do."""
    assert step.refusal is not None
    return f"error: {step.urn.rsplit('::', 1)[-1]}: {step.refusal}\n  cause: {step.refusal.cause}\n  to do: {step.refusal.fix}\n"


def exported(state: State) -> dict[str, Any]:
    """The state in the form of `pulumi stack export` (pulumi/pulumi sdk/go/common/apitype, DeploymentV3)."""
    recording = state.recording()
    held = [_resource(item, recording) for item in recording.registrations.values()]
    pending = [{"resource": _resource(item.registration, recording), "type": item.doing} for item in state.pending]
    return {"version": 3, "deployment": {"resources": held, "pending_operations": pending}}


def _resource(item: Registration, recording: Recording) -> dict[str, Any]:
    made: dict[str, Any] = {"urn": item.urn, "type": item.type, "custom": item.custom, "inputs": dict(item.inputs), "parent": item.parent}
    package = item.type.split(":")[0]
    used = [urn for urn in sorted(item.providers) if f":providers:{package}::" in urn]
    if item.custom and used:
        provider = recording.registrations.get(used[0])
        made["provider"] = f"{used[0]}::{provider.id if provider else ''}"
    return {**made, "id": item.id, "outputs": dict(item.outputs)} if item.id else made
