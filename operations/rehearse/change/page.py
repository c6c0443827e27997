"""The page of a rehearsed change: up, the change, destroy, each as a run with its timeline."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from operations.program import rehearse_stack
from operations.stack_file import StackFile
from operations.text_files import write_text
from simulator.engine.change import Changed
from simulator.engine.plan import Change
from simulator.engine.run import OLD
from simulator.engine.schedule import critical_steps
from simulator.report.assemble import both, cost_points, ending, times
from simulator.report.drawing.page import page_html
from simulator.report.drawing.runs import ChangeRun, Run, Step
from simulator.report.labels import shown, telling_inputs


def write_page(changed: Changed, before: StackFile, after: StackFile, words: str, seed: int, path: Path) -> None:
    """Write index.html: the cluster is made as it was, changed, and destroyed. Raises CommandError."""
    first, last = rehearse_stack(before, seed=seed, recording=changed.before), rehearse_stack(after, seed=seed, recording=changed.after)
    report = first.report.model_copy(update={"destroy": last.report.destroy, "destroy_reruns": last.report.destroy_reruns})
    write_text(path, page_html(report, last.recording, change_run(changed, words)), "name a folder with --output")


def change_run(changed: Changed, words: str) -> ChangeRun:
    """The change as pictures show it."""
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
        before=[f"pulumi up, with {words}"],
        steps=steps,
        critical=frozenset((step.urn, step.operation) for step in critical_steps(phase)),
        cost=cost_points(graph, phase),
        kept=sum(1 for change in changed.changes.values() if change.kind == "same" and change.registration.custom),
    )
    return ChangeRun(words, [run], [caution.text for caution in changed.cautions if caution.severity == "red"])


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
