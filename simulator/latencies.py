"""Seconds that each operation on a resource takes, drawn once per resource, operation and seed.

The same resource then takes equally long in every plan that is compared. Latencies of types are in facts/resources; those of
single charts are here.
"""

from collections.abc import Mapping

from facts.resources.eks import NEURON_NODE_UPDATE, NODE_GROUP, NODE_UPDATE
from facts.resources.kubernetes import RELEASE
from facts.resources.latency import INSTANT, LOGS, REQUEST, Latency, Lifetime, both
from facts.resources.table import TYPES
from simulator import chance
from simulator.errors import UnknownLatency
from simulator.recording import Registration

_CONTROLLER_CHART = Lifetime(
    Latency(15, 30, 60, "inferred: an image of 50-150 MB and readiness; measured 0.4-7 s without image pulls, 2026-11-21"),
    Latency(5, 10, 20, "measured and inferred: 0.2-4 s without containers"),
)
CHARTS: Mapping[str, Lifetime] = {
    "kube-prometheus-stack": Lifetime(
        Latency(60, 90, 150, "inferred: eight images, certificates by hook Jobs; measured 16 s without image pulls"),
        Latency(10, 20, 40, "measured and inferred: 2-4 s without containers"),
    ),
    "grafana": Lifetime(Latency(25, 45, 90, "inferred: an image of 600 MB and its migrations"), Latency(5, 10, 35, "inferred")),
    **dict.fromkeys(
        (
            "metrics-server",
            "kueue",
            "kubeflow-trainer",
            "kuberay-operator",
            "lws",
            "cert-manager",
            "aws-load-balancer-controller",
            "slurm-operator",
        ),
        _CONTROLLER_CHART,
    ),
    "cluster-autoscaler": _CONTROLLER_CHART,
    "karpenter-crd": both(1, 2, 4, "measured and inferred: five CRDs, no pods"),
    "slurm-operator-crds": both(1, 2, 4, "inferred: six CRDs, no pods"),
    "slurm": both(1, 3, 6, "inferred: Slurm objects and two Secrets; Helm waits for none of their pods"),
    "karpenter": _CONTROLLER_CHART,
    "volcano": Lifetime(Latency(40, 65, 90, LOGS), Latency(20, 30, 60, "inferred: measured 2-4 s without containers")),
}
"""Charts that differ from a small one, by the name of their release."""


def draw(latency: Latency, seed: int, urn: str, operation: str) -> float:
    """Seconds that this operation on this resource takes, to a tenth."""
    return round(chance.triangular(latency.low, latency.typical, latency.high, chance.fraction(seed, urn, operation)), 1)


def lifetime(registration: Registration) -> Lifetime:
    """The latencies of one resource; a node group's depend on its instances, a release's on its chart.

    Raises UnknownLatency for a type that has no entry.
    """
    if registration.type == RELEASE.token and registration.inputs["name"] in CHARTS:
        return CHARTS[registration.inputs["name"]]
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
    neuron = new.inputs.get("amiType") == "AL2023_x86_64_NEURON"
    if nodes:
        return round(nodes * draw(NEURON_NODE_UPDATE if neuron else NODE_UPDATE, seed, new.urn, "update"), 1)
    sizes = [int(item.inputs["scalingConfig"]["desiredSize"]) for item in (old, new)]
    if sizes[1] > sizes[0]:
        return draw(lifetime(new).create, seed, new.urn, "create")
    if sizes[1] < sizes[0]:
        return draw(lifetime(old).delete, seed, new.urn, "delete")
    return draw(INSTANT.create, seed, new.urn, "update")
