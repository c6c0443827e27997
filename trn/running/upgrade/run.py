"""The steps of an upgrade, one after the other: keys into the stack file, `pulumi up`, and a look at what EKS then has."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from trn.change.occupants import Occupants
from trn.change.ownership import Consent
from trn.cli.errors import MISUSE, CommandError
from trn.cli.watching import Watching
from trn.engine.pulumi import Pulumi
from trn.engine.recovery import refuse_misuse
from trn.engine.stack_edit import Edit
from trn.running.upgrade.steps import Group, Step
from trn.running.upgrade.timed import Timed

WAIT_S, LOOKS = 60, 7 * 24 * 60
"""Between two looks at jobs that are waited for, and how many: seven days."""


@dataclass(frozen=True)
class Ways:
    """What a run uses: each is a function, so that a run can be stopped and tried at every step."""

    pulumi: Callable[[], Pulumi]
    """Made anew for each step: the stack file has changed."""
    edit: Callable[[Sequence[Edit]], bool]
    """Sets keys of the stack file."""
    occupants: Callable[[Group], Occupants]
    """Jobs and pods on the nodes of a group."""
    show: Callable[[str, Occupants], None]
    verify: Callable[[Step], str]
    """What EKS does not have as the step should leave it; empty for nothing."""
    check: Callable[[], None]
    """Raises where the lock is lost, or the cluster is another one."""
    edited: Callable[[Sequence[Step]], Sequence[str]]
    """Keys of the stack file that are not as planned once these steps' keys are written, each with both values."""


@dataclass(frozen=True)
class Choices:
    """What the caller said in advance about jobs."""

    wait: bool
    interrupt: bool
    looks: int = LOOKS


@dataclass
class Outcome:
    """How far it came."""

    done: list[Step] = field(default_factory=list)
    stopped_at: Step | None = None
    why: str = ""


def run(
    stack: str, steps: Sequence[Timed], ways: Ways, choices: Choices, consent: Consent, watching: Watching, *, is_resumed: bool
) -> Outcome:
    """Walk the steps; the first that fails ends it, and another run goes on there.

    `is_resumed`: an earlier run may have changed what Pulumi's state does not know of, so that Pulumi looks again at what is there.
    Raises CommandError where jobs are in the way and nothing was said about them, and what `consent` raises.
    """
    outcome, is_stale, agreed = Outcome(), is_resumed, list[str]()
    for number, timed in enumerate(steps):
        step = timed.step
        if step.group is not None:
            _agree_to_roll(step.group, ways, choices, consent, watching)
        ways.check()
        edits = [line for line in ways.edited([each.step for each in steps[:number]]) if line not in agreed]
        _agree_to_edits(edits, step, consent, watching)
        agreed += edits
        watching.tell(f"step {number + 1} of {len(steps)}: {step.title}")
        ways.edit(step.edits)
        code, printed = ways.pulumi().run(up_command(stack, timed.targets, refresh=is_stale), {})
        # With targets it looks again at those alone.
        is_stale = is_stale and bool(timed.targets)
        if code:
            refuse_misuse(stack, printed)
        wrong = "what Pulumi printed says why" if code else ways.verify(step)
        if wrong:
            outcome.stopped_at, outcome.why = step, wrong
            return outcome
        outcome.done.append(step)
    return outcome


def up_command(stack: str, targets: Sequence[str], *, refresh: bool) -> tuple[str, ...]:
    """`pulumi up` of a step, for all resources or for those that it names."""
    named = tuple(word for urn in targets for word in ("--target", urn))
    return ("pulumi", "up", "--yes", "--skip-preview", *(("--refresh",) if refresh else ()), *named, "--stack", stack)


def _agree_to_edits(changed: Sequence[str], step: Step, consent: Consent, watching: Watching) -> None:
    """What was edited since the plan was shown would be carried out along with the step: named, and asked about."""
    if not changed:
        return
    for line in changed:
        watching.tell(f"the stack file has been edited since the plan was shown: {line}")
    if consent.yes:
        hint = "take the edits back, or run `pulumi up` for them first; then run this again"
        raise CommandError(f"{step.title} would carry out edits that were not planned: {'; '.join(changed)}", hint)
    consent.confirm(f"Carry out {'this edit' if len(changed) == 1 else 'these edits'} along with {step.title}?")


def _agree_to_roll(group: Group, ways: Ways, choices: Choices, consent: Consent, watching: Watching) -> None:
    """Nodes with jobs are rolled only once the jobs have ended, or the caller has said so of these jobs."""
    there = ways.occupants(group)
    if not there.jobs:
        return
    ways.show(group.name, there)
    if choices.wait:
        watching.tell(f"waiting for {there.counts} on {group.name} to end")
    for _ in range(choices.looks if choices.wait else 0):
        watching.pause(WAIT_S)
        there = ways.occupants(group)
        if not there.jobs:
            return
    named = ", ".join(row.name for row in there.jobs)
    if choices.wait:
        raise CommandError(
            f"jobs still run on {group.name}: {named}", "run it again with --wait, or with --interrupt once their teams agree"
        )
    if choices.interrupt:
        watching.tell(f"{group.name} is rolled though {named} runs there: --interrupt")
        return
    if consent.yes:
        hint = "add --wait to wait for their end, or --interrupt once their teams agree; docs/upgrade.md has the way with `trn roll`"
        raise CommandError(f"jobs run on {group.name}: {named}; --yes alone does not stop them", hint, code=MISUSE)
    consent.confirm(f"Roll the nodes of {group.name}, and interrupt {there.counts}: {named}?")
