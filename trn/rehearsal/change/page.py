"""The page of a rehearsed change: up, the change, destroy, each as a run with its timeline."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from report.change import ChangeRun, NodesTouched, Side, Touched
from report.inventory import Inventory
from report.page import page_html
from report.runs import Run, Step
from simulator.engine.change import Changed, NodeEffect
from simulator.engine.plan import Change
from simulator.engine.schedule import critical_steps
from simulator.engine.state import OLD
from simulator.rehearsal import Rehearsal
from simulator.report.assemble import both, cost_points, ending, times
from simulator.report.labels import shown, telling_inputs
from simulator.report.words import duration, plural
from trn.cli.text_files import write_text
from trn.engine.program import rehearse_stack
from trn.engine.stack_file import StackFile


def write_page(changed: Changed, before: StackFile, after: StackFile, words: str, seed: int, path: Path) -> None:
    """Write index.html: the change, and the cluster that it is tried on, made as it was and destroyed as it is then. Raises CommandError."""
    first, last = rehearse_stack(before, seed=seed, recording=changed.before), rehearse_stack(after, seed=seed, recording=changed.after)
    # The bill is that of the cluster after the change.
    report = last.report.model_copy(update={"up": first.report.up, "reruns": first.report.reruns, "problems": first.report.problems})
    page = page_html(report, last.recording, change_run(changed, words, (first, last)))
    write_text(path, page, "name a folder with --output")


def change_run(changed: Changed, words: str, sides: tuple[Rehearsal, Rehearsal] | None = None) -> ChangeRun:
    """The change as its page shows it; `sides` are the cluster before and after, each made from nothing."""
    phase, graph = changed.phase, both(changed.before, changed.after)
    touched = {change.registration.urn for change in changed.touched}
    steps = []
    for key in sorted(phase.order, key=lambda key: (phase.steps[key].start, key)):
        if phase.steps[key].urn in touched:
            timed = times(graph, phase, key)
            change = changed.changes[timed["urn"]]
            steps.append(Step(**timed, operation=phase.steps[key].operation, inputs=_inputs(change, key)))
    run = Run(
        title="change",
        phase="change",
        seconds=phase.seconds,
        ended=ending(phase),
        before=[],
        steps=steps,
        critical=frozenset((step.urn, step.operation) for step in critical_steps(phase)),
        cost=cost_points(changed.after, phase, changed.before),
        kept=sum(1 for change in changed.changes.values() if change.kind == "same" and change.registration.custom),
    )
    return ChangeRun(
        words,
        [run],
        losses=[caution.text for caution in changed.cautions if caution.severity == "red"],
        cautions=[caution.text for caution in changed.cautions if caution.severity == "amber"],
        touched=[_touched(change, steps) for change in changed.touched],
        nodes=[_nodes(effect) for effect in changed.nodes if effect.kind != "stays" and effect.nodes],
        sides=(_side(sides[0]), _side(sides[1])) if sides is not None else None,
    )


def _touched(change: Change, steps: Sequence[Step]) -> Touched:
    item = change.registration
    assert change.kind != "same"
    seconds = sum(step.seconds for step in steps if step.urn == item.urn)
    is_first = change.kind == "replace" and change.delete_first
    return Touched(change.kind, item.type, item.name, change.because or change.changed, is_first, seconds)


def _nodes(effect: NodeEffect) -> NodesTouched:
    extra = f", {plural(effect.extra, 'node')} more needed meanwhile" if effect.extra else ""
    words = f"{plural(effect.nodes, 'node')} {effect.kind} in {duration(effect.seconds)}{extra}"
    stops = effect.neuron and effect.nodes > 0 and effect.kind in ("rolled", "replaced", "removed")
    return NodesTouched(effect.group, words, stops)


def _side(rehearsal: Rehearsal) -> Side:
    """Times of all runs together, as the page of the stack itself has them."""
    report = rehearsal.report
    return Side(
        Inventory(rehearsal.recording).node_counts(),
        report.cost,
        sum(run.seconds for run in (report.up, *report.reruns)),
        sum(run.seconds for run in (report.destroy, *report.destroy_reruns)),
    )


def _inputs(change: Change, key: str) -> dict[str, str]:
    """Of an update what differs, old and new; of anything else what identifies it."""
    if change.kind != "update" or key.endswith(OLD) or change.old is None or change.new is None:
        registration = change.old if key.endswith(OLD) else change.new or change.old
        return telling_inputs(registration) if registration is not None else {}
    return {path: f"{shown(_at(change.old.inputs, path))} → {shown(_at(change.new.inputs, path))}" for path in change.changed}


def _at(inputs: Any, path: str) -> Any:
    value = inputs
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
