"""What a change of a running cluster comes to: each resource, the nodes that stop, what it costs, and what would be lost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from facts.kubernetes_versions import minors_behind
from facts.neuron_releases import NEURON_AMI_TYPE
from facts.typed import typed
from simulator import costs, latencies
from simulator.account import kinds, view
from simulator.account.allowances import Allowances
from simulator.account.faults import Faults
from simulator.account.objects import Stray
from simulator.account.rules.capacity import surge
from simulator.account.state import AccountState
from simulator.account.world import World
from simulator.cost_figures import Figures
from simulator.engine.order import DEFAULT_PARALLEL
from simulator.engine.permanent import refused_by_program, refused_changes
from simulator.engine.plan import Change, plan
from simulator.engine.run import Engine, Phase
from simulator.engine.state import State
from simulator.recording import Recording, Registration, exists_in_cloud

_SIZE = "scalingConfig.desiredSize"
Severity = Literal["red", "amber"]
"""Red: running jobs or data would go. Amber: something stops for a while and comes back as it was, or something is left behind."""


@dataclass(frozen=True)
class Caution:
    """A warning to read before the change is run."""

    severity: Severity
    urn: str
    text: str


@dataclass(frozen=True)
class NodeEffect:
    """What a change does to the nodes of one group."""

    group: str
    kind: Literal["rolled", "replaced", "added", "removed", "stays"]
    nodes: int
    """Nodes that it is done to."""
    seconds: float
    """Virtual time that it takes."""
    extra: int
    """Nodes that must be had beside those of the group meanwhile."""
    neuron: bool


@dataclass(frozen=True)
class Changed:
    """A rehearsed change."""

    before: Recording
    after: Recording
    changes: Mapping[str, Change]
    phase: Phase
    nodes: Sequence[NodeEffect]
    cautions: Sequence[Caution]
    cost: tuple[Figures, Figures]
    """Before and after."""

    @property
    def touched(self) -> list[Change]:
        """Changes of what exists outside the engine, by URN."""
        return [change for change in self.changes.values() if change.kind != "same" and exists_in_cloud(change.registration)]


def rehearse_change(
    before: Recording,
    after: Recording,
    *,
    seed: int,
    allowances: Allowances | None = None,
    faults: Faults | None = None,
    parallel: int = DEFAULT_PARALLEL,
    account: AccountState | None = None,
) -> Changed:
    """Bring one up, and change it to the other. `account`: what there is before the program; nothing unless given.

    Where the program itself refuses the change, nothing is touched, and the cautions say why.
    """
    engine = Engine(World(account or AccountState(allowances or Allowances())), State(), seed, parallel)
    engine.up(before)
    engine.world.faults = faults or Faults()
    changes = plan(engine.state, after, creations=engine.world.state.creations, seed=seed)
    account = engine.world.state
    refused = refused_by_program(engine.state.recording(), after)
    if refused:
        changes, nodes = {}, []
        cautions = [Caution("red", urn, str(part)) for urn, parts in refused.items() for part in parts]
    else:
        nodes = [effect for change in changes.values() for effect in node_effects(account, change, seed)]
        cautions = [caution for change in changes.values() for caution in cautions_of(account, change)]
        cautions += refused_by_eks(before, after, changes)
    standing = set(engine.world.state.strays)
    phase = engine.up(after)
    cautions += _left_behind([stray for name, stray in engine.world.state.strays.items() if name not in standing])
    rates = (costs.figures(costs.items(before)), costs.figures(costs.items(before if refused else after)))
    return Changed(before, after, changes, phase, nodes, sorted(cautions, key=lambda item: (item.severity != "red", item.urn)), rates)


def refused_by_eks(before: Recording, after: Recording, changes: Mapping[str, Change]) -> list[Caution]:
    """A warning for each change of a cluster that EKS refuses."""
    return [Caution("red", urn, text) for urn, texts in refused_changes(before, after, changes).items() for text in texts]


def _left_behind(strays: Sequence[Stray]) -> Iterator[Caution]:
    """What a change leaves in the cluster or the account, once for each resource and each command that removes it."""
    ways = sorted({(stray.urn, stray.remove) for stray in strays})
    for urn, remove in ways:
        left = [stray for stray in strays if (stray.urn, stray.remove) == (urn, remove)]
        more = f" and {len(left) - 1} more of its kind" if len(left) > 1 else ""
        end = f"; `{remove}` deletes it, with all its objects" if remove else "; it is deleted with the cluster"
        yield Caution("amber", urn, f"left behind: {left[0].what}{more}{end}")


def node_effects(state: AccountState, change: Change, seed: int) -> Iterator[NodeEffect]:
    """What a change does to the nodes of a group, in an account as it is before the change; nothing for what is no node group."""
    old, new = change.old, change.new
    group = new or old
    if group is None or group.type != kinds.NODE_GROUP or change.kind == "same":
        return
    name, neuron = str(group.inputs["nodeGroupName"]), group.inputs.get("amiType") == NEURON_AMI_TYPE
    sizes = [view.desired_size(item) if item is not None else 0 for item in (old, new)]
    if change.kind in ("replace", "delete") and old is not None:
        seconds = latencies.seconds(old, "delete", seed) + (latencies.seconds(new, "create", seed) if new is not None else 0.0)
        yield NodeEffect(name, "replaced" if new is not None else "removed", sizes[0], round(seconds, 1), 0, neuron)
    elif change.kind == "create" and new is not None:
        yield NodeEffect(name, "added", sizes[1], latencies.seconds(new, "create", seed), 0, neuron)
    elif old is not None and new is not None:
        seconds, rolled = latencies.update_seconds(old, new, seed), latencies.rolled_nodes(old, new)
        if rolled:
            yield NodeEffect(name, "rolled", rolled, seconds, surge(state, old, new), neuron)
        elif sizes[0] != sizes[1]:
            yield NodeEffect(name, "added" if sizes[1] > sizes[0] else "removed", abs(sizes[1] - sizes[0]), seconds, 0, neuron)
        else:
            yield NodeEffect(name, "stays", sizes[1], seconds, 0, neuron)


def cautions_of(state: AccountState, change: Change) -> Iterator[Caution]:
    """What to know before a change is run, in an account as it is before it."""
    old = change.old
    if old is None or change.kind in ("same", "create") or not exists_in_cloud(old):
        return
    gone = change.kind in ("replace", "delete")
    of_type = _CAUTIONS.get(old.type)
    if of_type is not None:
        yield from of_type(state, change, old, gone)


def _file_system(_state: AccountState, change: Change, old: Registration, gone: bool) -> Iterator[Caution]:
    if not gone:
        slow = [key for key in change.changed if key in ("storageCapacity", "perUnitStorageThroughput")]
        if slow:
            yield Caution(
                "amber", old.urn, f"file system {old.id} changes in place: {', '.join(slow)}; mounts stay, and are slower meanwhile"
            )
        return
    saved = "a final backup is taken" if old.inputs.get("skipFinalBackup") is False else "no final backup is taken, its data is lost"
    why = f" ({', '.join(change.because)})" if change.because else ""
    yield Caution("red", old.urn, f"file system {old.id} is {_word(change)}{why}: {saved}")


def _group(state: AccountState, change: Change, old: Registration, gone: bool) -> Iterator[Caution]:
    name, size = old.inputs["nodeGroupName"], view.desired_size(old)
    neuron = old.inputs.get("amiType") == NEURON_AMI_TYPE
    severity: Severity = "red" if neuron else "amber"
    stops = "jobs on them stop" if neuron else "their pods move"
    limits = not gone and any(path.startswith("scalingConfig.") for path in change.changed)
    if limits and change.new is not None and _SIZE in (change.new.options.get("ignoreChanges") or ()):
        # hashicorp/terraform-provider-aws internal/service/eks/node_group.go, Update: limits and size are sent together.
        sent = f"with its new limits EKS gets the size that Pulumi knows, {view.desired_size(change.new)} nodes"
        do = f"`{typed('pulumi up --refresh')}` reads the size first"
        yield Caution(severity, old.urn, f"node group {name} is autoscaled, and {sent}: of more nodes the others go, {stops}; {do}")
    if not size:
        return
    if gone:
        why = f" ({', '.join(change.because)})" if change.because else ""
        yield Caution(severity, old.urn, f"node group {name} is {_word(change)}{why}: all {size} nodes go at once, {stops}")
        return
    assert change.new is not None
    rolled, fewer = latencies.rolled_nodes(old, change.new), size - view.desired_size(change.new)
    if rolled and old.inputs.get("capacityType") == "CAPACITY_BLOCK":
        empty = f"set `nodeGroups.{name}.size: 0` and run `{typed('pulumi up')}` first"
        yield Caution("amber", old.urn, f"node group {name} is on a capacity block, whose update must find it empty: {empty}")
    elif rolled:
        extra = surge(state, old, change.new)
        how = f"with {extra} more launched first" if extra else "each before its successor is there"
        yield Caution(severity, old.urn, f"node group {name} rolls its {rolled} nodes one after the other, {how}: {stops}")
    elif fewer > 0:
        yield Caution(severity, old.urn, f"node group {name} loses {fewer} of {size} nodes, {stops}")


def _cluster(_state: AccountState, change: Change, old: Registration, gone: bool) -> Iterator[Caution]:
    if gone:
        why = f" ({', '.join(change.because)})" if change.because else ""
        yield Caution("red", old.urn, f"the control plane is {_word(change)}{why}: all that runs in the cluster is lost")
    elif "version" in change.changed:
        before, after = str(old.inputs.get("version") or ""), str(change.new.inputs.get("version") or "") if change.new is not None else ""
        if before and after and minors_behind(after, before) < 0:
            key = f'`controlPlane.kubernetesVersion: "{before}"`'
            wrong = (
                f"EKS takes no control plane from {before} back to {after}: set {key}, without which a stack is of the program's default"
            )
            yield Caution("red", old.urn, wrong)
        else:
            yield Caution("amber", old.urn, "the control plane is upgraded; it cannot be taken back")


def _volume(_state: AccountState, change: Change, old: Registration, gone: bool) -> Iterator[Caution]:
    if gone:
        yield Caution("red", old.urn, f"{old.type.rsplit(':', 1)[-1]} {old.id} is {_word(change)}: pods that mount it must end first")


def _namespace(state: AccountState, change: Change, old: Registration, gone: bool) -> Iterator[Caution]:
    if not gone:
        return
    name = old.inputs["metadata"]["name"]
    if view.is_of_addon(state, name):
        yield Caution("amber", old.urn, f"namespace {name} is {_word(change)} with its add-on, and everything else in it")
    else:
        yield Caution("red", old.urn, f"namespace {name} is {_word(change)}: all jobs in it are deleted")


def _release(_state: AccountState, change: Change, old: Registration, gone: bool) -> Iterator[Caution]:
    from simulator.account.charts import chart_of

    chart = chart_of(old)
    if gone and chart is not None and chart.kinds:
        kind_names = ", ".join(sorted({kind.split("/")[1] for kind in chart.kinds})[:4])
        yield Caution("red", old.urn, f"release {old.id} is {_word(change)}, and with it every {kind_names} in the cluster")


def _node_pool(_state: AccountState, change: Change, old: Registration, gone: bool) -> Iterator[Caution]:
    if gone:
        name, template = old.inputs["metadata"]["name"], old.inputs["spec"]["template"]["spec"]
        severity, stops = ("red", "jobs on them stop") if template.get("taints") else ("amber", "their pods move")
        why = f" ({', '.join(change.because)})" if change.because else ""
        yield Caution(severity, old.urn, f"Karpenter pool {name} is {_word(change)}{why}: its nodes are drained, {stops}")


def _node_class(state: AccountState, change: Change, old: Registration, _gone: bool) -> Iterator[Caution]:
    """Pools whose budget lets no node go for drift keep their nodes as they are (Karpenter 1.14, disruption budgets)."""
    name = old.inputs["metadata"]["name"]
    for item in state.existing(kinds.NODE_POOL) if any(path.startswith("spec") for path in change.changed) else ():
        pool = item.registration.inputs
        budgets = pool["spec"].get("disruption", {}).get("budgets", ())
        kept = any(budget["nodes"] == "0" and "Drifted" in budget.get("reasons", ["Drifted"]) for budget in budgets)
        if kept and pool["spec"]["template"]["spec"]["nodeClassRef"]["name"] == name:
            label = f"karpenter.sh/nodepool={pool['metadata']['name']}"
            yield Caution(
                "amber",
                old.urn,
                f"nodes of Karpenter pool {pool['metadata']['name']} that run stay as they are; `kubectl get nodeclaims -l {label}`, then"
                " `kubectl delete nodeclaim NAME` one at a time replaces them: its jobs stop",
            )


def _word(change: Change) -> str:
    return "deleted" if change.kind == "delete" else "replaced"


_CAUTIONS: Mapping[str, Any] = {
    kinds.FILE_SYSTEM: _file_system,
    kinds.NODE_GROUP: _group,
    kinds.CLUSTER: _cluster,
    kinds.VOLUME: _volume,
    kinds.CLAIM: _volume,
    kinds.NAMESPACE: _namespace,
    kinds.RELEASE: _release,
    kinds.NODE_POOL: _node_pool,
    kinds.NODE_CLASS: _node_class,
}
