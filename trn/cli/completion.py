"""Names that the shell completes, as commands ask for them. What finds them knows stacks, clusters and practice: the app hands it in."""

from collections.abc import Callable, Mapping

import typer

Completer = Callable[[typer.Context, str], list[str]]
COMPLETERS: dict[str, Completer] = {}
"""By what is completed."""


def _names_of(what: str) -> Completer:
    def complete(context: typer.Context, incomplete: str) -> list[str]:
        return COMPLETERS[what](context, incomplete)

    return complete


def use(completers: Mapping[str, Completer]) -> None:
    """From now on."""
    COMPLETERS.update(completers)


stacks, groups, faults, scenarios, jobs = map(_names_of, ("stacks", "groups", "faults", "scenarios", "jobs"))
