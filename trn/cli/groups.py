"""Decides what the words behind a group such as `trn rehearse` are: one of its commands, or the stack of the group's own."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from trn.cli.placement import Unplaced


@dataclass(frozen=True)
class Group:
    """A group that is a command itself, and has commands below it."""

    command: str
    """As it is typed: `trn rehearse`."""
    commands: Collection[str]
    """Names of the commands below it."""
    with_stack: Collection[str]
    """Those of them that take a stack."""


@dataclass(frozen=True)
class Chosen:
    """The one reading of the words behind a group."""

    command: str | None
    """A command below the group; None for the group's own."""
    stack: str | None
    rest: tuple[str, ...]
    """What follows, options among it."""


def choose(group: Group, words: Sequence[str], option: str | None, stacks: Sequence[str]) -> Chosen:
    """The one reading of words, of which the first is no option. `option`: the stack that `--stack` named before them.

    Raises Unplaced.
    """
    first, *rest = words
    if first in group.commands:
        if first in stacks and option is None and not any(word in stacks for word in rest):
            readings = f"`{group.command} {first} STACK`", f"`{group.command} --stack {first}`"
            raise Unplaced(f"`{first}` is a command, and a stack here", f"for the command: {readings[0]}; for the stack: {readings[1]}")
        if option is not None and first not in group.with_stack:
            raise Unplaced(f"`{group.command} {first}` is about no stack", f"`{group.command} {first}`")
        return Chosen(first, option, tuple(rest))
    if option is not None:
        raise Unplaced(f"`{first}` is no command of `{group.command}`", _known(group, _near(first, group.commands), rest))
    if rest and rest[0] in group.commands and first in stacks:
        return choose(group, rest, first, stacks)
    near = _near(first, group.commands)
    if near and first not in stacks:
        raise Unplaced(f"`{first}` is no command and no stack here", _known(group, near, rest))
    return Chosen(None, first, tuple(rest))


def unknown_hint(group: str, words: Sequence[str], commands: Sequence[str], below: Mapping[str, str], stacks: Sequence[str]) -> str:
    """What was meant by words of which the first is no command. `below`: commands of the groups here, as they are typed behind `group`."""
    first, *rest = words
    if rest and first in stacks and rest[0] in commands:
        return f"did you mean `{' '.join((group, rest[0], first, *rest[1:]))}`?"
    if first in below:
        return f"did you mean `{' '.join((group, below[first], *rest))}`?"
    if near := get_close_matches(first, commands, n=3):
        lines = (" ".join((group, name, *rest)) for name in near)
        return f"did you mean {' or '.join(f'`{line}`' for line in lines)}?"
    return f"`{group} --help` lists the commands"


def _near(word: str, known: Collection[str]) -> str | None:
    return next(iter(get_close_matches(word, known, n=1)), None)


def _known(group: Group, near: str | None, rest: Sequence[str]) -> str:
    if near is not None:
        return f"did you mean `{' '.join((group.command, near, *rest))}`?"
    return f"its commands: {', '.join(group.commands)}"
