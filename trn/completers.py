"""Names that the shell completes. Each loads as little as it can: it runs at every press of the key, and an error is no answer."""

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer

from trn.cli.completion import Completer
from trn.cli.errors import CommandError
from trn.engine.stack_names import stacks_here

PATIENCE_S = 3
"""Longest wait for a cluster to name its jobs: whoever pressed the key is waiting."""


def stacks(_context: typer.Context, incomplete: str) -> list[str]:
    """Stacks with a file in the nearest project."""
    return [name for name in stacks_here() if name.startswith(incomplete)]


def groups(context: typer.Context, incomplete: str) -> list[str]:
    """Neuron node groups of the stack on the line, from its file."""
    from trn.engine.early import group_names

    try:
        return [name for name in group_names(_stack(context)) if name.startswith(incomplete)]
    except CommandError:
        # What is wrong with the file, the command says.
        return []


def faults(context: typer.Context, incomplete: str) -> list[str]:
    """Faults, and behind `@` the node groups of the stack on the line."""
    from simulator.account.faults import FAULTS

    name, mark, place = incomplete.partition("@")
    if mark:
        return [f"{name}@{group}" for group in groups(context, place)]
    return [f"{known}@" if kind.needs_resource else known for known, kind in FAULTS.items() if known.startswith(incomplete)]


def scenarios(_context: typer.Context, incomplete: str) -> list[str]:
    """Scenarios that come with the project."""
    from simulator.scenario_files import names

    return [name for name in names() if name.startswith(incomplete)]


def jobs(context: typer.Context, incomplete: str) -> list[str]:
    """Jobs in the stack's cluster, or in its practice account; none where it gives no answer in time."""
    try:
        with _patience():
            return sorted({name for name in _jobs(context) if name.startswith(incomplete)})
    except Exception:
        # No credentials, no cluster, a mistake in the file: the command says. Here it would be printed into the line that is typed.
        return []


def _jobs(context: typer.Context) -> list[str]:
    from contextlib import nullcontext

    from trn.change.clients import using
    from trn.change.occupants import view_of
    from trn.practice.access import Practice

    root = context.find_root()
    stack, is_practice = _stack(context), bool(root.params.get("practice"))
    practice = Practice() if is_practice else None
    try:
        with using(practice) if practice is not None else nullcontext():
            view, _ = view_of(stack, context.params.get("namespace"))
            return [job.name for job in view.jobs]
    finally:
        if practice is not None:
            practice.close()


def _stack(context: typer.Context) -> str:
    """The one on the line, or the one that is meant without."""
    from trn.cli.placement import Line, left_out

    return str(context.params.get("stack") or left_out(Line("trn"), stacks_here()))


@contextmanager
def _patience() -> Iterator[None]:
    """Raises TimeoutError in the block when it takes longer."""

    def ring(_number: int, _frame: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


COMPLETERS: Mapping[str, Completer] = {"stacks": stacks, "groups": groups, "faults": faults, "scenarios": scenarios, "jobs": jobs}
"""All of them."""
