"""Decides which word on a command line is the stack, and which are the command's own arguments.

The stack comes first (`trn logs dev bert`), or is named by an option (`trn logs bert --stack dev`), or is left out where it is clear.
What can be read in two ways is refused, with both.
"""

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import Enum

USUAL = "dev"
"""Stack that is meant where none is named and several have a file, as the repository's own has it."""
LONGEST_NAME = 100
STACK_NAME = re.compile(rf"[A-Za-z0-9._-]{{1,{LONGEST_NAME}}}")
"""Names that `pulumi stack init` takes (CLI 3.260); one of periods alone would name a folder above the stack's own."""


class StackUse(Enum):
    """What a command does with its stack."""

    NEEDED = "its file is read"
    OPTIONAL = "without one the command does less"
    NEW = "its file is written"
    NONE = "it is about no stack"


@dataclass(frozen=True)
class Slot:
    """An argument that a command takes beside the stack."""

    name: str
    """As the help shows it: `JOB`."""
    is_required: bool = True
    takes_rest: bool = False
    """Takes all words that follow."""
    needs_mark: bool = False
    """Begins behind `--` only, unless the stack is named before it."""
    fits: Callable[[str], bool] = field(default=lambda word: True)
    """Whether a word can be one at all."""
    choices: tuple[str, ...] = ()
    """All that it can be, where that is known."""
    exists: Callable[[str], bool] = field(default=lambda word: False)
    """Whether a word names one that is there, on this machine."""


@dataclass(frozen=True)
class Line:
    """What a command takes."""

    command: str
    """As it is typed: `trn data stage`."""
    slots: tuple[Slot, ...] = ()
    stack: StackUse = StackUse.NEEDED

    @property
    def least(self) -> int:
        """Words that it needs beside the stack."""
        return sum(slot.is_required for slot in self.slots)

    def takes(self, count: int) -> bool:
        """Whether it can do with so many words beside the stack."""
        return self.least <= count and (count <= len(self.slots) or any(slot.takes_rest for slot in self.slots))


@dataclass(frozen=True)
class Words:
    """What was typed, without the options."""

    before: tuple[str, ...] = ()
    behind: tuple[str, ...] | None = None
    """Words behind `--`; None where there is no `--`."""
    stack: str | None = None
    """The one that `--stack` names."""


@dataclass(frozen=True)
class Placed:
    """The one reading of a line."""

    stack: str | None
    is_named: bool
    """Whether the line names the stack."""
    values: tuple[str | tuple[str, ...] | None, ...]
    """One for each slot: a word, the words of one that takes the rest, None for none."""


class Unplaced(Exception):
    """The line has no reading, or two."""

    def __init__(self, wrong: str, hint: str) -> None:
        super().__init__(wrong)
        self.hint = hint


def place(line: Line, words: Words, stacks: Sequence[str]) -> Placed:
    """The line's one reading. `stacks`: names of those with a file here.

    Raises Unplaced.
    """
    if any(slot.takes_rest for slot in line.slots):
        return _with_rest(line, words, stacks)
    return _placed(line, (*words.before, *(words.behind or ())), words.stack, stacks)


def guessed(line: Line, words: Words, stacks: Sequence[str]) -> Placed:
    """What a line that is not whole begins with, for the shell to complete."""
    before = (*words.before, *(words.behind or ()))
    is_first = line.stack is not StackUse.NONE and before[:1] and before[0] in stacks
    stack = words.stack or (before[0] if is_first else None)
    return Placed(stack, stack is not None, _values(line, before if stack is None or words.stack else before[1:]))


def _with_rest(line: Line, words: Words, stacks: Sequence[str]) -> Placed:
    """Of a command whose last argument is everything behind `--`."""
    rest = line.slots[-1]
    if len(line.slots) > 1:
        # The others stand before the mark.
        first = _placed(replace(line, slots=line.slots[:-1]), words.before, words.stack, stacks)
        return replace(first, values=(*first.values, words.behind or None))
    if words.behind is None:
        return _placed(line, words.before, words.stack, stacks)
    if len(words.before) > 1:
        return _placed(line, (*words.before, "--", *words.behind), words.stack, stacks)
    if words.stack is not None and words.before:
        _refuse_second(line, words.before[0], words.stack)
    if not line.takes(len(words.behind)):
        raise Unplaced(f"{rest.name} is missing behind `--`", f"`{_shown(line, 'STACK')}`")
    named = words.stack or next(iter(words.before), None)
    return Placed(named or left_out(line, stacks), named is not None, _values(line, words.behind))


def _placed(line: Line, words: Sequence[str], option: str | None, stacks: Sequence[str]) -> Placed:
    if option is not None:
        if words and not line.takes(len(words)) and line.takes(len(words) - 1):
            _refuse_second(line, words[0], option)
            words = words[1:]
        _refuse_count(line, words, option)
        return Placed(option, True, _values(line, words))
    if words and line.stack is not StackUse.NONE and _is_stack(line, words, stacks):
        _refuse_count(line, words[1:], words[0])
        return Placed(words[0], True, _values(line, words[1:]))
    _refuse_count(line, words, None, stacks)
    return Placed(left_out(line, stacks), False, _values(line, words))


def _is_stack(line: Line, words: Sequence[str], stacks: Sequence[str]) -> bool:
    """Whether the first word is the stack. Raises Unplaced where it may be the stack or something else."""
    first, count = words[0], len(words)
    as_stack, as_other = line.takes(count - 1), line.takes(count) and not line.slots[0].needs_mark
    if line.stack is StackUse.NEW:
        return True
    if not as_other:
        if first not in stacks and (late := next((word for word in words[1:] if word in stacks), None)) is not None and as_stack:
            rest = list(words)
            rest.remove(late)
            raise Unplaced(f"the stack comes first, and `{first}` is no stack here", f"`{_command(line, late, *rest)}`")
        return as_stack or first in stacks
    if not as_stack:
        if first in stacks:
            whole, missing = _aligned(line, words[1:])
            readings = _command(line, first, *whole), _command(line, first, *(("--",) if line.slots[0].takes_rest else ()), *words)
            hint = f"`{readings[0]}`; with `{first}` as {line.slots[0].name}: `{readings[1]}`"
            raise Unplaced(f"`{first}` is a stack here, and {missing} is missing", hint)
        return False
    return _by_name(line, words, stacks)


def _by_name(line: Line, words: Sequence[str], stacks: Sequence[str]) -> bool:
    """Of a line whose count of words says nothing: what the first one is called."""
    first, slot = words[0], line.slots[0]
    near = get_close_matches(first, stacks, n=1)
    if first in stacks:
        if slot.exists(first) and _fit(line, words):
            raise _ambiguous(line, words, f"`{first}` is a stack here, and a {slot.name} too", first)
        return True
    if not STACK_NAME.fullmatch(first) or first.startswith("-") or slot.exists(first):
        return False
    if not _fit(line, words):
        if kind := get_close_matches(first, slot.choices, n=1):
            raise Unplaced(f"`{first}` is no stack here, and no {slot.name}", f"did you mean `{_command(line, kind[0], *words[1:])}`?")
        return _fit(line, words[1:])
    if near:
        raise _ambiguous(line, words, f"`{first}` is no stack here; did you mean `{near[0]}`?", near[0])
    return False


def _fit(line: Line, words: Sequence[str]) -> bool:
    """Whether each word can be the argument in its place."""
    return all(slot.fits(word) for slot, word in zip(line.slots, words, strict=False))


def _ambiguous(line: Line, words: Sequence[str], wrong: str, stack: str) -> Unplaced:
    usual = left_out(line, (stack,)) or stack
    readings = _command(line, stack, *words[1:]), _command(line, f"--stack {usual}", *words)
    return Unplaced(wrong, f"for the stack `{stack}`: `{readings[0]}`; with `{words[0]}` as {line.slots[0].name}: `{readings[1]}`")


def left_out(line: Line, stacks: Sequence[str]) -> str | None:
    """The stack that is meant where none is named. Raises Unplaced where it has to be."""
    if line.stack in (StackUse.OPTIONAL, StackUse.NONE):
        return None
    if line.stack is StackUse.NEW:
        raise Unplaced("the stack has no name", f"`{_shown(line, 'STACK')}`")
    if len(stacks) == 1:
        return stacks[0]
    if stacks and USUAL not in stacks:
        raise Unplaced("no stack is named, and several have a file here", f"name one of them: {', '.join(stacks)}")
    return USUAL


def _refuse_second(line: Line, word: str, option: str) -> None:
    """Of two stacks on one line. The same one twice does no harm."""
    if word != option:
        raise Unplaced(f"two stacks are named, `{word}` and `{option}`", f"name one: `{_shown(line, word)}`, or `{_shown(line, option)}`")


def _refuse_count(line: Line, words: Sequence[str], option: str | None, stacks: Sequence[str] = ()) -> None:
    """Of too few words, and of too many."""
    if line.takes(len(words)):
        return
    has_stack = option is None and bool(words) and words[0] in stacks
    stack, given = option or (words[0] if has_stack else "STACK"), words[1:] if has_stack else words
    if len(given) < line.least:
        whole, missing = _aligned(line, given)
        raise Unplaced(f"{missing} is missing", f"`{_command(line, stack, *whole)}`")
    is_first = option is None and line.stack is not StackUse.NONE
    raise Unplaced(f"too many words: {_quoted(words[len(line.slots) + is_first :])}", f"`{_shown(line, stack)}`")


def _values(line: Line, words: Sequence[str]) -> tuple[str | tuple[str, ...] | None, ...]:
    """The words by slot."""
    return tuple(
        (tuple(words[number:]) or None) if slot.takes_rest else words[number] if number < len(words) else None
        for number, slot in enumerate(line.slots)
    )


def _aligned(line: Line, words: Sequence[str]) -> tuple[list[str], str]:
    """The words with the names of missing arguments in their places, and those names in a sentence."""
    left, whole, missing = list(words), list[str](), list[str]()
    for number, slot in enumerate(line.slots):
        is_needed_later = sum(later.is_required for later in line.slots[number + 1 :]) >= len(left)
        if left and (slot.fits(left[0]) or not is_needed_later):
            whole.append(left.pop(0))
        elif slot.is_required:
            missing.append(slot.name)
            whole += ["--", slot.name] if slot.takes_rest else [slot.name]
    return whole, " and ".join(missing)


def _shown(line: Line, stack: str) -> str:
    """The line with its stack, and the names of its arguments."""
    mark = ["--"] if line.slots and line.slots[-1].takes_rest else []
    first = [] if line.stack is StackUse.NONE else [stack]
    return _command(line, *first, *mark, *(slot.name if slot.is_required or slot.takes_rest else f"[{slot.name}]" for slot in line.slots))


def _command(line: Line, *words: str) -> str:
    # Names in brackets, and an option with its value, are not the shell's to see.
    quoted = (word if (" " in word and word.startswith("--")) or word.startswith("[") else shlex.quote(word) for word in words)
    return " ".join((line.command, *quoted))


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)
