"""A recovery as a change: forget releases that are half installed, import what a killed run had made, and read everything again."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from facts.document import Part
from facts.typed import typed
from trn.aws.eks import described
from trn.change.action import Action, Difference, Hold, Outcome, Pace, PulumiRun, Question, Refusal
from trn.change.hold import cluster_lock
from trn.change.identity import Kube, StateId, state_id
from trn.change.report import ChangeDocument, Report
from trn.change.whose import Site, Whose
from trn.cli.errors import CommandError
from trn.ending.recover.look import SECRETS, Objects, Recovery
from trn.ending.recover.plan import Import, Plan, import_file, taken_over
from trn.engine.interrupted import State, read_preview, read_state
from trn.engine.pulumi import Pulumi
from trn.engine.recovery import refuse_locked, refuse_misuse
from trn.kubernetes.client import Conflict

IMPORT_OPTIONS = ("--yes", "--skip-preview", "--generate-code=false", "--protect=false")


class FoundObject(Part, frozen=True):
    """An object that a killed run had made."""

    urn: str
    id: str
    state: str
    """In the words of AWS or Helm."""


class UnclearCreation(Part, frozen=True):
    """A creation of which a person must say what became of it."""

    urn: str
    why: str
    do: str


class RecoverReport(ChangeDocument, frozen=True):
    """What `trn recover` did. Each list is of operations that a killed run left without an end."""

    schema_: Literal["trn-recover"] = "trn-recover"
    recovered: bool
    imports: tuple[FoundObject, ...]
    uninstalls: tuple[FoundObject, ...]
    """Helm releases that were not installed to their end."""
    leftovers: tuple[FoundObject, ...]
    """What a later run made a second time."""
    never_made: tuple[str, ...]
    settled: tuple[str, ...]
    """What the state holds already."""
    refreshed: tuple[str, ...]
    unclear: tuple[UnclearCreation, ...]


@dataclass(frozen=True)
class Seen:
    """What a look saw."""

    state: StateId
    plan: Plan
    open: int = 0
    """Operations without an end, where a recovery of orphans may not have any."""


@dataclass(frozen=True)
class Recover:
    """Bring into the state what a killed run had made."""

    stack: str
    project: str
    orphans: bool
    """Whether to look for all that the next run would make, where no operation is without an end."""
    document = RecoverReport
    pace = Pace(in_order=True)

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"recover {self.stack}"

    @property
    def always(self) -> dict[str, Any]:
        """For `--json`."""
        return {"recovered": False, **plan_fields(Plan(), orphans=self.orphans)}

    def hold(self, site: Site, whose: Whose) -> Hold:
        """The cluster's lock."""
        return cluster_lock(self.name, site, whose)

    def look(self, site: Site, whose: Whose) -> Seen:
        """The state first: what changes meanwhile is seen before the import. It waits for what AWS is still making."""
        which, state = state_id(site.pulumi, self.stack), exported(site.pulumi, self.stack)
        if self.orphans and state.pending:
            return Seen(which, Plan(), len(state.pending))
        if self.orphans:
            state = with_orphans(state, site.pulumi, self.stack)
        owner = state.stack or whose.ownership.identity.stack or f"/{self.project}/{self.stack}"

        def connect() -> Objects | None:
            return Objects(site.kubernetes()) if described(site.api, whose.cluster) else None

        plan = Recovery(site.api, whose.cluster, connect, site.pause, site.tell, owner, self.orphans).plan(state)
        if self.actions(seen := Seen(which, plan)):
            # What a run of Pulumi that lives is making is not ours to finish.
            refuse_locked(site.pulumi, self.stack, whose.ownership.state.root)
        return seen

    def refusals(self, seen: Seen) -> Iterator[Refusal]:
        """What a person must judge first: to read again would clear what tells of it."""
        if seen.open:
            yield Refusal(f"{seen.open} operations have no end yet", f"run `{typed(f'trn recover {self.stack}')}` first, without --orphans")
        if unclear := seen.plan.unclear:
            shown = tuple(plan_lines(seen.plan, orphans=self.orphans))
            yield Refusal(
                f"{len(unclear)} unclear: nothing was changed", f"{typed(f'trn recover {self.stack}')}: it may be run again", shown=shown
            )

    def actions(self, seen: Seen) -> list[Action]:
        """Without orphans reading again is work alone: it clears the operations that are settled."""
        plan = seen.plan
        has_work = plan.imports or plan.uninstalls or (plan.has_work and not self.orphans)
        return actions_of(plan, self.stack, seen.state) if has_work else []

    def question(self, seen: Seen) -> Question:
        """Counts."""
        return Question(f"Import {len(seen.plan.imports)}, uninstall {len(seen.plan.uninstalls)}, then refresh {self.stack}?")

    def shown(self, seen: Seen) -> Iterator[str]:
        """What became of each operation without an end."""
        yield from plan_lines(seen.plan, orphans=self.orphans)

    def differences(self, shown: Seen, now: Seen) -> Iterator[Difference]:
        """More than was shown, a release that Helm writes into among it; and another state."""
        if new := now.plan.deeds - shown.plan.deeds:
            yield Difference(f"{len(new)} objects are there, or changed, that were not when it was shown", is_grave=True)
        if now.state != shown.state:
            yield Difference(f"the state of stack `{self.stack}` has changed since it was shown", is_grave=True)

    def result(self, seen: Seen, report: Report) -> Iterator[str]:
        """How it went, and what comes next."""
        plan = seen.plan
        if report.left:
            yield from (said for _, outcome in report.left for said in outcome.said)
            yield f"next     {typed(f'trn recover {self.stack}')}: it may be run again"
        elif not report.outcomes:
            nothing = f"no orphans: nothing that `{typed('pulumi up')}` would make is there already"
            yield nothing if self.orphans else "nothing to recover: no operation is without an end"
        else:
            end = "run it again until none is found" if self.orphans else f"{len(plan.never_made)} never made"
            mark = ";" if self.orphans else ","
            yield f"recovered: {len(plan.imports)} imported, {len(plan.uninstalls)} uninstalled{mark} {end}"
            if plan.leftovers:
                yield f"next     {typed(f'trn sweep {self.stack} --delete')}"
            yield f"next     {typed(f'pulumi up --stack {self.stack}')}"

    def data(self, seen: Seen, report: Report) -> dict[str, Any]:
        """For `--json`."""
        return {"recovered": report.end in ("done", "nothing"), **plan_fields(seen.plan, orphans=self.orphans)}


# What is done


def actions_of(plan: Plan, stack: str, state: StateId) -> list[Action]:
    """Import while the operations still tell what to import, then clear them and read everything again.

    Source of the order: CLI 3.260, where `refresh --import-pending-creates` imports nothing, and `stack import` clears all operations.
    """
    new, in_place = ([item for item in plan.imports if item.in_place is there] for there in (False, True))
    runs = [
        *([PulumiRun(typed("pulumi import"), state, f"{len(new)} are there", partial(_import, stack, new))] if new else []),
        *(
            [PulumiRun(typed("pulumi stack import"), state, f"{len(in_place)} take a place", partial(_take, stack, in_place))]
            if in_place
            else []
        ),
        PulumiRun(typed("pulumi refresh"), state, "what has no end is cleared, all is read", partial(_refresh, stack)),
    ]
    return [*(_forget(item, *part) for item in plan.uninstalls for part in item.sighting.parts), *runs]


def _forget(item: Import, secret: str, uid: str, version: str) -> Action:
    """The objects of the release stay, and carry its annotations: the next installation takes them over (helm/helm
    pkg/action/validate.go, checkOwnership)."""
    namespace = item.sighting.id.partition("/")[0]

    def do(site: Site, which: Kube) -> Outcome:
        try:
            # Helm writes into it while it goes on.
            site.kubernetes().delete(SECRETS, secret, namespace, uid=which.uid, version=version)
        except Conflict:
            return Outcome("moved", (f"Secret {which.name} is not as it was a moment ago: Helm is at the release",))
        site.tell(f"deleted Secret {which.name}; the objects of the release stay, the next `{typed('pulumi up')}` takes them over")
        return Outcome("done")

    return Action("forget", Kube("Secret", f"{namespace}/{secret}", uid), f"{item.pending} was not installed to its end", do)


def _import(stack: str, items: Sequence[Import], site: Site, _: StateId) -> Outcome:
    return _with_file(import_file(items), lambda file: _run(site, stack, "import", "--file", file, *IMPORT_OPTIONS))


def _take(stack: str, items: Sequence[Import], site: Site, _: StateId) -> Outcome:
    document = json.loads(_answer(site.pulumi, stack, "stack", "export"))
    taken = {**document, "deployment": taken_over(document["deployment"], items)}
    return _with_file(taken, lambda file: _run(site, stack, "stack", "import", "--file", file))


def _refresh(stack: str, site: Site, _: StateId) -> Outcome:
    return _run(site, stack, "refresh", "--yes", "--clear-pending-creates")


def _with_file(content: Any, run: Any) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="trn-") as folder:
        file = Path(folder) / "import.json"
        file.write_text(json.dumps(content))
        return run(str(file))


def _run(site: Site, stack: str, *words: str) -> Outcome:
    code, printed = site.pulumi.run(("pulumi", *words, "--stack", stack), {})
    if code:
        refuse_misuse(stack, printed)
        return Outcome("held", ("Pulumi failed; what it printed last says why",))
    return Outcome("done")


# What Pulumi is asked


def exported(pulumi: Pulumi, stack: str) -> State:
    """The state as Pulumi keeps it; secrets stay encrypted. Raises CommandError."""
    return read_state(_answer(pulumi, stack, "stack", "export"))


def with_orphans(state: State, pulumi: Pulumi, stack: str) -> State:
    """The state with everything that the next run would make, as if its creation had begun. Raises CommandError.

    Resources whose identity depends on values that are known only after `up` are left out: a second run looks for them after the import.
    """
    # Of orphans it is not known when they were made, but for what they need.
    return replace(state, pending=read_preview(_answer(pulumi, stack, "preview", "--json")), saved="")


def _answer(pulumi: Pulumi, stack: str, *words: str) -> str:
    command = ("pulumi", *words, "--stack", stack)
    code, printed = pulumi.ask(command)
    if code:
        refuse_misuse(stack, printed)
        raise CommandError(f"`{' '.join(command)}` failed", "what it printed says why")
    return printed


# What is said


def plan_fields(plan: Plan, *, orphans: bool) -> dict[str, Any]:
    """A plan, by the fields of the report."""

    def found(items: tuple[Import, ...]) -> list[dict[str, str]]:
        return [{"urn": item.pending.urn, "id": item.sighting.id, "state": item.sighting.said} for item in items]

    return {
        "imports": found(plan.imports),
        "uninstalls": found(plan.uninstalls),
        "leftovers": found(plan.leftovers),
        "never_made": [] if orphans else [pending.urn for pending in plan.never_made],
        "settled": [pending.urn for pending in plan.settled],
        "refreshed": [pending.urn for pending in plan.refreshed],
        "unclear": [{"urn": item.pending.urn, "why": item.why, "do": item.do} for item in plan.unclear],
    }


def plan_lines(plan: Plan, *, orphans: bool) -> Iterator[str]:
    """What became of each operation without an end."""
    for item in plan.imports:
        note = f": it failed, and is imported so that `{typed('pulumi up')}` can replace it" if item.sighting.progress == "failed" else ""
        place = ": takes its place in the state, where a replacement had begun" if item.in_place else ""
        yield f"  import     {item.pending} {item.sighting.id}{place}{note}"
    for item in plan.uninstalls:
        yield f"  uninstall  {item.pending} {item.sighting.id} ({item.sighting.said})"
    for pending in () if orphans else plan.never_made:
        yield f"  never made {pending}"
    for pending in plan.settled:
        yield f"  in state   {pending}"
    for pending in plan.refreshed:
        yield f"  read again {pending} ({pending.doing})"
    for item in plan.leftovers:
        yield f"  left over  {item.pending} {item.sighting.id}: made before the one in the state"
    for item in plan.unclear:
        yield f"  unclear    {item.pending}: {item.why}\n             -> {item.do}"
