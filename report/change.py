"""What a change comes to, at the head of its page: what is replaced, which jobs stop, time and cost before and after."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from report.runs import Run
from report.tables import prose, table, tile, type_cell
from report.text import escaped
from simulator.cost_figures import Figures
from simulator.report.words import duration, plural

KINDS = ("replace", "delete", "update", "create")
"""What can be done to a resource, worst first."""
_DONE = {"replace": "replaced", "delete": "deleted", "update": "updated", "create": "created"}
MOST_TOUCHED = 12
"""Resources that are seen before the list is unfolded."""


@dataclass(frozen=True)
class Touched:
    """A resource that the change does something to."""

    kind: Literal["create", "update", "replace", "delete"]
    type: str
    name: str
    why: Sequence[str]
    """Dotted paths of inputs: of a replacement those that force it, of an update those that differ."""
    delete_first: bool = False
    seconds: float = 0.0
    """How long its steps take."""


@dataclass(frozen=True)
class NodesTouched:
    """What it does to the nodes of one group."""

    group: str
    words: str
    """`2 nodes replaced in 14 min 53 s`."""
    stops_jobs: bool


@dataclass(frozen=True)
class Side:
    """The cluster on one side of the change."""

    nodes: Mapping[str, int]
    """By instance type."""
    cost: Figures
    ready_s: float
    """Time to ready, from nothing."""
    destroy_s: float


@dataclass(frozen=True)
class ChangeRun:
    """A change of a running cluster, as the page shows it."""

    words: str
    """What is changed."""
    runs: Sequence[Run]
    """The first, and those after its failures."""
    losses: Sequence[str] = ()
    """What running jobs and stored data lose by it, in sentences."""
    cautions: Sequence[str] = ()
    """What else a reader must know before it is run."""
    touched: Sequence[Touched] = ()
    nodes: Sequence[NodesTouched] = ()
    sides: tuple[Side, Side] | None = None
    """Before and after; None where they were not rehearsed."""


def change_section(change: ChangeRun) -> str:
    """The head of the page of a change."""
    seconds = sum(run.seconds for run in change.runs)
    stopping = [nodes for nodes in change.nodes if nodes.stops_jobs]
    failed = any(run.failed for run in change.runs)
    figures = [
        tile("Takes", duration(seconds), "not done: see below" if failed else "of virtual time", bad=failed),
        tile("Resources", *_counted(change.touched)),
        tile("Jobs", *_jobs(stopping, change.losses), bad=bool(stopping or change.losses)),
        tile("Costs meanwhile", f"USD {sum(run.cost[-1].usd for run in change.runs if run.cost):,.2f}", _rates(change)),
    ]
    return (
        f'<section class="change" aria-label="The change"><div class="figures">{"".join(figures)}</div>'
        f"{_sentences('It deletes or interrupts', change.losses, 'trouble')}{_sentences('Know before', change.cautions, 'trouble calm')}"
        f'<div class="columns"><div>{_nodes(change.nodes)}{_list(change.touched)}</div>{_sides(change.sides)}</div></section>'
    )


def _counted(touched: Sequence[Touched]) -> tuple[str, str]:
    """The worst that happens to resources, and the rest."""
    counts = [(sum(1 for item in touched if item.kind == kind), kind) for kind in KINDS]
    said = [f"{count} {_DONE[kind]}" for count, kind in counts if count]
    return (said[0], ", ".join(said[1:]) or "no other is touched") if said else ("none touched", "nothing changes")


def _jobs(stopping: Sequence[NodesTouched], losses: Sequence[str]) -> tuple[str, str]:
    if stopping:
        return "stop", f"on {', '.join(nodes.group for nodes in stopping)}"
    return ("at risk", "read what it deletes or interrupts") if losses else ("go on", "no node with Neuron devices stops")


def _rates(change: ChangeRun) -> str:
    if change.sides is None:
        return "at the higher of both rates"
    before, after = change.sides
    return f"{before.cost.now.words()} an hour before, {after.cost.now.words()} after"


def _sentences(heading: str, sentences: Sequence[str], style: str) -> str:
    if not sentences:
        return ""
    bad = "" if "calm" in style else ' class="bad"'
    items = "".join(f"<li{bad}>{prose(sentence)}</li>" for sentence in sentences)
    return f'<article class="{style}"><h3>{heading}</h3><ul>{items}</ul></article>'


def _nodes(nodes: Sequence[NodesTouched]) -> str:
    if not nodes:
        return ""
    rows = [[escaped(item.group), escaped(item.words), '<span class="bad">stop</span>' if item.stops_jobs else "go on"] for item in nodes]
    return f"<h2>Nodes</h2>{table(('Node group', 'What happens', 'Jobs on it'), rows)}"


def _sides(sides: tuple[Side, Side] | None) -> str:
    """Both sides in a table; what differs is marked, since most does not."""
    if sides is None:
        return ""
    before, after = sides
    names = list(dict.fromkeys([*before.nodes, *after.nodes]))
    pairs = [(f"Nodes {name}", *(str(side.nodes.get(name, 0)) for side in sides)) for name in names]
    pairs += [
        ("Now, USD an hour", *(side.cost.now.words() for side in sides)),
        ("At full size, USD an hour", *(side.cost.full_size.words() for side in sides)),
        ("Idle, USD an hour", *(side.cost.idle.words() for side in sides)),
        ("Time to ready", duration(before.ready_s), duration(after.ready_s)),
        ("Time to destroy", duration(before.destroy_s), duration(after.destroy_s)),
    ]
    rows = [[escaped(name), escaped(old), f"<b>{escaped(new)}</b>" if new != old else escaped(new)] for name, old, new in pairs]
    return f"<div><h2>Before and after</h2>{table(('', 'Before', 'After'), rows, numbers=(1, 2))}</div>"


def _list(touched: Sequence[Touched]) -> str:
    """Every resource that is touched, the worst first, and of these the longest."""
    if not touched:
        return ""
    ordered = sorted(touched, key=lambda item: (KINDS.index(item.kind), -item.seconds, item.type, item.name))
    rows = [
        [
            f'<span class="done{" bad" if item.kind in ("replace", "delete") else ""}">{_DONE[item.kind]}</span>',
            f"{escaped(item.name)} {type_cell(item.type)}",
            ", ".join(f"<code>{escaped(path)}</code>" for path in item.why) + (", the old one first" if item.delete_first else ""),
        ]
        for item in ordered
    ]
    heads = ("", "Resource", "Because of")
    folded = rows[MOST_TOUCHED:]
    rest = f'<details class="fold"><summary>{len(folded)} more</summary>{table(heads, folded)}</details>' if folded else ""
    return f"<h2>{plural(len(touched), 'resource')} touched</h2>{table(heads, rows[:MOST_TOUCHED])}{rest}"
