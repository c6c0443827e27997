"""What EC2 cannot, or will not, give: instances, vCPUs, zones, reservations."""

from collections.abc import Hashable, Mapping, Sequence

from facts.catalogue import QUOTA_CODES, known_zone_ids
from facts.typed import made_again, typed
from simulator.account import addresses, kinds, view
from simulator.account.objects import CloudObject
from simulator.account.rule import Refusal, rule
from simulator.account.state import AccountState
from simulator.account.timeouts import CAPACITY_S
from simulator.recording import Registration

LAUNCH_FAILED = "AsgInstanceLaunchFailures"
"""EKS API, NodegroupIssueCode: what a group shows when its Auto Scaling group gets no instance."""


def not_launched(code: str, text: str, cause: str, fix: str) -> Refusal:
    """A group that got no instances: EKS tries until it gives up, and keeps the group under its name as CREATE_FAILED."""
    shown = f"unexpected state 'CREATE_FAILED', wanted target 'ACTIVE'. last error: {LAUNCH_FAILED}: Could not launch instances. {code} - {text}"
    return Refusal(code, shown, cause, fix, retry_s=CAPACITY_S, leaves="failed", remedy="replace", runs=False)


def replace_after(fix: str, group: Registration) -> str:
    """A fix that ends with how to replace a failed group: EKS never tries again by itself."""
    return f"{fix}; then `{made_again(group.urn)}`, since EKS does not try again by itself"


def _family(state: AccountState, group: Registration, capacity_type: str) -> tuple[str, int] | None:
    """Quota family and vCPU per node of a group that is bought in one way; None for one that draws on no such quota."""
    instance = view.instance_type_of(state, group)
    bought = group.inputs.get("capacityType", "ON_DEMAND")
    return (instance.family, instance.vcpu_count) if instance is not None and bought == capacity_type else None


def _vcpus(state: AccountState, existing: CloudObject) -> Mapping[Hashable, int]:
    """vCPUs of a group's nodes, by how they are bought and quota family."""
    group = existing.registration
    found = {bought: _family(state, group, bought) for bought in ("ON_DEMAND", "SPOT")} if existing.status != "failed" else {}
    return {(bought, which[0]): which[1] * view.desired_size(group) for bought, which in found.items() if which is not None}


def _over_quota(state: AccountState, request: Registration, nodes: int) -> Refusal | None:
    for capacity_type, limits in (("ON_DEMAND", state.allowances.vcpu_quotas), ("SPOT", state.allowances.spot_vcpu_quotas)):
        found = _family(state, request, capacity_type)
        if found is None or found[0] not in limits or nodes == 0:
            continue
        family, vcpu = found
        in_use = state.ledger(kinds.NODE_GROUP, _vcpus, rests_on=(kinds.LAUNCH_TEMPLATE,))
        used, limit = in_use.total((capacity_type, family), beside=request.id), limits[family]
        if used + vcpu * nodes <= limit:
            continue
        code = QUOTA_CODES[family]["on-demand" if capacity_type == "ON_DEMAND" else "spot"]
        return not_launched(
            "VcpuLimitExceeded",
            f"You have requested more vCPU capacity than your current vCPU limit of {limit} allows for the instance bucket",
            f"{nodes} nodes of {request.inputs['nodeGroupName']} need {vcpu * nodes} vCPU beside {used} in use, quota {code} allows {limit}",
            replace_after(f"ask for {used + vcpu * nodes} in Service Quotas ({code}), or lower the group's size", request),
        )
    return None


@rule("settle", kinds.NODE_GROUP, source="EC2 on-demand and spot vCPU quotas; EKS API, NodegroupIssueCode")
def vcpu_quota(state: AccountState, request: Registration) -> Refusal | None:
    """The vCPUs of all running instances of a family stay within the account's quota."""
    return _over_quota(state, request, view.desired_size(request))


@rule("update", kinds.NODE_GROUP, source="EKS user guide, managed node update behavior")
def surge_quota(state: AccountState, request: Registration) -> Refusal | None:
    """An update that rolls the nodes launches new ones first, which the quota must hold, unless the strategy is MINIMAL."""
    existing = state.find(kinds.NODE_GROUP, request.id)
    if existing is None:
        return None
    nodes = view.desired_size(request)
    return _over_quota(state, request, nodes + surge(state, existing.registration, request))


@rule("update", kinds.NODE_GROUP, source="EKS user guide, capacity blocks for ML with managed node groups")
def block_is_empty_for_an_update(state: AccountState, request: Registration) -> Refusal | None:
    """A group on a capacity block is updated only while it has no node: the block has no instance to launch a successor from."""
    existing = state.find(kinds.NODE_GROUP, request.id)
    if existing is None or request.inputs.get("capacityType") != "CAPACITY_BLOCK" or not rolls(existing.registration, request):
        return None
    nodes = view.desired_size(existing.registration)
    if not nodes:
        return None
    name = request.inputs["nodeGroupName"]
    return Refusal(
        "InvalidRequestException",
        f"Nodegroup {name} uses a Capacity Block and must be scaled to 0 before it is updated",
        f"{name} has {nodes} nodes of a capacity block, which holds no further instance for their successors",
        f"set `nodeGroups.{name}.size: 0`, run `{typed('pulumi up')}`, make the change, then set the size again",
    )


ROLLING_INPUTS = ("version", "releaseVersion", "launchTemplate")


def rolls(old: Registration, new: Registration) -> bool:
    """Whether a change of a group replaces its nodes one by one."""
    return any(old.inputs.get(key) != new.inputs.get(key) for key in ROLLING_INPUTS)


def surge(state: AccountState, old: Registration, new: Registration) -> int:
    """Nodes that an update launches beyond the group's size: the larger of two per zone and maxUnavailable, none with MINIMAL."""
    config = new.inputs.get("updateConfig") or {}
    if not rolls(old, new) or config.get("updateStrategy") == "MINIMAL" or not view.desired_size(new):
        return 0
    return max(2 * len(view.zones_of(state, new)), int(config.get("maxUnavailable") or 1))


@rule("settle", kinds.NODE_GROUP, source="EC2 API, DescribeInstanceTypeOfferings, readings of 2026-10-03 in facts/catalogue.py")
def offered_in_zone(state: AccountState, request: Registration) -> Refusal | None:
    """An instance type is launched only in zones that offer it; zones that the catalogue knows nothing about count as offering it."""
    instance = view.instance_type_of(state, request)
    if instance is None or view.desired_size(request) == 0:
        return None
    for zone_id in view.zones_of(state, request):
        known = known_zone_ids(instance, zone_id.split("-")[0])
        if known and zone_id not in known:
            return not_launched(
                "Unsupported",
                f"Your requested instance type ({instance.name}) is not supported in your requested Availability Zone.",
                f"{instance.name} was seen in {', '.join(known)}, not in {zone_id}",
                f"take one of these zones for {request.inputs['nodeGroupName']}: another subnet replaces the group",
            )
    return None


@rule("settle", kinds.NODE_GROUP, source="aws/containers-roadmap#2204: about 33 minutes, then CREATE_FAILED")
def capacity_in_zone(state: AccountState, request: Registration) -> Refusal | None:
    """EC2 has no more free instances of a type in a zone than it has; a reservation or a block has its own, and spot nodes make room."""
    instance, bought = view.instance_type_of(state, request), _bought(state, request)
    if instance is None or bought == _RESERVED:
        return None
    free = {zone_id: count for (name, zone_id), count in state.allowances.capacity.items() if name == instance.name}
    if not free:
        return None
    held = (existing.registration for existing in state.whole.existing(kinds.NODE_GROUP) if existing.status != "failed")
    for group in held:
        drawn = _bought(state, group) in ("ON_DEMAND", bought) and view.instance_type_of(state, group) == instance
        if drawn and group.id != request.id:
            _launch(free, view.zones_of(state, group), view.desired_size(group))
    zones = view.zones_of(state, request)
    lack = _launch(free, zones, view.desired_size(request))
    return no_capacity(state, request, zones, view.desired_size(request) - lack) if lack else None


_RESERVED = "RESERVED"


def _bought(state: AccountState, group: Registration) -> str:
    """`ON_DEMAND`, `SPOT`, or `RESERVED` for nodes in a capacity reservation or block."""
    named = (view.template_of(state, group).get("capacityReservationSpecification") or {}).get("capacityReservationTarget")
    bought = str(group.inputs.get("capacityType", "ON_DEMAND"))
    return _RESERVED if named or bought == "CAPACITY_BLOCK" else bought


def _launch(free: dict[str, int], zones: Sequence[str], count: int) -> int:
    """Take instances for the nodes of a group, each in the zone that has fewest of them and one free; how many nodes find none.

    Source: EC2 Auto Scaling user guide, benefits of Auto Scaling, instance distribution: a zone without capacity passes to another.
    """
    own = dict.fromkeys(zones, 0)
    for launched in range(count):
        left = [zone_id for zone_id in zones if free.get(zone_id, 1) > 0]
        if not left:
            return count - launched
        chosen = min(left, key=lambda zone_id: own[zone_id])
        own[chosen] += 1
        if chosen in free:
            free[chosen] -= 1
    return 0


def no_capacity(state: AccountState, group: Registration, zones: Sequence[str], free: int) -> Refusal:
    """What a group without capacity meets, with the zones that are left to be tried."""
    instance = view.instance_type_of(state, group)
    name = instance.name if instance is not None else "the instance type"
    others = [zone for zone in known_zone_ids(instance, zones[0].split("-")[0]) if zone not in zones] if instance is not None else []
    elsewhere = f"try {' or '.join(others)}, " if others else ""
    block = "buy a capacity block" if instance is not None and instance.capacity_block else "wait for capacity"
    return not_launched(
        "InsufficientInstanceCapacity",
        f"We currently do not have sufficient {name} capacity in the Availability Zone you requested.",
        f"{group.inputs['nodeGroupName']} asks for {view.desired_size(group)} {name} in {' and '.join(zones)}, {free} are free",
        replace_after(f"{elsewhere}{block}, or set the group's size to 0", group),
    )


@rule("settle", kinds.NODE_GROUP, source="terraform-aws-modules/terraform-aws-eks#3588, PR#3730")
def no_placement_group_in_reservation(state: AccountState, request: Registration) -> Refusal | None:
    """Instances of a capacity reservation are not found from inside a placement group that the reservation does not have."""
    template = view.template_of(state, request)
    if view.desired_size(request) and template.get("placement", {}).get("groupName") and template.get("capacityReservationSpecification"):
        return not_launched(
            "InsufficientInstanceCapacity",
            "We currently do not have sufficient capacity in the Availability Zone you requested.",
            f"{request.inputs['nodeGroupName']} has a placement group and a capacity reservation, which finds nothing although it is free",
            replace_after("set `placementGroup: false`: the reservation decides where its instances stand", request),
        )
    return None


@rule("settle", kinds.NODE_GROUP, source="terraform-aws-modules/terraform-aws-eks#3044")
def placement_group_in_one_zone(state: AccountState, request: Registration) -> Refusal | None:
    """A cluster placement group lies in one zone, and so do all its instances."""
    zones = view.zones_of(state, request)
    if len(zones) > 1 and view.desired_size(request) and view.template_of(state, request).get("placement", {}).get("groupName"):
        return not_launched(
            "InvalidParameterValue",
            f"Instances in the Placement Group must be launched in the {zones[0]} Availability Zone.",
            f"{request.inputs['nodeGroupName']} has subnets in {', '.join(zones)}",
            "give the group one zone",
        )
    return None


@rule(
    "settle",
    kinds.NODE_GROUP,
    source="EKS API, NodegroupIssueCode InsufficientFreeAddresses; aws/amazon-vpc-cni-k8s README, WARM_ENI_TARGET",
)
def free_addresses(state: AccountState, request: Registration) -> Refusal | None:
    """A subnet has an address for each that nodes and the VPC CNI's warm interface take."""
    for subnet in view.subnets_of(state, request):
        size = addresses.room(subnet)
        need = addresses.of_nodes(state, subnet.id, beside=request.id) + addresses.of_group(state, request)
        if need > size:
            return not_launched(
                "InsufficientFreeAddressesInSubnet",
                f"There are not enough free addresses in subnet '{subnet.id}' to satisfy the requested number of instances.",
                f"the nodes in {subnet.name} ({subnet.inputs['cidrBlock']}) take up to {need} addresses, it has {size}",
                "take a larger `network.podCidr`, or other subnets in `network.existing`, or an EFA layout whose further interfaces are `efa-only`",
            )
    return None
