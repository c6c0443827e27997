"""A rehearsed change in the classes of `trn plan`: what a pull request may do, as a comment and as an exit code."""

from collections.abc import Sequence

from simulator.engine.change import Changed
from trn.change.plan.report import Report, classes_in, markdown
from trn.engine.effects import effects, refused
from trn.engine.planned import Planned

UNSEEN = "a rehearsal has no jobs; whoever trains on nodes that go loses what came after the last checkpoint"


def judged(changed: Changed, stack: str, allowed: Sequence[str]) -> Report:
    """The change, with what the policy does not allow. Neuron nodes that go count as jobs that stop; what the program refuses is final."""
    touched = {change.registration.urn: change for change in changed.touched}
    found = effects(Planned(changed.before, changed.after, touched))
    classes = classes_in(found, {})
    if any(item.neuron and item.kind in ("rolled", "replaced", "removed") and item.nodes for item in changed.nodes):
        classes.add("jobs")
    unseen = UNSEEN if "restarts" in classes else ""
    return Report(stack, found, {}, changed.phase.seconds, changed.cost, refused(classes, allowed), unseen, allowed)


def comment(verdict: Report, changed: Changed) -> str:
    """For a pull request; what is refused is said first."""
    reasons = [str(step.refusal) for step in changed.phase.errors if step.refusal is not None]
    said = "".join(f"**The change is refused.** {' '.join(reason.split())}\n\n" for reason in reasons)
    return said + markdown(verdict)
