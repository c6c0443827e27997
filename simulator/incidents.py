"""What happens to nodes while a job runs, and what users leave in a cluster before it is destroyed."""

from dataclasses import dataclass

from simulator import latencies
from simulator.account import kinds, view
from simulator.account.faults import FaultKind
from simulator.account.objects import Stray
from simulator.account.one_cluster import seen_by
from simulator.account.world import World
from simulator.recording import Registration

SPOT_NOTICE_S = 120
"""EC2 user guide, spot instance interruption notices."""
UNHEALTHY_S = 300 + 1800
"""A node that stops answering is NotReady after some minutes, and EKS replaces it 30 minutes later (EKS user guide, node health)."""
DEVICE_BROKEN_S = 600
"""How long AcceleratedHardwareReady is False before EKS replaces the node (EKS user guide, node-repair)."""
MONITORING_AGENT = "eks-node-monitoring-agent"
"""Managed add-on that sets the condition: without it a node with a broken device is ready."""
REPAIR_OFF = "nothing replaces it: node repair is off, and an Auto Scaling group asks EC2 only, not Kubernetes"


@dataclass(frozen=True)
class Incident:
    """One fault of the training time."""

    fault: str
    group: Registration
    what: str
    seconds: float | None
    """Until the group has all its nodes again; None where nothing brings the node back."""
    job: str


def incidents(world: World, seed: int) -> list[Incident]:
    """What the world's faults do to running nodes; each is used up."""
    found: list[Incident] = []
    for group in world.state.ready(kinds.NODE_GROUP):
        while view.desired_size(group) and (kind := world.faults.take("training", group)) is not None:
            found.append(_incident(world, group, kind, seed))
    return found


def _incident(world: World, group: Registration, kind: FaultKind, seed: int) -> Incident:
    boot = latencies.seconds(group, "create", seed)
    name, size = group.inputs["nodeGroupName"], view.desired_size(group)
    job = (
        f"a gang on {name} stops as soon as one of its {size} nodes is gone; it starts again from its last checkpoint when all are back"
        if size > 1
        else f"jobs on {name} end with the node and start again from their last checkpoint"
    )
    if kind.name == "spot-interruption":
        what = f"EC2 takes a node of {name} back, with {SPOT_NOTICE_S // 60} minutes' notice; its Auto Scaling group asks for another, if there is one"
        return Incident(kind.name, group, what, SPOT_NOTICE_S + boot, job)
    repairs = bool(group.inputs.get("nodeRepairConfig", {}).get("enabled"))
    if kind.name == "neuron-device-failed":
        return Incident(kind.name, group, *_broken_device(world, group, repairs, boot), job)
    if not repairs:
        return Incident(kind.name, group, f"a node of {name} stops answering; {REPAIR_OFF}", None, job)
    return Incident(
        kind.name,
        group,
        f"a node of {name} stops answering; EKS replaces it once it has been unhealthy for 30 minutes",
        UNHEALTHY_S + boot,
        job,
    )


def _broken_device(world: World, group: Registration, repairs: bool, boot: float) -> tuple[str, float | None]:
    """What follows from a device that fails, and seconds until the group has all its nodes again.

    Source: EKS user guide, node-repair and node-health: the monitoring agent finds it, node repair acts on the agent's condition.
    """
    head = f"a Neuron device on a node of {group.inputs['nodeGroupName']} fails, its workers end"
    if not view.has_addon(seen_by(world.state, group), MONITORING_AGENT):
        unseen = "the node stays ready, and the gang starts on it again and again: nothing marks it without `addons.nodeMonitoring.enabled`"
        return f"{head}; {unseen}", None
    if not repairs:
        return f"{head}; the monitoring agent marks the node, and nothing acts on that: node repair is off", None
    return f"{head}; EKS replaces the node once the monitoring agent has marked it for 10 minutes", DEVICE_BROKEN_S + boot


def leave_behind(world: World) -> None:
    """What users and controllers have made beside the program, as the world's faults ask for it."""
    standing = sorted((existing.registration for existing in world.state if existing.status == "ready"), key=lambda item: item.urn)
    for registration in standing:
        while (kind := world.faults.take("after", registration)) is not None:
            world.state.add_stray(_STRAYS[kind.name](world, registration))


def _load_balancer(world: World, cluster: Registration) -> Stray:
    return _in_nodes_subnets(world, cluster, "load balancer", "a load balancer that a Service of type LoadBalancer asked for", 0.0225)


def _karpenter_node(world: World, cluster: Registration) -> Stray:
    return _in_nodes_subnets(world, cluster, "karpenter node", "an instance that Karpenter launched", 0.192)


def _in_nodes_subnets(world: World, cluster: Registration, name: str, what: str, usd_per_hour: float) -> Stray:
    subnets = sorted(
        {subnet for group in view.node_groups(seen_by(world.state, cluster)) for subnet in view.listed(group.inputs.get("subnetIds"))}
    )[:1]
    return Stray(name, what, cluster.urn, tuple(subnets), usd_per_hour=usd_per_hour, cluster=str(cluster.inputs["name"]))


def _pod_on_claim(world: World, claim: Registration) -> Stray:
    metadata = claim.inputs["metadata"]
    what = f"a pod that mounts {metadata['name']}"
    return Stray(f"pod on {metadata['name']} {metadata.get('namespace')}/", what, claim.urn)


_STRAYS = {"load-balancer-left": _load_balancer, "karpenter-node-left": _karpenter_node, "claim-in-use": _pod_on_claim}
