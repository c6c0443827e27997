"""Rules on zones, address space, ways out, and who may come in."""

import difflib
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network

from facts import cidr
from facts.address_blocks import address_count, associates, block_of, is_documentation, why_closed, why_unusable
from facts.endpoints import INTERFACE_ENDPOINTS, NO_REGIONAL_ENDPOINT, NODE_ENDPOINTS, SESSION_ENDPOINTS
from facts.problems import Problem
from facts.regions import CONTROL_PLANE_REFUSED_ZONES, REGIONS, near_regions, near_zone, zone_id_prefix, zone_ids
from facts.typed import typed
from stacks.addresses import address_needs, node_addresses
from stacks.cluster import Call, calls_of, cluster_of
from stacks.settings import Settings

WIDEST_PUBLIC_ACCESS = 2**24
"""Addresses that may reach the API, all blocks together: as many as one /8 has."""
PUBLIC_ACCESS_LIMIT = 40
"""Public access CIDR ranges per cluster (EKS quotas, public endpoint access CIDR ranges)."""


def region(settings: Settings) -> Iterator[Problem]:
    """The region exists, and has EKS."""
    if settings.region not in REGIONS:
        close = near_regions(settings.region)
        hint = f"set `trn:region` to {close[0]}, the nearest" if close else "`aws ec2 describe-regions --all-regions` lists all"
        yield Problem("region", settings.region, "no region that has EKS", ", ".join(close or REGIONS), hint)


def zones(settings: Settings) -> Iterator[Problem]:
    """Zone ids are ones of the region, differ, and take a control plane."""
    if settings.region not in REGIONS:
        return  # what its zones are is not known; the rule on regions says that there is no such region
    prefix, known = zone_id_prefix(settings.region), zone_ids(settings.region)
    for index, zone_id in enumerate(settings.network.zones):
        path = f"network.zones[{index}]"
        if not zone_id.startswith(f"{prefix}-az"):
            near = near_zone(zone_id, settings.region)
            listed = f"`aws ec2 describe-availability-zones --region {settings.region}` lists them as ZoneId; zone names such as us-west-2d do not do"
            hint = f"the nearest is {near}; {listed}" if near else listed
            yield Problem(
                path, zone_id, f"not a zone id of {settings.region}", ", ".join(known) or f"{prefix}-az1, {prefix}-az2, ...", hint
            )
        elif known and zone_id not in known:
            yield Problem(
                path,
                zone_id,
                f"{settings.region} has no such zone",
                ", ".join(known),
                f"the nearest is {near_zone(zone_id, settings.region)}",
            )
        if zone_id in CONTROL_PLANE_REFUSED_ZONES:
            yield Problem(path, zone_id, "EKS places no control plane in this zone", hint="take another zone of the region")
        if zone_id in settings.network.zones[:index]:
            yield Problem(path, zone_id, "zone named twice", hint="name each zone once; a control plane needs two different ones")


def address_space(settings: Settings) -> Iterator[Problem]:
    """Both blocks are valid, apart, and large enough for their subnets."""
    if settings.network.existing is not None:
        return  # the blocks are not the stack's
    parsed: dict[str, IPv4Network] = {}
    for key, value, smallest in (("cidr", settings.network.cidr, 23), ("podCidr", settings.network.pod_cidr, 26)):
        try:
            parsed[key] = block_of(value)
        except ValueError:
            yield Problem(
                f"network.{key}",
                value,
                "not an IPv4 block",
                "such as 10.1.0.0/21, host bits zero",
                "write network address and prefix length",
            )
            continue
        unusable = why_unusable(parsed[key])
        if unusable:
            hint = "take a block of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16"
            yield Problem(f"network.{key}", value, f"{unusable}, which no VPC can have", "private blocks", hint)
        if not 16 <= parsed[key].prefixlen <= smallest:
            room = f"take a larger block, such as a /{smallest}: the subnets of {cidr.MAX_ZONES} zones must fit"
            hint = "a VPC block is at most a /16" if parsed[key].prefixlen < 16 else room
            yield Problem(f"network.{key}", value, "block of the wrong size", f"/16 to /{smallest}", hint)
    if len(parsed) == 2 and parsed["cidr"].overlaps(parsed["podCidr"]):
        hint = "take podCidr from 100.64.0.0/10, which no VPC block overlaps"
        yield Problem("network.podCidr", settings.network.pod_cidr, f"overlaps `network.cidr` {settings.network.cidr}", hint=hint)
    elif len(parsed) == 2 and not associates(parsed["cidr"], parsed["podCidr"]):
        wrong = f"a block that AWS does not associate with {settings.network.cidr}"
        allowed = "within 100.64.0.0/10, or within the private range of `network.cidr`"
        yield Problem("network.podCidr", settings.network.pod_cidr, wrong, allowed, "take 100.64.0.0/16")


def endpoints(settings: Settings) -> Iterator[Problem]:
    """Each service is one that has interface endpoints, and has one."""
    named = settings.network.interface_endpoints
    for index, service in enumerate(named):
        if service not in INTERFACE_ENDPOINTS:
            close = difflib.get_close_matches(service, sorted(INTERFACE_ENDPOINTS), n=3, cutoff=0.5)
            hint = f"`aws ec2 describe-vpc-endpoint-services --region {settings.region}` lists them, each behind com.amazonaws.{settings.region}."
            wrong = NO_REGIONAL_ENDPOINT.get(service, "no service with an interface endpoint")
            yield Problem(f"network.interfaceEndpoints[{index}]", service, wrong, ", ".join(close) or "names such as ecr.api", hint)
        if service in named[:index]:
            yield Problem(f"network.interfaceEndpoints[{index}]", service, "service named twice", hint="name each service once")
        if service == "s3" and settings.network.s3_endpoint:
            hint = "remove it, or set `network.s3Endpoint: false`; the gateway endpoint is free"
            yield Problem(f"network.interfaceEndpoints[{index}]", service, "S3 has its gateway endpoint already", hint=hint)


def way_out(settings: Settings) -> Iterator[Problem]:
    """Nodes reach the registries and the control plane, and pods what their add-on calls: by NAT, or by an endpoint for each service."""
    network = settings.network
    cluster, named = cluster_of(settings), network.interface_endpoints
    if not cluster.isolated:
        return
    calls = calls_of(cluster)
    if network.existing is not None:
        yield from _without_endpoints(calls, "network.existing.isolated", True, "false")
        return
    absent = [service for service in NODE_ENDPOINTS if service not in named]
    said = (
        [f"no way out for the nodes, which then never join, without {', '.join(absent) or 'S3'}"]
        if absent or not network.s3_endpoint
        else []
    )
    sessions = [service for service in SESSION_ENDPOINTS if service not in named] if settings.nodes.session_manager else []
    said += [f"Systems Manager on the nodes does not reach {', '.join(sessions)}"] if sessions else []
    absent += sessions
    for declaration, services in calls:
        lacking = [service for service in services if service not in (*named, *NODE_ENDPOINTS, "s3") and service in INTERFACE_ENDPOINTS]
        said += [f"{declaration.title} does not reach {', '.join(lacking)}"] if lacking else []
        absent += [service for service in lacking if service not in absent]
    if said:
        fixes = [] if network.s3_endpoint else ["add s3Endpoint: true"]
        fixes += [f"add {', '.join(absent)} to `network.interfaceEndpoints`"] if absent else []
        allowed = f"single, per-zone; or none with s3Endpoint and interfaceEndpoints {', '.join([*named, *absent])}"
        hint = f"{' and '.join(fixes)}, or set `network.nat: single`, or switch off what calls them"
        yield Problem("network.nat", "none", "; ".join(said), allowed, hint)
    yield from _without_endpoints(calls, "network.nat", "none", "single, per-zone")


def _without_endpoints(calls: Sequence[Call], path: str, value: object, allowed: str) -> Iterator[Problem]:
    for declaration, services in calls:
        closed = [service for service in services if service not in INTERFACE_ENDPOINTS]
        if closed:
            wrong = f"{declaration.title} calls {', '.join(closed)}, which no endpoint of a region reaches"
            other = f"`{path}: {allowed.split(',')[0]}`"
            hint = f"set {other}, or `addons.{declaration.key}.enabled: false`{_INSTEAD.get(declaration.key, '')}"
            yield Problem(path, value, wrong, allowed, hint)


_INSTEAD = {
    "karpenter": ": Karpenter makes the instance profiles of its nodes itself, by IAM; `addons.clusterAutoscaler` sizes node groups, from zero too,"
    " and calls autoscaling, ec2 and eks only"
}
"""What to take instead. Without prices Karpenter works (`settings.isolatedVPC`); without IAM only where each node class names an
instance profile that is there already (Karpenter 1.14 docs, private clusters), and the program makes none."""


def public_access(settings: Settings) -> Iterator[Problem]:
    """The public endpoint is open to a few public blocks only."""
    named = settings.control_plane.public_access_cidrs
    if len(named) > PUBLIC_ACCESS_LIMIT:
        path, wrong = "controlPlane.publicAccessCidrs", "more blocks than EKS takes"
        yield Problem(path, f"{len(named)} blocks", wrong, f"at most {PUBLIC_ACCESS_LIMIT}", "join neighbouring blocks")
    blocks: list[IPv4Network] = []
    for index, value in enumerate(named):
        path = f"controlPlane.publicAccessCidrs[{index}]"
        refused = why_closed(value)
        if refused is not None:
            yield Problem(path, value, refused.wrong, refused.allowed, refused.hint)
        else:
            blocks.append(block_of(value))
    if address_count(blocks) > WIDEST_PUBLIC_ACCESS:
        wrong = "blocks that together open the Kubernetes API to a large part of the internet"
        hint = "write your own addresses with /32"
        yield Problem("controlPlane.publicAccessCidrs", f"{len(blocks)} blocks", wrong, "together at most as many addresses as a /8", hint)


def documentation_addresses(settings: Settings) -> Iterator[Problem]:
    """A real run refuses the example address of the shipped stack file."""
    for index, value in enumerate(settings.control_plane.public_access_cidrs):
        if is_documentation(value):
            hint = (
                "`pulumi config set --path 'trn:controlPlane.publicAccessCidrs[0]' \"$(curl -s https://checkip.amazonaws.com)/32\"`;"
                f" outside that list each `{typed('pulumi up')}` would wait 305 seconds for the endpoint"
            )
            yield Problem(
                f"controlPlane.publicAccessCidrs[{index}]", value, "an address reserved for documentation, which no host has",
                "the addresses that you run Pulumi and kubectl from", hint,
            )  # fmt: skip


def addresses(settings: Settings) -> Iterator[Problem]:
    """Every node of every group finds addresses in its subnet, at the groups' largest sizes."""
    if settings.network.existing is not None:
        return  # judged by the description of the network, with the addresses that are free
    try:
        plan = cidr.plan_subnets(settings.network.cidr, settings.network.pod_cidr, settings.network.zones)
    except ValueError:
        return  # reported already by the rules on zones and address space
    room = {subnets.zone_id: cidr.usable_addresses(subnets.node) for subnets in plan}
    for zone_id, addresses_needed in node_addresses(settings).items():
        if addresses_needed <= room[zone_id]:
            continue
        wrong = f"the groups and pools of {zone_id} can grow to need {addresses_needed} addresses, their subnet has {room[zone_id]}"
        largest = max((need for need in address_needs(settings) if need.zone_id == zone_id), key=lambda need: need.addresses)
        most = (room[zone_id] - addresses_needed + largest.addresses) // largest.per_node
        block = settings.network.pod_cidr
        if most > 0:
            hint = f"lower it, take a larger `network.podCidr` (at most /16, now {block}), or use `efaLayout: efa-primary`"
            yield Problem(largest.key, largest.nodes, wrong, f"at most {most}, as the others are", hint)
        else:
            hint = "take a larger block (at most /16), lower maxSize or maxNodes, or use `efaLayout: efa-primary`"
            yield Problem("network.podCidr", block, wrong, hint=hint)
