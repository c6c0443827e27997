"""Commands and groups of `trn` as typer builds them: words are placed by `placement` and `groups`, help and exit codes are one for all."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from typer._click.exceptions import UsageError
from typer._click.parser import _OptionParser, _ParsingState
from typer.core import TyperArgument, TyperCommand, TyperGroup
from typer.exceptions import Exit

from trn.cli.groups import Group, choose, unknown_hint
from trn.cli.help import arguments_of, name_of, options_of, sections_of
from trn.cli.placement import Line, Slot, StackUse, Unplaced, Words, guessed, place
from trn.cli.slots import ANY, EXISTS, FITS, NEED_MARK, STACK_USES, UNNEEDED_WITH
from trn.cli.usage import Stopped, UsageProblem, ended
from trn.engine.early import refuse_early
from trn.engine.stack_names import stack_path, stacks_here
from trn.run_command import run_command

PRACTICE, IS_NAMED = "trn.practice", "trn.stack_is_named"
"""Keys of the context's notes: whether the command acts on practice accounts, and whether the line names the stack."""


def path_of(context: Any) -> str:
    """The command as it is typed, without its groups' options: `trn data stage`."""
    return " ".join((*((path_of(context.parent),) if context.parent else ()), str(context.info_name)))


HELP = ["--help", "-h"]
"""Names of the option. Each command says them: what a command finds in its context it keeps, and a context of its own has one name."""


class Command(TyperCommand):
    """A command whose stack may be its first word, an option, or left out. What its function returns is the exit code."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        option = next((param for param in self.params if param.name == "stack"), None)
        self.has_stack = option is not None
        if option is not None:
            # The placement gives it its value, or refuses the line.
            option.required = False
            others = [param for param in self.params if isinstance(param, TyperArgument)]
            self.params.insert(0, _first_word(option, others, is_new=self.stack_use is StackUse.NEW))

    def get_help_option_names(self, ctx: Any) -> list[str]:  # noqa: ARG002 (the base class names it)
        """The same everywhere."""
        return HELP

    @property
    def stack_use(self) -> StackUse:
        """What it does with its stack."""
        return STACK_USES.get(str(self.name), StackUse.NEEDED) if self.has_stack else StackUse.NONE

    def line(self, context: Any) -> Line:
        """What it takes, from its parameters."""
        slots = (_slot(param) for param in self.params if isinstance(param, TyperArgument) and param.name != "stack")
        return Line(path_of(context), tuple(slots), self.stack_use)

    def make_parser(self, ctx: Any) -> Any:
        """One that places the words."""
        parser = _PlacingParser(ctx, self.line(ctx))
        for param in self.get_params(ctx):
            param.add_to_parser(parser, ctx)
        return parser

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Options whose value may be left out (`[=WAY]`) get one, as far as the words are the command's own."""
        bare = {name for param in self.params if str(getattr(param, "metavar", "")).startswith("[=") for name in param.opts}
        end = args.index("--") if "--" in args else len(args)
        own = [f"{word}={ANY}" if word in bare else word for word in args[:end]]
        return super().parse_args(ctx, [*own, *args[end:]])

    def invoke(self, ctx: Any) -> int:
        """The exit code."""
        return carried_out(ctx, str(self.name), lambda: TyperCommand.invoke(self, ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """`[OPTIONS] [STACK] JOB`."""
        return ["[OPTIONS]", *(piece for piece, _ in arguments_of(self, ctx, in_usage=True))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, then options."""
        _write_lists(formatter, Arguments=arguments_of(self, ctx), Options=options_of(self, ctx))


class CommandGroup(TyperGroup):
    """A group of commands, in the sections of the help."""

    def get_help_option_names(self, ctx: Any) -> list[str]:  # noqa: ARG002 (the base class names it)
        """The same everywhere."""
        return HELP

    def make_context(self, *arguments: Any, **settings: Any) -> Any:
        """The line as read so far."""
        with _stopped():
            return super().make_context(*arguments, **settings)

    def invoke(self, ctx: Any) -> Any:
        """The exit code of the command below it."""
        with _stopped():
            return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Options, then commands."""
        _write_lists(formatter, Options=options_of(self, ctx))
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Each with the first sentence of its help."""
        for title, names in sections_of(self.list_commands(ctx)):
            rows = [
                (name, str(self.commands[name].short_help or self.commands[name].help).partition(". ")[0].rstrip(".")) for name in names
            ]
            _write_lists(formatter, **{title: rows})

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that the first word names."""
        if args[0] in self.commands or ctx.resilient_parsing or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        below = {name: f"{group} {name}" for group, entry in self.commands.items() for name in getattr(entry, "commands", ())}
        raise UsageProblem(
            f"no such command: `{args[0]}`", unknown_hint(path_of(ctx), args, list(self.commands), below, stacks_here()), ctx
        )

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

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Arguments with the stack's name spelt out, behind the command that it is for."""
        given, rest, _ = self.make_parser(ctx).parse_args(list(args))
        stacks = stacks_here()
        if rest and not ctx.resilient_parsing:
            about = Group(
                path_of(ctx), tuple(self.commands), tuple(n for n, entry in self.commands.items() if getattr(entry, "has_stack", False))
            )
            try:
                chosen = choose(about, rest, given.get("stack"), stacks)
            except Unplaced as problem:
                raise UsageProblem(str(problem), problem.hint, ctx) from problem
            named = ["--stack", chosen.stack] if chosen.stack is not None else []
            if chosen.command is None:
                # Before all others: behind `--` there are no options.
                return self.parse_args(ctx, [*named, *args[: len(args) - len(rest)], *chosen.rest])
            if other := [name for name in given if name != "stack"]:
                wrong = f"`--{other[0].replace('_', '-')}` stands before `{chosen.command}`, which would not see it"
                raise UsageProblem(
                    wrong, f"options follow the command: `{about.command} {chosen.command} ... --{other[0].replace('_', '-')}`", ctx
                )
            args = [chosen.command, *named, *chosen.rest]
        elif not rest and not given.get("help"):
            try:
                placed = place(Line(path_of(ctx)), Words(stack=given.get("stack")), stacks)
            except Unplaced as problem:
                raise UsageProblem(str(problem), problem.hint, ctx) from problem
            ctx.meta[IS_NAMED] = placed.is_named
            args = ["--stack", str(placed.stack), *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """The exit code, of its own or of the command below it."""
        if ctx._protected_args:
            return super().invoke(ctx)
        return carried_out(ctx, str(self.name), lambda: TyperGroup.invoke(self, ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """With both ways to go on."""
        *options, command = super().collect_usage_pieces(ctx)
        return [*options, "[STACK]", "|", command]


def carried_out(context: Any, name: str, act: Callable[[], Any]) -> int:
    """Exit code of a command. A stack that has no file is refused before anything is loaded; practice begins and ends around the rest."""
    stack = context.params.get("stack")

    def refuse_unknown() -> int:
        is_needed = context.meta.get(IS_NAMED) or not context.params.get(UNNEEDED_WITH.get(name, ""))
        if stack is not None and is_needed and STACK_USES.get(name) is not StackUse.NEW:
            stack_path(stack)
        refuse_early(name, context.params)
        return 0

    if code := run_command(refuse_unknown):
        return code
    with _practising(stack) if context.meta.get(PRACTICE) else nullcontext() as practice:

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
                raise Exit(code)


class _PlacingParser(_OptionParser):
    """Reads options as typer's own, and has the placement decide what the words are."""

    def __init__(self, ctx: Any, line: Line) -> None:
        super().__init__(ctx)
        self._line = line

    def parse_args(self, args: list[str]) -> tuple[dict[str, Any], list[str], list[Any]]:
        """Values by name, words that are left (none), and parameters in the order of the line."""
        given, state = list(args), _ParsingState(list(args))
        assert self.ctx is not None
        try:
            self._process_args_for_options(state)
            is_whole = not self.ctx.resilient_parsing and not state.opts.get("help")
            placed = (place if is_whole else guessed)(self._line, _words(given, state), stacks_here())
        except UsageError:
            if not self.ctx.resilient_parsing:
                raise
            placed = guessed(self._line, _words(given, state), stacks_here())
        except Unplaced as problem:
            raise UsageProblem(str(problem), problem.hint, self.ctx) from problem
        self.ctx.meta[IS_NAMED] = placed.is_named
        if placed.stack is not None and (placed.is_named or not self.ctx.resilient_parsing):
            state.opts["stack"] = placed.stack
        arguments = [argument for argument in self._args if argument.dest != "stack"]
        for argument, value in zip(arguments, placed.values, strict=True):
            state.opts[str(argument.dest)] = value
        return state.opts, [], [*state.order, *(argument.obj for argument in self._args)]


def _words(given: list[str], state: _ParsingState) -> Words:
    """What is left of a line without its options."""
    at = len(given) - len(state.rargs)
    if state.rargs and at and given[at - 1] == "--":
        return Words(tuple(state.largs), tuple(state.rargs), state.opts.get("stack"))
    # The first word ended the options of a command that passes on all that follows.
    before, mark, behind = _parted(state.rargs)
    return Words((*state.largs, *before), tuple(behind) if mark else None, state.opts.get("stack"))


def _parted(words: list[str]) -> tuple[list[str], bool, list[str]]:
    """What stands before the first `--`, whether there is one, and what stands behind it."""
    at = words.index("--") if "--" in words else len(words)
    return words[:at], at < len(words), words[at + 1 :]


def _slot(param: Any) -> Slot:
    choices = param.type_descriptor.choices
    fits = choices.__contains__ if choices else FITS.get(param.name, lambda word: True)
    exists = choices.__contains__ if choices else EXISTS.get(param.name, lambda word: False)
    return Slot(name_of(param), param.required, param.nargs == -1, param.name in NEED_MARK, fits, tuple(choices or ()), exists)


def _first_word(option: Any, others: list[Any], *, is_new: bool) -> TyperArgument:
    """The stack as the first word, for help and completion; the option of the same name takes the value."""
    word = TyperArgument(
        param_decls=["stack"],
        type_descriptor=option.type_descriptor,
        required=is_new,
        help=option.help if is_new else f"{option.help} Also --stack, anywhere on the line.",
        expose_value=False,
        show_default=False,
    )

    def complete(context: Any, _param: Any, incomplete: str) -> list[Any]:
        """Stacks, and what the next argument can be: it may stand first."""
        offered = [] if is_new else option.shell_complete(context, incomplete)
        return [*offered, *(others[0].shell_complete(context, incomplete) if others else [])]

    word._custom_shell_complete = complete
    return word


def _write_lists(formatter: Any, **sections: list[tuple[str, str]]) -> None:
    for title, rows in sections.items():
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)
