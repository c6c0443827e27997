"""What a recovery asks of Pulumi: the state, what the next `up` would make, and the import."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from operations.cluster.destroy.recovery import refuse_misuse
from operations.cluster.recover.plan import Plan, import_file
from operations.cluster.recover.state import State, read_preview, read_state
from operations.errors import CommandError

Asked = Callable[[tuple[str, ...]], tuple[int, str]]
"""Runs a command; returns its exit code and what it printed on standard output."""


def import_and_refresh(plan: Plan, stack: str, runner: Callable[[tuple[str, ...], dict[str, str]], tuple[int, str]]) -> bool:
    """Import while the operations still tell what to import, then clear them and read everything again. Raises CommandError."""
    with tempfile.TemporaryDirectory(prefix="trn-") as folder:
        file = Path(folder) / "import.json"
        file.write_text(json.dumps(import_file(plan.imports)))
        for command in commands(stack, file if plan.imports else None):
            code, printed = runner(command, {})
            if code:
                refuse_misuse(stack, printed)
                return False
    return True


def commands(stack: str, file: Path | None) -> list[tuple[str, ...]]:
    """Pulumi's commands, in this order (CLI 3.260: `refresh --import-pending-creates` imports nothing)."""
    refresh = ("pulumi", "refresh", "--yes", "--clear-pending-creates", "--stack", stack)
    if file is None:
        return [refresh]
    options = ("--yes", "--skip-preview", "--generate-code=false", "--protect=false")
    return [("pulumi", "import", "--file", str(file), *options, "--stack", stack), refresh]


def exported(stack: str, ask: Asked) -> State:
    """The state as Pulumi keeps it; secrets stay encrypted. Raises CommandError."""
    return read_state(_answer(("pulumi", "stack", "export", "--stack", stack), stack, ask))


def with_orphans(state: State, stack: str, ask: Asked) -> State:
    """The state with everything that the next run would make, as if its creation had begun. Raises CommandError.

    Resources whose identity depends on values that are known only after `up` are left out: a second run looks for them after the import.
    """
    return State(read_preview(_answer(("pulumi", "preview", "--json", "--stack", stack), stack, ask)), state.ids)


def _answer(command: tuple[str, ...], stack: str, ask: Asked) -> str:
    code, printed = ask(command)
    if code:
        refuse_misuse(stack, printed)
        raise CommandError(f"`{' '.join(command)}` failed", "what it printed says why")
    return printed
