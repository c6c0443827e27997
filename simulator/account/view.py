"""What rules want to know of the account, read from what exists: nodes, interfaces, the API server, custom kinds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from facts.catalogue import CORE_TYPES, NEURON_TYPES, InstanceType
from simulator.account import kinds, places
from simulator.account.charts import kinds_brought
from simulator.account.objects import CloudObject
from simulator.account.state import AccountState
from simulator.recording import Registration

BUILT_IN_NAMESPACES = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})


@dataclass(frozen=True)
class Interface:
    """A network interface and what it is in the way of."""

    what: str
    subnet_id: str
    security_group_ids: tuple[str, ...]


def listed(value: Any) -> list[Any]:
    """A list, whether the input was given as one or as a single value."""
    return list(value) if isinstance(value, list | tuple) else [] if value is None else [value]


def desired_size(group: Registration) -> int:
    """Nodes that a node group asks for."""
    return int(group.inputs["scalingConfig"]["desiredSize"])


def template_of(state: AccountState, group: Registration) -> Mapping[str, Any]:
    """Inputs of the launch template that a group names; empty without one."""
    wanted = group.inputs.get("launchTemplate", {}).get("id")
    found = state.find(kinds.LAUNCH_TEMPLATE, wanted) if wanted else None
    return found.registration.inputs if found is not None else {}


def instance_type_of(state: AccountState, group: Registration) -> InstanceType | None:
    """First type of a group, from the group or from its template; None for one that the catalogue does not have."""
    names = listed(group.inputs.get("instanceTypes")) or listed(template_of(state, group).get("instanceType"))
    return (NEURON_TYPES.get(names[0]) or CORE_TYPES.get(names[0])) if names else None


def security_groups_of(state: AccountState, group: Registration) -> list[tuple[str, ...]]:
    """Security groups of each interface that a node of the group is launched with."""
    template = template_of(state, group)
    interfaces = listed(template.get("networkInterfaces"))
    if interfaces:
        return [tuple(listed(interface.get("securityGroups"))) for interface in interfaces]
    return [tuple(listed(template.get("vpcSecurityGroupIds")))]


def subnets_of(state: AccountState, group: Registration) -> list[Registration]:
    """Subnets of a group that exist."""
    found = (places.subnet(state, subnet_id) for subnet_id in listed(group.inputs.get("subnetIds")))
    return [existing for existing in found if existing is not None]


def zones_of(state: AccountState, group: Registration) -> list[str]:
    """Zone ids of a group's subnets, each once."""
    return sorted({str(subnet.inputs["availabilityZoneId"]) for subnet in subnets_of(state, group)})


def cluster(state: AccountState) -> CloudObject | None:
    """The control plane, in any state."""
    return next(iter(state.existing(kinds.CLUSTER)), None)


def api_answers(state: AccountState) -> bool:
    """Whether Kubernetes can be asked at all."""
    return bool(state.ready(kinds.CLUSTER))


def cluster_group_id(state: AccountState) -> str:
    """The security group that EKS makes for the cluster."""
    found = cluster(state)
    return str(found.registration.outputs["vpcConfig"]["clusterSecurityGroupId"]) if found is not None else ""


def has_addon(state: AccountState, name: str) -> bool:
    """Whether a managed add-on is there and works."""
    return any(addon.inputs["addonName"] == name for addon in state.ready(kinds.ADDON))


def untainted_groups(state: AccountState) -> list[Registration]:
    """Groups with nodes that take any pod."""
    return [group for group in state.ready(kinds.NODE_GROUP) if not group.inputs.get("taints") and desired_size(group) > 0]


def node_groups(state: AccountState) -> list[Registration]:
    """Groups in any state, those that failed included: they hold their name and block the control plane."""
    return [existing.registration for existing in state.existing(kinds.NODE_GROUP)]


def interfaces(state: AccountState) -> Iterator[Interface]:
    """All interfaces in the account, with what holds them."""
    yield from object_interfaces(state)
    for stray in state.strays.values():
        for subnet_id in stray.subnet_ids:
            yield Interface(stray.what, subnet_id, stray.security_group_ids)


def object_interfaces(state: AccountState) -> Iterator[Interface]:
    """Interfaces of what resources stand for: control planes, nodes, gateways, endpoints, file systems."""
    for existing in state.existing(kinds.CLUSTER):
        inputs = existing.registration.inputs["vpcConfig"]
        for subnet_id in inputs["subnetIds"]:
            yield Interface("the control plane", subnet_id, tuple(listed(inputs.get("securityGroupIds"))))
    for existing in state.existing(kinds.NODE_GROUP):
        group = existing.registration
        if desired_size(group) and existing.status != "failed":
            carried = tuple(sorted({group_id for ids in security_groups_of(state, group) for group_id in ids}))
            for subnet_id in listed(group.inputs.get("subnetIds")):
                yield Interface(f"nodes of {group.inputs['nodeGroupName']}", subnet_id, carried)
    for existing in state.existing(kinds.NAT_GATEWAY):
        yield Interface(f"NAT gateway {existing.registration.id}", existing.registration.inputs["subnetId"], ())
    for kind, what in ((kinds.ENDPOINT, "endpoint"), (kinds.FILE_SYSTEM, "file system")):
        for existing in state.existing(kind):
            inputs = existing.registration.inputs
            for subnet_id in listed(inputs.get("subnetIds")):
                yield Interface(f"{what} {existing.registration.id}", subnet_id, tuple(listed(inputs.get("securityGroupIds"))))


def releases(state: AccountState) -> list[CloudObject]:
    """Helm releases in any state."""
    return state.existing(kinds.RELEASE)


def owners_of_kind(state: AccountState, kind: str) -> list[CloudObject]:
    """Releases and add-ons that bring a custom kind (`group/Kind`)."""
    return [
        existing
        for existing in (*state.existing(kinds.RELEASE), *state.existing(kinds.ADDON))
        if kind in kinds_brought(existing.registration)
    ]


def knows_kind(state: AccountState, kind: str) -> bool:
    """Whether the API server serves a custom kind: from a release that has been applied, a definition, or one that stayed."""
    if f"crd {kind}" in state.strays:
        return True
    for existing in state.existing(kinds.CUSTOM_RESOURCE_DEFINITION):
        spec = existing.registration.inputs["spec"]
        if kind == f"{spec['group']}/{spec['names']['kind']}":
            return True
    return bool(owners_of_kind(state, kind))


def objects_of_kind(state: AccountState, kind: str) -> list[CloudObject]:
    """Kubernetes objects of a kind, without regard to versions."""
    types = (name for name in state.types() if kinds.is_kubernetes(name) and kinds.object_kind(name) == kind)
    return [existing for name in types for existing in state.existing(name)]


def namespace_exists(state: AccountState, name: str) -> bool:
    """Whether a namespace is there, made by the program, by Helm, or by Kubernetes itself."""
    if name in BUILT_IN_NAMESPACES or name in state.found_namespaces or f"namespace {name}" in state.strays:
        return True
    if any(namespace.inputs["metadata"]["name"] == name for namespace in state.ready(kinds.NAMESPACE)):
        return True
    return any(
        existing.registration.inputs.get("createNamespace") and existing.registration.inputs.get("namespace") == name
        for existing in releases(state)
    )


def is_of_addon(state: AccountState, namespace: str) -> bool:
    """Whether a namespace is an add-on's own: pods of the program run in it, and it holds no claim and no state, as that of jobs does."""

    def inside(*types: str) -> bool:
        registrations = (existing.registration for kind in types for existing in state.existing(kind))
        return any(item.inputs["metadata"].get("namespace") == namespace for item in registrations)

    runs = any(existing.registration.inputs.get("namespace") == namespace for existing in releases(state))
    return (runs or inside(kinds.DEPLOYMENT, kinds.DAEMON_SET)) and not inside(kinds.CLAIM, kinds.STATEFUL_SET)
