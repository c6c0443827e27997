"""Rules on zones, address space, ways out, and who may come in."""

from collections.abc import Iterator
from ipaddress import AddressValueError, IPv4Network, NetmaskValueError

from components.hardware import cidr
from components.hardware.catalogue import NEURON_TYPES
from components.hardware.efa import addresses_per_node, plan_interfaces
from components.hardware.regions import CONTROL_PLANE_REFUSED_ZONES, zone_id_prefix
from stacks.problems import Problem
from stacks.settings import Settings, largest_size, uses_efa

DOCUMENTATION_BLOCKS = tuple(IPv4Network(block) for block in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"))
"""Blocks that RFC 5737 sets aside for examples: nobody has these addresses."""
ENDPOINTS_WITHOUT_NAT = ("ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "sts")
"""Services a node must reach before it can join and give its pods an identity (EKS user guide, private clusters)."""


def zones(settings: Settings) -> Iterator[Problem]:
    """Zone ids belong to the region, differ, and take a control plane."""
    prefix = zone_id_prefix(settings.region)
    for index, zone_id in enumerate(settings.network.zones):
        path = f"network.zones[{index}]"
        if not zone_id.startswith(f"{prefix}-az"):
            hint = f"`aws ec2 describe-availability-zones --region {settings.region}` lists them as ZoneId; zone names such as us-west-2d do not do"
            yield Problem(path, zone_id, f"not a zone id of {settings.region}", f"{prefix}-az1, {prefix}-az2, ...", hint)
        if zone_id in CONTROL_PLANE_REFUSED_ZONES:
            yield Problem(path, zone_id, "EKS places no control plane in this zone", hint="take another zone of the region")
        if zone_id in settings.network.zones[:index]:
            yield Problem(path, zone_id, "zone named twice", hint="name each zone once; a control plane needs two different ones")


def address_space(settings: Settings) -> Iterator[Problem]:
    """Both blocks are valid, apart, and large enough for their subnets."""
    parsed: dict[str, IPv4Network] = {}
    for key, value, smallest in (("cidr", settings.network.cidr, 23), ("podCidr", settings.network.pod_cidr, 26)):
        try:
            parsed[key] = IPv4Network(value)
        except (AddressValueError, NetmaskValueError, ValueError):
            yield Problem(
                f"network.{key}",
                value,
                "not an IPv4 block",
                "such as 10.1.0.0/21, host bits zero",
                "write network address and prefix length",
            )
            continue
        if not 16 <= parsed[key].prefixlen <= smallest:
            yield Problem(f"network.{key}", value, "block of the wrong size", f"/16 to /{smallest}", "a VPC block is at most a /16")
    if len(parsed) == 2 and parsed["cidr"].overlaps(parsed["podCidr"]):
        hint = "take podCidr from 100.64.0.0/10, which no VPC block overlaps"
        yield Problem("network.podCidr", settings.network.pod_cidr, f"overlaps `network.cidr` {settings.network.cidr}", hint=hint)


def way_out(settings: Settings) -> Iterator[Problem]:
    """Nodes reach the registries and the control plane: by NAT, or by endpoints for all they need."""
    if settings.network.nat != "none":
        return
    absent = [service for service in ENDPOINTS_WITHOUT_NAT if service not in settings.network.interface_endpoints]
    if absent or not settings.network.s3_endpoint:
        needed = ", ".join(ENDPOINTS_WITHOUT_NAT)
        yield Problem(
            "network.nat", "none", "no way out for the nodes, which then never join", f"single, per-zone; or none with interfaceEndpoints {needed} and s3Endpoint",
            f"add {', '.join(absent) or 's3Endpoint: true'}, or set `network.nat: single`",
        )  # fmt: skip


def public_access(settings: Settings) -> Iterator[Problem]:
    """The public endpoint is open to named blocks only."""
    for index, value in enumerate(settings.control_plane.public_access_cidrs):
        path = f"controlPlane.publicAccessCidrs[{index}]"
        try:
            block = IPv4Network(value)
        except ValueError:
            yield Problem(
                path,
                value,
                "not an IPv4 block",
                "such as 198.51.100.7/32",
                "write your address with /32; `curl https://checkip.amazonaws.com` tells it",
            )
            continue
        if block.prefixlen == 0:
            yield Problem(
                path,
                value,
                "opens the Kubernetes API to the whole internet",
                "blocks narrower than /0",
                "write your own address with /32, or leave the list empty",
            )


def documentation_addresses(settings: Settings) -> Iterator[Problem]:
    """A real run refuses the example address of the shipped stack file."""
    for index, value in enumerate(settings.control_plane.public_access_cidrs):
        try:
            block = IPv4Network(value)
        except ValueError:
            continue
        if any(block.subnet_of(example) for example in DOCUMENTATION_BLOCKS):
            hint = (
                "`pulumi config set --path 'trn:controlPlane.publicAccessCidrs[0]' \"$(curl -s https://checkip.amazonaws.com)/32\"`;"
                " outside that list each `pulumi up` would wait 305 seconds for the endpoint"
            )
            yield Problem(
                f"controlPlane.publicAccessCidrs[{index}]", value, "an address from documentation, which nobody has",
                "the addresses that you run Pulumi and kubectl from", hint,
            )  # fmt: skip


def addresses(settings: Settings) -> Iterator[Problem]:
    """Every node of every group finds addresses in its subnet, at the groups' largest sizes."""
    try:
        plan = cidr.plan_subnets(settings.network.cidr, settings.network.pod_cidr, settings.network.zones)
    except ValueError:
        return  # told by the rules on zones and address space
    room = {subnets.zone_id: cidr.usable_addresses(subnets.node) for subnets in plan}
    need = dict.fromkeys(room, 0)
    for group in settings.node_groups.values():
        instance = NEURON_TYPES[group.instance_type]
        interfaces = plan_interfaces(instance, group.efa_layout) if uses_efa(group) and instance.has_efa else ()
        for zone_id in settings.zones_of(group):
            if zone_id in need:
                need[zone_id] += largest_size(group) * addresses_per_node(instance, interfaces)
    for zone_id, addresses_needed in need.items():
        if addresses_needed > room[zone_id]:
            wrong = f"the groups of {zone_id} can grow to need {addresses_needed} addresses, their subnet has {room[zone_id]}"
            yield Problem(
                "network.podCidr",
                settings.network.pod_cidr,
                wrong,
                hint="take a larger block (at most /16), lower maxSize, or use `efaLayout: efa-primary`",
            )
