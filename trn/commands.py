"""Commands and groups of `trn` as typer builds them: `reading` has placed the words of a line; help and exit codes are one for all."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from trn.cli.errors import MISUSE, CommandError
from trn.cli.help import arguments_of, choices_of, is_argument, name_of, options_of, sections_of, types_of
from trn.cli.placement import Line, Slot, StackUse, Unplaced
from trn.cli.reading import Grammar, Option, Reading, read
from trn.cli.slots import ANY, EXISTS, FITS, NEED_MARK
from trn.cli.usage import Stopped, ended
from trn.engine.early import refuse_early
from trn.engine.stack_names import stack_path, stacks_here
from trn.run_command import run_command
from trn.table import ENTRIES, CommandEntry, titles

PRACTICE, READING = "trn.practice", "trn.reading"
"""Keys of the context's notes: whether the command acts on practice accounts, and how the line was read."""
HELP = ["--help", "-h"]
"""Names of the option. Each command says them: what a command finds in its context it keeps, and a context of its own has one name."""


def grammar_of(command: Any, path: str = "trn") -> Grammar:
    """What a command and all below it take, from their parameters."""
    below = {name: grammar_of(entry, f"{path} {name}") for name, entry in getattr(command, "commands", {}).items()}
    options = [_option(param) for param in command.params if not is_argument(param)]
    options.append(Option("help", tuple(HELP), ends=True))
    has_line = not below or any(param.name == "stack" for param in command.params)
    passes_on = bool(command.context_settings.get("ignore_unknown_options"))
    by_name = {name: option for option in options for name in option.names}
    return Grammar(path, by_name, line_of(command, path) if has_line else None, below, passes_on)


def line_of(command: Any, path: str) -> Line:
    """Stack and arguments of a command."""
    types = types_of(command)
    slots = tuple(_slot(param, choices_of(types.get(param.name))) for param in command.params if is_argument(param))
    return Line(path, slots, command.entry.stack)


def _option(param: Any) -> Option:
    alone = ANY if str(param.metavar).startswith("[=") else None
    return Option(param.name, (*param.opts, *param.secondary_opts), not param.is_flag, alone, ends=param.callback is not None)


def _slot(param: Any, choices: tuple[str, ...]) -> Slot:
    fits = choices.__contains__ if choices else FITS.get(param.name, lambda word: True)
    exists = choices.__contains__ if choices else EXISTS.get(param.name, lambda word: False)
    return Slot(name_of(param), param.required, param.nargs == -1, param.name in NEED_MARK, fits, choices, exists)


class Command(TyperCommand):
    """A command whose stack may be its first word, an option, or left out. What its function returns is the exit code."""

    entry: CommandEntry
    """Its row."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.stack = next((param for param in self.params if param.name == "stack"), None)
        if self.stack is not None:
            # The reading gives it its value, or refuses the line.
            self.stack.required = False
            others = [param for param in self.params if is_argument(param)]
            if others and not self.writes_stack:
                # It may stand first.
                own = others[0].shell_complete
                others[0].shell_complete = lambda ctx, incomplete: [*self.stacks_for(ctx, incomplete), *own(ctx, incomplete)]

    @property
    def writes_stack(self) -> bool:
        """Whether its stack is a new one."""
        return self.entry.stack is StackUse.NEW

    def get_help_option_names(self, ctx: Any) -> list[str]:  # noqa: ARG002 (the base class names it)
        """The same everywhere."""
        return HELP

    def stacks_for(self, context: Any, incomplete: str) -> list[Any]:
        """What can be the first word, for the shell; nothing where the stack is named."""
        is_asked = self.stack is not None and not self.writes_stack and context.params.get("stack") is None
        return self.stack.shell_complete(context, incomplete) if self.stack is not None and is_asked else []

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Options, or the stack."""
        return [*([] if incomplete.startswith("-") else self.stacks_for(ctx, incomplete)), *super().shell_complete(ctx, incomplete)]

    def invoke(self, ctx: Any) -> int:
        """The exit code."""
        return carried_out(ctx, self.entry, lambda: TyperCommand.invoke(self, ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002 (the base class names it)
        """`[OPTIONS] [STACK] JOB`."""
        return [*grammar_of(self).usage]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, then options."""
        _write_lists(formatter, Arguments=arguments_of(self, ctx, is_new=self.writes_stack), Options=options_of(self, ctx))


class CommandGroup(TyperGroup):
    """A group of commands, in the sections of the help."""

    def get_help_option_names(self, ctx: Any) -> list[str]:  # noqa: ARG002 (the base class names it)
        """The same everywhere."""
        return HELP

    def make_context(self, info_name: Any, args: list[str], parent: Any = None, **settings: Any) -> Any:
        """The line as read so far. Before all others, the whole of it is read."""
        with _stopped():
            if parent is not None:
                return super().make_context(info_name, args, parent, **settings)
            reading = _read(self, args, is_whole=not settings.get("resilient_parsing"))
            context = super().make_context(info_name, [*reading.args], parent, **settings)
            context.meta[READING] = reading
            return context

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What follows; a group alone is misuse, and shows its help."""
        if not args and not self.invoke_without_command and not ctx.resilient_parsing:
            typer.echo(ctx.get_help(), err=True)
            raise typer.Exit(MISUSE)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """The exit code of the command below it."""
        with _stopped():
            return super().invoke(ctx)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002 (the base class names it)
        """`[OPTIONS] COMMAND [ARGS]...`."""
        return [*grammar_of(self).usage]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Options, then commands."""
        _write_lists(formatter, Options=options_of(self, ctx))
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Each with the first sentence of its help."""
        for title, names in sections_of(self.list_commands(ctx), titles() if ctx.parent is None else {}):
            rows = [
                (name, str(self.commands[name].short_help or self.commands[name].help).partition(". ")[0].rstrip(".")) for name in names
            ]
            _write_lists(formatter, **{title: rows})

    def main(
        self,
        args: Any = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Runs the command line and ends the process with its exit code, as typer's own."""

        def run() -> Any:
            return TyperGroup.main(self, args, prog_name, complete_var, False, windows_expand_args, **extra)

        if not standalone_mode:
            return run()
        sys.exit(ended(run))


class StackGroup(CommandGroup):
    """A group that is a command itself: `trn rehearse dev`, and `trn rehearse crash dev`."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        for param in self.params:
            param.required = False

    def invoke(self, ctx: Any) -> Any:
        """The exit code, of its own or of the command below it."""
        if ctx.meta[READING].path != f"trn {self.name}":
            return super().invoke(ctx)
        return carried_out(ctx, self.entry, lambda: TyperGroup.invoke(self, ctx))

    @property
    def entry(self) -> CommandEntry:
        """Its row."""
        return ENTRIES[str(self.name)]


def command_of(entry: CommandEntry) -> type[Command]:
    """The class of a row's command."""
    return type("Command", (Command,), {"entry": entry})


def _read(group: Any, args: list[str], *, is_whole: bool) -> Reading:
    try:
        return read(grammar_of(group), args, stacks_here(), is_whole=is_whole)
    except Unplaced as problem:
        raise CommandError(str(problem), problem.hint, code=MISUSE) from problem


def carried_out(context: Any, entry: CommandEntry, act: Callable[[], Any]) -> int:
    """Exit code of a command. A stack that has no file is refused before anything is loaded; practice begins and ends around the rest."""
    stack = context.params.get("stack")

    def refuse_unknown() -> int:
        is_needed = context.meta[READING].is_named or not entry.skips("stack", context.params)
        if stack is not None and is_needed and entry.stack is not StackUse.NEW:
            stack_path(stack)
        refuse_early(entry, context.params)
        return 0

    if code := run_command(refuse_unknown):
        return code
    is_practice = context.meta.get(PRACTICE) or entry.place.startswith("practice ")
    with _practising(stack) if is_practice else nullcontext() as practice:

        def announced() -> int:
            try:
                return act() or 0
            except BaseException:
                if practice is not None:
                    practice.announce(on_standard_error=True)
                raise

        return run_command(announced)


@contextmanager
def _stopped() -> Iterator[None]:
    """Ctrl-C as an error of our own."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise Stopped from error


@contextmanager
def _practising(stack: str | None) -> Iterator[Any]:
    """Everything that a command does, it does to the practice accounts."""
    from trn.change.clients import using
    from trn.practice.access import Practice

    given = Practice()
    with using(given):
        try:
            if stack is not None:
                given.acts_on(stack)
            yield given
        finally:
            # Of a command that printed no result.
            given.announce(on_standard_error=True)
            if code := run_command(given.close):
                raise typer.Exit(code)


def _write_lists(formatter: Any, **sections: list[tuple[str, str]]) -> None:
    for title, rows in sections.items():
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)
