"""What a recovery asks of Pulumi: the state, what the next `up` would make, and the import."""

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from trn.cli.errors import CommandError
from trn.ending.recover.plan import Plan, import_file, taken_over
from trn.engine.interrupted import State, read_preview, read_state
from trn.engine.recovery import refuse_misuse

Asked = Callable[[tuple[str, ...]], tuple[int, str]]
"""Runs a command; returns its exit code and what it printed on standard output."""
Runner = Callable[[tuple[str, ...], dict[str, str]], tuple[int, str]]
IMPORT_OPTIONS = ("--yes", "--skip-preview", "--generate-code=false", "--protect=false")


def import_and_refresh(plan: Plan, stack: str, ask: Asked, runner: Runner) -> bool:
    """Import while the operations still tell what to import, then clear them and read everything again. Raises CommandError.

    Source of the order: CLI 3.260, where `refresh --import-pending-creates` imports nothing, and `stack import` clears all operations.
    """
    new, in_place = ([item for item in plan.imports if item.in_place is there] for there in (False, True))
    with tempfile.TemporaryDirectory(prefix="trn-") as folder:
        file = Path(folder) / "import.json"
        done = True
        if new:
            file.write_text(json.dumps(import_file(new)))
            done = _ran(("pulumi", "import", "--file", str(file), *IMPORT_OPTIONS), stack, runner)
        if done and in_place:
            document = json.loads(_answer(_export(stack), stack, ask))
            file.write_text(json.dumps({**document, "deployment": taken_over(document["deployment"], in_place)}))
            done = _ran(("pulumi", "stack", "import", "--file", str(file)), stack, runner)
    return done and _ran(("pulumi", "refresh", "--yes", "--clear-pending-creates"), stack, runner)


def _ran(command: tuple[str, ...], stack: str, runner: Runner) -> bool:
    code, printed = runner((*command, "--stack", stack), {})
    if code:
        refuse_misuse(stack, printed)
    return not code


def _export(stack: str) -> tuple[str, ...]:
    return "pulumi", "stack", "export", "--stack", stack


def exported(stack: str, ask: Asked) -> State:
    """The state as Pulumi keeps it; secrets stay encrypted. Raises CommandError."""
    return read_state(_answer(_export(stack), stack, ask))


def with_orphans(state: State, stack: str, ask: Asked) -> State:
    """The state with everything that the next run would make, as if its creation had begun. Raises CommandError.

    Resources whose identity depends on values that are known only after `up` are left out: a second run looks for them after the import.
    """
    pending = read_preview(_answer(("pulumi", "preview", "--json", "--stack", stack), stack, ask))
    # Of orphans it is not known when they were made, but for what they need.
    return replace(state, pending=pending, saved="")


def _answer(command: tuple[str, ...], stack: str, ask: Asked) -> str:
    code, printed = ask(command)
    if code:
        refuse_misuse(stack, printed)
        raise CommandError(f"`{' '.join(command)}` failed", "what it printed says why")
    return printed
