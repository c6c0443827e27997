"""Reads a whole line: which command it is, which of its words is the stack, and the same line as typer reads it without asking.

`trn logs dev bert -n 5` is read as `trn logs --stack dev -n 5 -- bert`. Nothing is looked up but what the grammar says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from trn.cli.groups import Group, choose, unknown_hint
from trn.cli.placement import Line, StackUse, Unplaced, Words, guessed, place

STACK = "stack"
"""The option that names the stack, as the command's function has it."""


@dataclass(frozen=True)
class Option:
    """An option of a command or a group."""

    dest: str
    """As the command's function has it."""
    names: tuple[str, ...]
    takes_value: bool = False
    alone: str | None = None
    """Value of one that is given without any; None where it needs one."""
    ends: bool = False
    """Whether nothing else on the line counts, as with `--help`."""


@dataclass(frozen=True)
class Grammar:
    """What a command takes, or a group and the commands below it."""

    path: str
    """As it is typed: `trn data stage`."""
    options: Mapping[str, Option] = field(default_factory=dict)
    """By each of their names."""
    line: Line | None = None
    """Stack and arguments; None for a group that does nothing itself."""
    commands: Mapping[str, "Grammar"] = field(default_factory=dict)
    passes_on: bool = False
    """Whether options that it does not know, and all behind the first word, are for another program."""

    @property
    def usage(self) -> tuple[str, ...]:
        """What follows the name in help: `[OPTIONS] [STACK] JOB`."""
        stack = {StackUse.NONE: (), StackUse.NEW: ("STACK",)}.get(self.line.stack, ("[STACK]",)) if self.line else ()
        below = ((*(("|",) if self.line else ()), "COMMAND [ARGS]...")) if self.commands else ()
        names = (
            (f"-- {slot.name}..." if slot.takes_rest else slot.name, slot.is_required) for slot in (self.line.slots if self.line else ())
        )
        return ("[OPTIONS]", *stack, *(name if is_required else f"[{name}]" for name, is_required in names), *below)


@dataclass(frozen=True)
class Reading:
    """The one reading of a line."""

    path: str
    """The command as it is typed, without options."""
    args: tuple[str, ...]
    """The line behind `trn`: groups, command, its stack as an option, its options, and behind `--` its arguments."""
    is_named: bool = False
    """Whether the line names the stack."""

    def below(self, *args: str) -> "Reading":
        """The same, with what stands before it."""
        return Reading(self.path, (*args, *self.args), self.is_named)


@dataclass
class _Own:
    """What a line holds of one command, its options taken out of it."""

    rest: list[str]
    """What was not looked at, and what stands behind the end of the options."""
    words: list[str] = field(default_factory=list)
    args: list[str] = field(default_factory=list)
    """Options with their values, without the stack's."""
    given: list[Option] = field(default_factory=list)
    stack: str | None = None
    is_marked: bool = False
    """Whether `--` ended the options."""

    @property
    def ends(self) -> bool:
        return any(option.ends for option in self.given)


def read(grammar: Grammar, args: Sequence[str], stacks: Sequence[str], *, is_whole: bool = True) -> Reading:
    """The line's one reading. `stacks`: names of those with a file here; `is_whole`: false for the shell, which completes it.

    Raises Unplaced.
    """
    own = _Own(list(args))
    try:
        _take_options(own, grammar)
    except Unplaced:
        if is_whole:
            raise
    if not grammar.commands:
        assert grammar.line is not None
        placed = (place if is_whole and not own.ends else guessed)(grammar.line, _words(own), stacks)
        values = [word for value in placed.values if value is not None for word in ((value,) if isinstance(value, str) else value)]
        named = [f"--{STACK}", placed.stack] if placed.stack is not None else []
        return Reading(grammar.path, (*named, *own.args, *(("--", *values) if values else ())), placed.is_named)
    rest = [*own.words, *own.rest]
    if own.ends or (not rest and not is_whole):
        return Reading(grammar.path, tuple(args))
    if grammar.line is not None:
        return _of_stack_group(grammar, grammar.line, own, args, stacks, is_whole=is_whole)
    if not rest:
        if args:
            raise Unplaced("missing command", _usage_hint(grammar))
        return Reading(grammar.path, ())
    first, *rest = rest
    if first in grammar.commands:
        return read(grammar.commands[first], rest, stacks, is_whole=is_whole).below(*own.args, first)
    if not is_whole:
        return Reading(grammar.path, tuple(args))
    below = {name: f"{group} {name}" for group, entry in grammar.commands.items() for name in entry.commands}
    raise Unplaced(f"no such command: `{first}`", unknown_hint(grammar.path, (first, *rest), list(grammar.commands), below, stacks))


def _of_stack_group(grammar: Grammar, line: Line, own: _Own, args: Sequence[str], stacks: Sequence[str], *, is_whole: bool) -> Reading:
    """Of a group that is a command itself: `trn rehearse dev`, and `trn rehearse crash dev`."""
    if not own.rest:
        placed = place(line, Words(stack=own.stack), stacks)
        return Reading(grammar.path, (f"--{STACK}", str(placed.stack), *own.args), placed.is_named)
    with_stack = tuple(name for name, entry in grammar.commands.items() if entry.line is not None and entry.line.stack is not StackUse.NONE)
    try:
        chosen = choose(Group(grammar.path, tuple(grammar.commands), with_stack), own.rest, own.stack, stacks)
    except Unplaced:
        if is_whole:
            raise
        return Reading(grammar.path, tuple(args))
    named = [f"--{STACK}", chosen.stack] if chosen.stack is not None else []
    if chosen.command is None:
        # Before all others: behind `--` there are no options.
        again = [*named, *args[: len(args) - len(own.rest)], *chosen.rest]
        return read(grammar, again, stacks, is_whole=is_whole)
    if is_whole and (other := next((option.dest for option in own.given if option.dest != STACK), "").replace("_", "-")):
        wrong = f"`--{other}` stands before `{chosen.command}`, which would not see it"
        raise Unplaced(wrong, f"options follow the command: `{grammar.path} {chosen.command} ... --{other}`")
    return read(grammar.commands[chosen.command], [*named, *chosen.rest], stacks, is_whole=is_whole).below(chosen.command)


def _take_options(own: _Own, grammar: Grammar) -> None:
    """Options of one command, up to `--`; of a group, and of a command that passes on the rest, up to the first word. Raises Unplaced."""
    while own.rest:
        word = own.rest.pop(0)
        if word == "--":
            own.is_marked = True
            return
        if word.startswith("-") and len(word) > 1:
            _take(own, grammar, word)
        elif grammar.commands or grammar.passes_on:
            own.rest.insert(0, word)
            return
        else:
            own.words.append(word)


def _take(own: _Own, grammar: Grammar, word: str) -> None:
    """One word that begins with a hyphen."""
    name, has_value, value = word.partition("=")
    if (option := grammar.options.get(name)) is not None:
        _give(own, grammar, option, name, value if has_value else None)
    elif not word.startswith("--"):
        _take_letters(own, grammar, word[1:])
    elif grammar.passes_on:
        own.words.append(word)
    else:
        raise _unknown(grammar, name, get_close_matches(name, [known for known in grammar.options if known.startswith("--")]))


def _take_letters(own: _Own, grammar: Grammar, letters: str) -> None:
    """`-qs dev`: options of one letter, of which the last may have a value, with a space or without."""
    unknown = ""
    for place_of, letter in enumerate(letters):
        name, behind = f"-{letter}", letters[place_of + 1 :]
        option = grammar.options.get(name)
        if option is None:
            if not grammar.passes_on:
                raise _unknown(grammar, name, [])
            unknown += letter
        elif option.takes_value:
            _give(own, grammar, option, name, behind or None)
            break
        else:
            _give(own, grammar, option, name, None)
    if unknown:
        own.words.append(f"-{unknown}")


def _give(own: _Own, grammar: Grammar, option: Option, name: str, value: str | None) -> None:
    """An option that the line holds, with the value that is written to it."""
    own.given.append(option)
    if not option.takes_value:
        if value is not None:
            raise Unplaced(f"option '{name}' does not take a value", _usage_hint(grammar))
        own.args.append(name)
        return
    if value is None and option.alone is not None:
        value = option.alone
    if value is None:
        if not own.rest:
            raise Unplaced(f"option '{name}' requires an argument", _usage_hint(grammar))
        value = own.rest.pop(0)
    if option.dest == STACK:
        own.stack = value
    else:
        own.args += [name, value]


def _words(own: _Own) -> Words:
    """What is left of a line without its options."""
    if own.rest and own.is_marked:
        return Words(tuple(own.words), tuple(own.rest), own.stack)
    # The first word ended the options of a command that passes on all that follows.
    at = own.rest.index("--") if "--" in own.rest else len(own.rest)
    return Words((*own.words, *own.rest[:at]), tuple(own.rest[at + 1 :]) if at < len(own.rest) else None, own.stack)


def _unknown(grammar: Grammar, name: str, near: Sequence[str]) -> Unplaced:
    _, _, words = grammar.path.partition(" ")
    if name == "--practice" and not words.startswith("practice"):
        return Unplaced("`--practice` comes before the command", f"trn --practice {words}")
    known = f"; did you mean {' or '.join(f'`{option}`' for option in near)}?" if near else ""
    return Unplaced(f"no such option: {name}{known}", _usage_hint(grammar))


def _usage_hint(grammar: Grammar) -> str:
    return f"{' '.join((grammar.path, *grammar.usage))}\n`{grammar.path} --help` lists the options"
