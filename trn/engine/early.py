"""Refuses names that do not exist before anything large is loaded: nodes groups, faults, scenarios, files, a second stack; and numbers without end.

What a command would refuse itself a second later, in the same words.
"""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from trn.cli.errors import MISUSE, CommandError
from trn.engine.stack_names import stack_path
from trn.table import CommandEntry


def refuse_early(entry: CommandEntry, given: Mapping[str, Any]) -> None:
    """Raises what the first of the arguments and options that names nothing deserves. `given`: all of them by name."""
    for name, value in given.items():
        if isinstance(value, float) and not isfinite(value):
            option = f"--{name.replace('_', '-')}"
            raise CommandError(f"`{option}` is `{value}`\n  allowed: a number that has an end", f"write such as {option} 8", code=MISUSE)
    for name, check in _CHECKS.items():
        if given.get(name) and not entry.skips(name, given):
            check(given[name], given, entry)


def group_names(stack: str) -> list[str]:
    """Neuron node groups that a stack file names, from its text alone; none where it cannot be read or leaves them to the program."""
    from stacks.namespace import NAMESPACE
    from trn.engine.stack_file import read_stack_file

    groups = read_stack_file(stack).pairs.get(f"{NAMESPACE}:nodeGroups")
    return sorted(map(str, groups)) if isinstance(groups, dict) else []


def _stack(name: str, _given: Mapping[str, Any], _entry: CommandEntry) -> None:
    stack_path(name)


def _group(name: str, given: Mapping[str, Any], _entry: CommandEntry) -> None:
    known = group_names(given["stack"])
    if known and name not in known:
        raise no_group(given["stack"], name, known)


def no_group(stack: str, name: str, known: Sequence[str]) -> CommandError:
    """The error for a node group that the stack does not have."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    hint = f"its groups: {', '.join(sorted(known)) or 'none'}"
    wrong = f"stack {stack} has no Neuron group `{name}`"
    return CommandError(wrong, f"did you mean `{near[0]}`? {hint}" if near else hint, code=MISUSE)


def _faults(texts: Sequence[str], _given: Mapping[str, Any], _entry: CommandEntry) -> None:
    from simulator.account.faults import Faults
    from simulator.faults_syntax import parse_fault

    Faults.of([parse_fault(text) for text in texts])


def _scenario(name: str, _given: Mapping[str, Any], _entry: CommandEntry) -> None:
    from simulator.scenario_files import path_of

    path_of(name)


def _file(path: Path | str, _given: Mapping[str, Any], entry: CommandEntry) -> None:
    # typer before 0.29 has text here.
    if str(path) != "-" and not Path(path).exists():
        raise CommandError(f"cannot read {path}: No such file or directory", entry.file_hint, code=MISUSE)


_CHECKS: Mapping[str, Callable[[Any, Mapping[str, Any], CommandEntry], None]] = {
    "compare": _stack,
    "after": _stack,
    "group": _group,
    "fault": _faults,
    "scenario": _scenario,
    "file": _file,
    "log": _file,
}
"""By the name of the argument or option."""
