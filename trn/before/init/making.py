"""The stack file that the answers make: its text, what the program refuses of it, what it costs. The methods load the program."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from facts.typed import typed
from trn.before.init.answers import Answers, stack_file_text
from trn.before.init.asked import Interview
from trn.before.init.offers import second_zone
from trn.before.init.questions import ADDONS, EXAMPLE_BLOCK
from trn.before.init.samples import asks, filled
from trn.change.clients import access
from trn.cli.errors import MISUSE, CommandError

if TYPE_CHECKING:
    from stacks.problems import ConfigurationError
    from trn.engine.stack_file import StackFile

ADD_ADDRESS = (
    "pulumi config set --stack {stack} --path 'trn:controlPlane.publicAccessCidrs[0]' \"$(curl -s https://checkip.amazonaws.com)/32\""
)
"""Puts the caller's own address in the place of the example."""


@dataclass(frozen=True)
class Request:
    """What the command line says."""

    stack: str
    given: Mapping[str, str]
    """Options by the key of their question, as they were typed."""
    sample: str | None
    live: bool
    block_hours: int
    yes: bool
    fresh: bool
    json_file: Path | None


@dataclass(frozen=True)
class Mistakes:
    """What the program says of a whole file."""

    error: "ConfigurationError"
    paths: tuple[str, ...]


@dataclass(frozen=True)
class File:
    """The stack file that the answers make. Its methods load the program."""

    request: Request
    root: Path
    project: str
    sample: str | None

    def text(self, interview: Interview) -> str:
        """The whole file, with defaults for what is not answered."""
        draft = interview.draft
        if self.sample is not None:
            return filled(self.sample, draft["name"], draft.get("allow"), draft.get("reservation"))
        return stack_file_text(self.answers(interview))

    def answers(self, interview: Interview) -> Answers:
        """Answers, with defaults for what is not answered."""
        draft = interview.draft
        return Answers(
            stack=self.request.stack, name=draft["name"], region=draft["region"], instance_type=draft["instance_type"],
            count=draft.get("count", 0), capacity=draft.get("capacity", "on-demand"), reservation=draft.get("reservation"),
            zone=draft["zone"], second_zone=second_zone(draft["zone"], draft["region"], interview.offers.usable(draft["region"])),
            allow=draft.get("allow", ()), fsx_gib=draft.get("fsx_gib", 0), addons=draft.get("addons", ADDONS),
        )  # fmt: skip

    def mistakes(self, interview: Interview) -> Mistakes | None:
        """What the program refuses; None where it takes the file."""
        from stacks.problems import ConfigurationError
        from trn.engine.program import settings_of

        try:
            settings_of(self._stack_file(interview), rehearsal=access().is_practice or self._is_example(interview))
        except ConfigurationError as error:
            return Mistakes(error, tuple(problem.path for problem in error.problems))
        return None

    def cost(self, interview: Interview) -> str:
        """The three figures of what is answered so far."""
        from simulator.costs import figures, items
        from trn.engine.program import record_stack

        if (wrong := self.mistakes(interview)) is not None:
            return f"not known: {wrong.error.problems[0].wrong}"
        return figures(items(record_stack(self._stack_file(interview)))).words()

    def write(self, interview: Interview) -> int:
        """Write the file, and say what it costs and what comes next. Raises ConfigurationError, or CommandError."""
        from simulator.costs import figures, items
        from stacks.rules import notices
        from trn.before.init.report import InitReport
        from trn.cli.output import results, write_json
        from trn.cli.text_files import write_text
        from trn.engine.program import record_stack, settings_of

        stack_file, stack = self._stack_file(interview), self.request.stack
        settings = settings_of(stack_file, rehearsal=access().is_practice or self._is_example(interview))
        found = figures(items(record_stack(stack_file)))
        path = self.root / f"Pulumi.{stack}.yaml"
        write_text(path, self.text(interview), "make room there, or change into a folder that you may write to")
        answers = asdict(self.answers(interview)) if self.sample is None else {key: interview.draft.get(key) for key in asks(self.sample)}
        write_json(InitReport(**dict(found), file=str(path), answers=answers), self.request.json_file)
        console = results(self.request.json_file)
        console.print(f"wrote {path.name}: {found.words()}", markup=False, soft_wrap=True)
        for notice in notices(settings):
            console.print(f"note: {notice}", markup=False, soft_wrap=True)
        if self._is_example(interview):
            console.print(f"before `{typed('pulumi up')}`: {ADD_ADDRESS.format(stack=stack)}", markup=False, soft_wrap=True)
        console.print(f"next: trn rehearse {stack}, then: trn check {stack}", markup=False)
        return 0

    def _stack_file(self, interview: Interview) -> "StackFile":
        from stacks.stack_yaml import read_yaml
        from trn.engine.stack_file import StackFile

        pairs = read_yaml(self.text(interview))["config"]
        return StackFile(self.root, self.project, self.request.stack, pairs)

    def _is_example(self, interview: Interview) -> bool:
        """Whether the address is the example, which a real run refuses: a message says so, and a rehearsal takes it."""
        return interview.draft.get("allow") == (EXAMPLE_BLOCK,)


def check_place(stack: str, root: Path, *, force: bool) -> None:
    """Raises CommandError where the file is there already."""
    path = root / f"Pulumi.{stack}.yaml"
    if path.exists() and not force:
        raise CommandError(f"{path.name} is there already", "name another stack, or add --force to overwrite it", code=MISUSE)
