"""Seconds that each operation on a resource takes, drawn once per resource, operation and seed.

The same resource then takes equally long in every plan that is compared. Latencies of types are in facts/resources, those of charts
and managed add-ons in their contracts.
"""

from facts.neuron_releases import NEURON_AMI_TYPE
from facts.resources.eks_nodes import NEURON_NODE_UPDATE, NODE_GROUP, NODE_UPDATE
from facts.resources.latency import INSTANT, REQUEST, Latency, Lifetime
from facts.resources.table import TYPES
from simulator import chance
from simulator.account.charts import chart_of
from simulator.errors import UnknownLatency
from simulator.recording import Registration


def draw(latency: Latency, seed: int, urn: str, operation: str) -> float:
    """Seconds that this operation on this resource takes, to a tenth."""
    return round(chance.triangular(latency.low, latency.typical, latency.high, chance.fraction(seed, urn, operation)), 1)


def lifetime(registration: Registration) -> Lifetime:
    """The latencies of one resource; a node group's depend on its instances, a release's on its chart.

    Raises UnknownLatency for a type that has no entry.
    """
    chart = chart_of(registration)
    if chart is not None:
        return Lifetime(Latency(*chart.latency_s["create"]), Latency(*chart.latency_s["delete"]))
    if registration.type not in TYPES:
        raise UnknownLatency(f"no latency for {registration.type} ({registration.name}); add it to facts/resources with its source")
    return TYPES[registration.type].latencies.of(registration.inputs)


def seconds(registration: Registration, operation: str, seed: int) -> float:
    """Seconds that `create` or `delete` of a resource takes. Components and providers take none: they exist in the engine only."""
    if not registration.custom or registration.type.startswith("pulumi:providers:"):
        return 0.0
    chosen = lifetime(registration)
    return draw(chosen.create if operation == "create" else chosen.delete, seed, registration.urn, operation)


def rolled_nodes(old: Registration, new: Registration) -> int:
    """Nodes of a group that an update replaces, one after the other; 0 where it leaves them alone."""
    if all(old.inputs.get(key) == new.inputs.get(key) for key in ("version", "releaseVersion", "launchTemplate")):
        return 0
    return int(new.inputs["scalingConfig"]["desiredSize"])


def update_seconds(old: Registration, new: Registration, seed: int) -> float:
    """Seconds that a change in place takes. Rolling a node group takes its time for each node."""
    if not new.custom or new.type.startswith("pulumi:providers:"):
        return 0.0
    if new.type == NODE_GROUP.token:
        return _node_group_update(old, new, seed)
    changed = [key for key in sorted({*old.inputs, *new.inputs}) if old.inputs.get(key) != new.inputs.get(key)]
    table = TYPES[new.type].latencies.updates if new.type in TYPES else {}
    found = [table[key] for key in changed if key in table] or [table.get("", REQUEST)]
    return max(draw(latency, seed, new.urn, "update") for latency in found)


def _node_group_update(old: Registration, new: Registration, seed: int) -> float:
    nodes = rolled_nodes(old, new)
    neuron = new.inputs.get("amiType") == NEURON_AMI_TYPE
    if nodes:
        return round(nodes * draw(NEURON_NODE_UPDATE if neuron else NODE_UPDATE, seed, new.urn, "update"), 1)
    sizes = [int(item.inputs["scalingConfig"]["desiredSize"]) for item in (old, new)]
    if sizes[1] > sizes[0]:
        return draw(lifetime(new).create, seed, new.urn, "create")
    if sizes[1] < sizes[0]:
        return draw(lifetime(old).delete, seed, new.urn, "delete")
    return draw(INSTANT.create, seed, new.urn, "update")
