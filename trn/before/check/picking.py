"""One of a group's candidates, as a change: asked about, written into the stack file, and then everything is checked."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from facts.typed import typed
from stacks.stack_yaml import MAX_BYTES
from trn.before.capacity.pick import Pick, candidates_of, edits, lines, pick, refuse_move
from trn.before.capacity.region import look_everywhere
from trn.before.capacity.wanted import Wanted, wanted_of
from trn.before.capacity.ways import Way
from trn.change.action import Action, Difference, Hold, Outcome, Pace, Question, Refusal, written
from trn.change.clients import access
from trn.change.hold import cluster_lock
from trn.change.identity import File, New, file_id
from trn.change.known import Unknown
from trn.change.report import ChangeDocument, Report
from trn.change.whose import Site, Whose
from trn.cli.findings import Finding, finding_lines
from trn.cli.text_files import read_text
from trn.engine.program import settings_of
from trn.engine.stack_edit import HINT, Edit, as_yaml, edited
from trn.engine.stack_file import StackFile, read_stack_file, refuse_edited, with_edits
from trn.engine.stack_names import stack_path

if TYPE_CHECKING:
    from rich.console import RenderableType


class CheckPickReport(ChangeDocument, frozen=True):
    """What `trn check --pick` wrote, and found with it."""

    schema_: Literal["trn-check-pick"] = "trn-check-pick"
    findings: tuple[Finding, ...] | None = None


@dataclass(frozen=True)
class Places:
    """The candidates compared, and the stack file as it is and would be."""

    told: Pick
    file: File
    text: str
    edits: tuple[Edit, ...]
    silent: tuple[Unknown, ...]
    """What a region did not say."""


@dataclass(frozen=True)
class PickPlace:
    """Write the best candidate of a group, and check the stack with it."""

    stack_file: StackFile
    group: str
    hours: int
    now: datetime
    check: Callable[[StackFile, Callable[[int, int], None]], list[Finding]]
    findings: list[Finding] = field(default_factory=list[Finding])
    pace = Pace(in_order=True)
    document = CheckPickReport

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"check {self.stack_file.stack} --pick {self.group}"

    @property
    def _wanted(self) -> Wanted:
        settings, stack = settings_of(self.stack_file), self.stack_file.stack
        return wanted_of(settings, stack, group=self.group, instance_type=None, count=None, hours=self.hours, day=None, now=self.now)

    def hold(self, site: Site, whose: Whose) -> Hold:
        """The cluster's lock: `trn capacity buy` writes the same file under it."""
        return cluster_lock(self.name, site, whose)

    def look(self, _: Site, whose: Whose) -> Places:
        """What each candidate offers now. Raises CommandError for a move of a stack that is up, ConfigurationError for a file that would be refused."""
        stack, settings, wanted = self.stack_file.stack, settings_of(self.stack_file), self._wanted
        regions = dict.fromkeys(region for region, _ in candidates_of(settings, self.group))
        views = look_everywhere({region: access().aws(stack, region) for region in regions}, wanted, settings.name, settings.region)
        told = pick(settings, wanted, views, whose.ownership.seen.account)
        changes = tuple(edits(settings, self.group, told.best)) if told.best else ()
        if told.best:
            refuse_move(settings, told.best, whose.ownership.state, stack)
        settings_of(with_edits(self.stack_file, changes))
        path = stack_path(stack, self.stack_file.root)
        file, text = file_id(path), read_text(path, MAX_BYTES, HINT)
        refuse_edited(self.stack_file, read_stack_file(stack, self.stack_file.root))
        silent = [Unknown(f"{what} in {view.region}", why) for view in views for what, why in view.problems.items()]
        return Places(told, file, edited(text, changes), changes, tuple(silent))

    def refusals(self, seen: Places) -> Iterator[Refusal]:
        """Nothing to pick from."""
        if seen.told.best is None:
            hint = f"`{typed('trn capacity find')}` looks everywhere; the stack file is as it was"
            yield Refusal(f"no candidate of `nodeGroups.{self.group}` works now", hint, shown=tuple(self.shown(seen)))

    def actions(self, seen: Places) -> list[Action]:
        """What is checked is the file as it is then."""
        best, stack = seen.told.best, self.stack_file.stack

        def check(site: Site, _: New) -> Outcome:
            self.findings.extend(self.check(read_stack_file(stack, self.stack_file.root), site.show))
            return Outcome("done")

        def write(site: Site, file: File) -> Outcome:
            outcome = written(file, seen.text, HINT)
            if outcome.kind == "done" and best is not None:
                for line in self._next(best):
                    site.tell(line)
            return outcome

        checked = Action("check", New("stack", stack, str(seen.file.path)), "it was asked for", check, is_change=False)
        return [*([Action("write", seen.file, "it is the best of them", write)] if seen.edits else []), checked]

    def _next(self, best: Way) -> Iterator[str]:
        stack, group = self.stack_file.stack, self.group
        if best.kind == "reservation":
            keys = f"`nodeGroups.{group}.capacityReservationId: {best.id}`"
            yield f"next     {keys}, as `{typed(f'trn capacity find {stack} --group {group}')}` prints it"
        if best.kind == "block":
            yield f"next     {typed(f'trn capacity buy {stack} {best.id} --group {group} --instances {self._wanted.count} --hours {self.hours}')}"

    def question(self, seen: Places) -> Question | None:
        """Nothing is asked where the group stays."""
        return Question(f"Write this into {seen.file.path.name}?") if seen.edits else None

    def shown(self, seen: Places) -> Iterator[str]:
        """The comparison, and what would be written."""
        yield f"pick     {self._wanted}, for `nodeGroups.{self.group}`"
        yield from lines(seen.told, settings_of(self.stack_file))
        yield from (f"         {line}" for line in as_yaml(seen.edits))
        if seen.told.best is not None and not seen.edits:
            yield f"{self.group} stays in {seen.told.best.zone_id}: it is the best of them"

    def differences(self, shown: Places, now: Places) -> Iterator[Difference]:
        """Another best place. An edit of the file makes another action of the writing, which is asked about."""
        if (shown.edits, shown.told.best) != (now.edits, now.told.best):
            yield Difference("the places have changed since they were compared", is_grave=True)

    def result(self, _: Places, report: Report) -> "Iterator[RenderableType]":
        """All findings."""
        yield from (f"{action}: {text}" for action, outcome in report.left for text in outcome.said)
        yield from finding_lines(self.findings)

    def data(self, _: Places, _report: Report) -> Mapping[str, Any]:
        """For `--json`."""
        return {"findings": tuple(self.findings)}
