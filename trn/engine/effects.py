"""What a plan does, in classes that a policy can allow or refuse."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from facts.resources import amp, logs
from simulator import latencies
from simulator.account import kinds
from simulator.account.charts import chart_of
from simulator.account.rules.capacity import rolls
from simulator.account.state import AccountState
from simulator.engine.change import Caution, NodeEffect, cautions_of, node_effects, refused_by_eks
from simulator.engine.permanent import refused_by_program
from simulator.engine.plan import Change
from simulator.errors import UnknownLatency
from simulator.recording import Registration, exists_in_cloud
from trn.engine.planned import Planned

Class = Literal["safe", "restarts", "jobs", "data", "final"]
"""safe: nothing stops. restarts: nodes are replaced, rolled or removed. jobs: training stops. data: something that holds data is
deleted. final: cannot be taken back."""
CLASSES: tuple[Class, ...] = get_args(Class)
HOLD_DATA: Mapping[str, str] = {
    kinds.KEY: "what it encrypts can never be read again",
    logs.LOG_GROUP.token: "its logs go with it",
    amp.WORKSPACE.token: "its metrics go with it",
}
"""Types beside file systems, volumes and claims whose end loses something, and what."""
_OF_TYPE: Mapping[str, Class] = {
    kinds.FILE_SYSTEM: "data",
    kinds.VOLUME: "data",
    kinds.CLAIM: "data",
    kinds.NODE_GROUP: "restarts",
    kinds.NODE_POOL: "restarts",
    kinds.NAMESPACE: "jobs",
    kinds.RELEASE: "jobs",
}


@dataclass(frozen=True)
class Effect:
    """What one step of the plan does."""

    urn: str
    type: str
    name: str
    object_name: str
    """Of the object in AWS or Kubernetes, by which nodes and pods refer to it."""
    operation: str
    """`create`, `update`, `replace` or `delete`."""
    classes: frozenset[Class]
    texts: tuple[str, ...]
    """What to know; empty where there is nothing but the step itself."""
    because: tuple[str, ...]
    """Inputs that force a replacement, or those that differ."""
    nodes: tuple[NodeEffect, ...] = ()
    rolls: bool = False
    """It replaces whatever nodes a group has: an autoscaler, a schedule or `trn scale` may have given it some that the state does not know."""
    namespace: str = ""
    """Of an object in Kubernetes."""
    object_kinds: tuple[str, ...] = ()
    """Kinds, as `group/Kind`, whose objects go with it."""


def effects(planned: Planned, seed: int = 0) -> list[Effect]:
    """Each step that touches something outside the engine, by URN."""
    state = AccountState()
    for registration in planned.before.resources():
        state.put(registration)
    refusals = _refused(planned)
    return [_effect(state, change, refusals, seed) for change in planned.changes.values() if exists_in_cloud(change.registration)]


def _refused(planned: Planned) -> list[Caution]:
    """What the program refuses of a cluster that is there, in its own words; what EKS would, for a state of an earlier version."""
    found = list[Caution]()
    for holder, parts in refused_by_program(planned.before, planned.after).items():
        below = planned.before.descendants(holder)
        clusters = (urn for urn in below if planned.before.registrations[urn].type == kinds.CLUSTER)
        found += [Caution("red", urn, str(part)) for urn in clusters for part in parts]
    return found or refused_by_eks(planned.before, planned.after, planned.changes)


def _effect(state: AccountState, change: Change, refusals: Sequence[Caution], seed: int) -> Effect:
    item, gone = change.registration, change.kind in ("replace", "delete")
    cautions = [*cautions_of(state, change), *(caution for caution in refusals if caution.urn == item.urn)]
    nodes = list(node_effects(state, change, seed))
    texts = [caution.text for caution in cautions]
    found: set[Class] = set()
    if gone and item.type in HOLD_DATA:
        found.add("data")
        texts.append(
            f"{item.type.rpartition(':')[2]} {change.old.id if change.old else item.name} is {_word(change)}: {HOLD_DATA[item.type]}"
        )
    if item.type == kinds.CLUSTER and cautions:
        found |= {"data", "jobs", "restarts", "final"} if gone else {"final"}
    elif cautions and item.type in _OF_TYPE and (gone or item.type in (kinds.NODE_GROUP, kinds.NODE_POOL)):
        found.add(_OF_TYPE[item.type])
    is_rolled = (
        item.type == kinds.NODE_GROUP and change.old is not None and (gone or (change.new is not None and rolls(change.old, change.new)))
    )
    if is_rolled and not cautions and "scalingConfig.desiredSize" in (item.options.get("ignoreChanges") or ()):
        found.add("restarts")
        texts.append(
            f"node group {_object_name(change.old or item)} has no nodes in the state, and its size is set elsewhere: any that it has go"
        )
    because = change.because or change.changed
    return Effect(
        item.urn,
        item.type,
        item.name,
        _object_name(change.old or item),
        change.kind,
        frozenset(found or {"safe"}),
        tuple(texts),
        because,
        tuple(nodes),
        is_rolled,
        str(((change.old or item).inputs.get("metadata") or {}).get("namespace") or ""),
        _kinds_gone(change.old) if gone and change.old is not None else (),
    )


def _kinds_gone(old: Registration) -> tuple[str, ...]:
    chart = chart_of(old)
    return tuple(chart.kinds) if chart is not None else ()


def _object_name(item: Registration) -> str:
    if item.type == kinds.NODE_GROUP:
        return str(item.inputs["nodeGroupName"])
    return str((item.inputs.get("metadata") or {}).get("name") or item.id)


def _word(change: Change) -> str:
    return "deleted" if change.kind == "delete" else "replaced"


def refused(classes: Iterable[Class], allowed: Sequence[str]) -> list[Class]:
    """Classes of a plan that a policy does not allow, in the order of CLASSES."""
    found = set(classes)
    return [name for name in CLASSES if name in found and name != "safe" and name not in allowed]


def lower_bound_s(planned: Planned, seed: int = 0) -> float:
    """Seconds that the plan takes at least: the longest chain of steps that need one another, each as long as in a rehearsal."""
    ends: dict[str, float] = {}
    deletions = [change for change in planned.changes.values() if change.kind in ("replace", "delete")]
    for urn in _in_order(planned):
        change = planned.changes[urn]
        if change.kind != "delete":
            needs = planned.changes[urn].registration.dependencies
            ends[urn] = max((ends.get(need, 0.0) for need in needs), default=0.0) + _seconds(change, seed)
    made = max(ends.values(), default=0.0)
    return round(made + _deleting(deletions, seed), 1)


def _seconds(change: Change, seed: int) -> float:
    item = change.registration
    if not exists_in_cloud(item):
        return 0.0
    if change.kind == "update" and change.old is not None and change.new is not None:
        return latencies.update_seconds(change.old, change.new, seed)
    return _known(item, "create", seed)


def _known(item: Registration, operation: str, seed: int) -> float:
    """Nothing for a type that only the user's own program has."""
    try:
        return latencies.seconds(item, operation, seed)
    except UnknownLatency:
        return 0.0


def _deleting(changes: Sequence[Change], seed: int) -> float:
    """Deletions come after all that is made, what is needed last."""
    items = {change.old.urn: change.old for change in changes if change.old is not None and exists_in_cloud(change.old)}
    starts: dict[str, float] = {}

    def end(urn: str) -> float:
        if urn not in starts:
            users = [other.urn for other in items.values() if urn in other.dependencies]
            starts[urn] = max((end(user) for user in users), default=0.0)
        return starts[urn] + _known(items[urn], "delete", seed)

    return max((end(urn) for urn in items), default=0.0)


def _in_order(planned: Planned) -> Iterator[str]:
    """URNs of changes, each after those that it needs."""
    done: set[str] = set()

    def visit(urn: str) -> Iterator[str]:
        if urn in done:
            return
        done.add(urn)
        for need in sorted(planned.changes[urn].registration.dependencies):
            if need in planned.changes:
                yield from visit(need)
        yield urn

    for urn in planned.changes:
        yield from visit(urn)
