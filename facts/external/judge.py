"""What is wrong with a network for a stack, before anything is made in it. Pure: a description and what is asked, to problems.

Sources: EKS user guide, network-reqs and private-clusters; VPC user guide, route tables, NAT gateways, vpc-dns; PrivateLink
guide, interface and gateway endpoints; EC2 user guide, using-eni; read 2026-11.
"""

from collections.abc import Callable, Iterator
from ipaddress import IPv4Network

from facts.endpoints import INTERFACE_ENDPOINTS
from facts.external.asked import AskedOfNetwork
from facts.external.ingress import lets_in, prefix_lists
from facts.external.network import AMAZON_DNS, Endpoint, NetworkDescription, Rule
from facts.external.subnet_tags import SubnetTag
from facts.external.ways import dead_end, has_internet_gateway, has_way_out, is_known_to_reach_the_internet
from facts.problems import Problem

SERVICE_CIDRS = ("10.100.0.0/16", "172.20.0.0/16")
"""EKS takes the addresses of Kubernetes services from one of these that no block of the VPC overlaps (EKS API, serviceIpv4Cidr)."""
HTTPS = 443

Judge = Callable[[NetworkDescription, AskedOfNetwork], Iterator[Problem]]


def problems(network: NetworkDescription, asked: AskedOfNetwork) -> list[Problem]:
    """Everything that keeps the stack from coming up, or from working, in the network."""
    which = list(_which(network, asked))
    if which:
        return which
    places = list(_subnets(network, asked))
    if any(subnet_id not in network.subnets or network.subnets[subnet_id].cidr is None for _, _, subnet_id in asked.places()):
        return places
    return [*places, *(problem for judge in _JUDGES for problem in judge(network, asked))]


def _which(network: NetworkDescription, asked: AskedOfNetwork) -> Iterator[Problem]:
    """It is the network that the stack names."""
    if network.region != asked.region:
        yield Problem(
            "region", asked.region, "not the region of the network described", network.region, "describe the network of this region"
        )
    elif network.vpc_id != asked.vpc_id:
        hint = "set it to this one, or describe the other with `trn network describe`"
        yield Problem("network.existing.vpcId", asked.vpc_id, "not the VPC described", network.vpc_id, hint)


def _subnets(network: NetworkDescription, asked: AskedOfNetwork) -> Iterator[Problem]:
    """Each subnet is in the VPC, in the zone under which it is named, and has IPv4 addresses."""
    for path, zone_id, subnet_id in asked.places():
        found = network.subnets.get(subnet_id)
        if found is None:
            here = ", ".join(which for which, subnet in network.subnets.items() if subnet.zone_id == zone_id)
            yield Problem(path, subnet_id, f"no subnet of {network.vpc_id}", here or "none of this zone", "take a subnet of the VPC")
        elif found.zone_id != zone_id:
            yield Problem(
                path, subnet_id, f"a subnet in {found.zone_id}", zone_id, f"write it under `{found.zone_id}`, or take another subnet"
            )
        elif found.cidr is None:
            hint = "take a subnet with an IPv4 block: the cluster's pods and services have IPv4 addresses"
            yield Problem(path, subnet_id, "a subnet of IPv6 alone", hint=hint)


def _dns(network: NetworkDescription, asked: AskedOfNetwork) -> Iterator[Problem]:
    """Nodes find the private endpoint of the control plane, and interface endpoints, by the VPC's own names."""
    for is_on, attribute in ((network.dns_support, "enable-dns-support"), (network.dns_hostnames, "enable-dns-hostnames")):
        if not is_on:
            hint = f"its owner runs `aws ec2 modify-vpc-attribute --vpc-id {network.vpc_id} --{attribute}`"
            yield Problem("network.existing.vpcId", network.vpc_id, f"a VPC without {attribute}: nodes cannot register", hint=hint)


def _service_addresses(network: NetworkDescription, asked: AskedOfNetwork) -> Iterator[Problem]:
    """One of EKS's two blocks for the addresses of services is free."""
    blocks = [IPv4Network(block, strict=False) for block in network.cidrs]
    if all(any(block.overlaps(IPv4Network(taken)) for block in blocks) for taken in SERVICE_CIDRS):
        wrong = f"a VPC that overlaps both blocks which EKS has for services of Kubernetes, {' and '.join(SERVICE_CIDRS)}"
        yield Problem("network.existing.vpcId", network.vpc_id, wrong, hint="take another VPC")


def _default_routes(network: NetworkDescription, asked: AskedOfNetwork) -> Iterator[Problem]:
    """A default route that nodes have leads somewhere."""
    for path, subnet_id in _node_places(asked):
        wrong = dead_end(network, asked, subnet_id)
        if wrong:
            hint = "its owner routes 0.0.0.0/0 to a NAT gateway that is there, or removes the route and makes endpoints; or take another subnet"
            yield Problem(path, subnet_id, wrong, hint=hint)


def _services(network: NetworkDescription, asked: AskedOfNetwork) -> Iterator[Problem]:
    """Each service that nodes and add-ons call has an endpoint where a subnet with nodes has no default route."""
    for path, subnet_id in _node_places(asked):
        if network.default_route(subnet_id) is not None:
            continue
        # A participant does not see the owner's endpoints: a note says what has to be there.
        lacking = {name: who for name, who in asked.services.items() if not is_reached(network, subnet_id, name)}
        open_to = sorted(name for name in lacking if name in INTERFACE_ENDPOINTS)
        closed = sorted(lacking.keys() - INTERFACE_ENDPOINTS)
        if open_to and not network.owner:
            hint = f"its owner makes interface endpoints with private DNS names for {', '.join(name for name in open_to if name != 's3') or 'these'}"
            hint += f", and a gateway endpoint for s3 on {network.table_id_of(subnet_id)}" if "s3" in open_to else ""
            yield Problem(path, subnet_id, f"a subnet without a way to {_told(open_to, lacking)}", hint=f"{hint}; or a NAT gateway")
        if closed:
            hint = (
                "set `network.existing.isolated: true`: what can be left out is then left out" if not asked.is_isolated else "switch it off"
            )
            yield Problem(
                path, subnet_id, f"no endpoint of the region reaches {_told(closed, lacking)}", hint=f"{hint}; or add a NAT gateway"
            )


def _told(names: list[str], who: dict[str, str]) -> str:
    by_caller: dict[str, list[str]] = {}
    for name in names:
        by_caller.setdefault(who[name], []).append(name)
    return "; ".join(f"{', '.join(called)} (called by {caller})" for caller, called in by_caller.items())


def _endpoint_groups(network: NetworkDescription, asked: AskedOfNetwork) -> Iterator[Problem]:
    """An interface endpoint with private DNS lets nodes in: with its name it takes all calls, whatever other way there is."""
    for which, endpoint in network.endpoints.items():
        if not (_takes_the_name(endpoint) and endpoint.service in asked.services):
            continue
        for path, subnet_id in _node_places(asked):
            block = network.block_of(subnet_id)
            if block is not None and _is_shut(network, endpoint, block):
                wrong = (
                    f"{which} takes all calls to {endpoint.service}, and {', '.join(endpoint.groups)} does not let {block} in on port 443"
                )
                yield Problem(path, subnet_id, wrong, hint=f"its owner allows TCP 443 from {block} in that security group")


def _private_names(network: NetworkDescription, asked: AskedOfNetwork) -> Iterator[Problem]:
    """An isolated network's endpoints have private DNS names: nodes ask for the usual ones."""
    if not asked.is_isolated:
        return
    for which, endpoint in network.endpoints.items():
        if endpoint.type == "Interface" and endpoint.service in asked.services and not endpoint.private_dns and endpoint.service != "s3":
            hint = f"its owner runs `aws ec2 modify-vpc-endpoint --vpc-endpoint-id {which} --private-dns-enabled`"
            yield Problem("network.existing.vpcId", network.vpc_id, f"{which} for {endpoint.service} has no private DNS name", hint=hint)


def _addresses(network: NetworkDescription, asked: AskedOfNetwork) -> Iterator[Problem]:
    """Each subnet has an address for all that the stack puts there at its largest."""
    for subnet_id, count in asked.addresses.items() if not asked.is_up else ():
        free = network.subnets[subnet_id].free_addresses
        if count > free:
            path = next(path for path, _, which in asked.places() if which == subnet_id)
            hint = "take a larger subnet, or free addresses in it; fewer are asked with a lower maxSize or maxNodes, or `efaLayout: efa-primary`"
            yield Problem(path, subnet_id, f"a subnet with {free} free addresses, where the stack can grow to take {count}", hint=hint)


def _load_balancers(network: NetworkDescription, asked: AskedOfNetwork) -> Iterator[Problem]:
    """Subnets of load balancers that face the internet have a route to an internet gateway."""
    for zone_id, subnet_id in asked.load_balancers.items():
        if not has_internet_gateway(network, subnet_id):
            path = f"network.existing.loadBalancers.{zone_id}"
            hint = "take a public subnet, or write it under `internalLoadBalancers`"
            yield Problem(path, subnet_id, "a subnet without a route to an internet gateway", hint=hint)


def _tags(network: NetworkDescription, asked: AskedOfNetwork) -> Iterator[Problem]:
    """The stack puts on no tag that is there already: it would overwrite it, and a destroy would take it from its owner."""
    for tag in asked.tags if asked.sets_tags and not asked.is_up else ():
        value = network.subnets[tag.subnet_id].tags.get(tag.key)
        if value is not None:
            wrong = f"{tag.subnet_id} has the tag {tag.key}={value} already, which a destroy of this stack would delete"
            yield Problem("network.existing.tagSubnets", True, wrong, "false", _tag_hint(tag, value))


def _tag_hint(tag: SubnetTag, value: str) -> str:
    if value == tag.value:
        return "set it to false: controllers find the subnet by the tag that is there"
    return f"set it to false; {tag.key}={value} is another cluster's, and a subnet has the key once"


_JUDGES: tuple[Judge, ...] = (
    _dns, _service_addresses, _default_routes, _services, _endpoint_groups, _private_names, _addresses, _load_balancers, _tags,
)  # fmt: skip


def absent_tags(network: NetworkDescription, asked: AskedOfNetwork) -> list[SubnetTag]:
    """Tags that controllers look for and that are not on the subnets."""
    return [tag for tag in asked.tags if tag.subnet_id in network.subnets and network.subnets[tag.subnet_id].tags.get(tag.key) != tag.value]


def notes(network: NetworkDescription, asked: AskedOfNetwork) -> list[str]:
    """What works and should be known all the same, a sentence each."""
    said: list[str] = []
    gateway = [endpoint for endpoint in network.endpoints.values() if (endpoint.service, endpoint.type) == ("s3", "Gateway")]
    for _, subnet_id in _node_places(asked):
        if subnet_id not in network.subnets or not has_way_out(network, subnet_id):
            continue
        route, table = network.default_route(subnet_id), network.table_id_of(subnet_id)
        if not any(table in endpoint.route_tables for endpoint in gateway):
            said.append(
                f"{subnet_id}: no gateway endpoint for S3 on {table}, so that data and images from S3 pass {route.target if route else 'the NAT'}"
            )
        if route is not None and not is_known_to_reach_the_internet(network, route.target):
            said.append(f"{subnet_id}: the way to the internet leads to {route.target}, and what that lets through is not known from here")
        if asked.is_isolated:
            said.append(
                f"{subnet_id}: `network.existing.isolated` is true, and there is a way to the internet: add-ons leave out calls that would work"
            )
    said += _hidden(network, asked)
    if not asked.sets_tags:
        said += [
            f"{tag.subnet_id} lacks the tag {tag.key}={tag.value}: `aws ec2 create-tags --resources {tag.subnet_id} --tags Key={tag.key},Value={tag.value}`"
            for tag in absent_tags(network, asked)
        ]
    if len(asked.load_balancers) == 1:
        said.append("an Application Load Balancer takes subnets in two zones, and `network.existing.loadBalancers` has one")
    return list(dict.fromkeys(said))


def _hidden(network: NetworkDescription, asked: AskedOfNetwork) -> Iterator[str]:
    """What is not seen from here, and has to be right all the same."""
    if AMAZON_DNS not in network.name_servers:
        named = ", ".join(network.name_servers) or "no server"
        yield (
            f"names in {network.vpc_id} are resolved by {named}: nodes find the control plane and endpoints only where these ask "
            "Amazon's resolver, the second address of the VPC"
        )
    if network.owner:
        yield f"{network.vpc_id} is shared by account {network.owner}: its endpoints, and the tags that its owner set, are not seen from here"
        for subnet_id in asked.nodes.values():
            if subnet_id in network.subnets and network.default_route(subnet_id) is None:
                names = ", ".join(sorted(name for name in asked.services if not is_reached(network, subnet_id, name)))
                yield f"{subnet_id} has no default route: its owner must have endpoints for {names}"
    for which, endpoint in network.endpoints.items():
        lists = prefix_lists(_rules(network, endpoint), HTTPS)
        if lists and _takes_the_name(endpoint) and endpoint.service in asked.services:
            yield f"{which} for {endpoint.service} lets in {', '.join(lists)}: whether the nodes' subnets are in it is not known from here"


def _node_places(asked: AskedOfNetwork) -> list[tuple[str, str]]:
    return [(f"network.existing.nodes.{zone_id}", subnet_id) for zone_id, subnet_id in asked.nodes.items()]


def is_reached(network: NetworkDescription, subnet_id: str, service: str) -> bool:
    """Whether an endpoint of the VPC takes calls of a subnet to a service."""
    table = network.table_id_of(subnet_id)
    for endpoint in network.endpoints.values():
        if endpoint.service != service or endpoint.state.lower() != "available":
            continue
        if endpoint.type == "Gateway" and table in endpoint.route_tables:
            return True
        if endpoint.type == "Interface" and endpoint.private_dns:
            return True
    return False


def _takes_the_name(endpoint: Endpoint) -> bool:
    return endpoint.type == "Interface" and endpoint.private_dns and endpoint.state.lower() == "available"


def _is_shut(network: NetworkDescription, endpoint: Endpoint, block: IPv4Network) -> bool:
    """Whether an endpoint keeps a block out; what a group that is not seen lets in is not known."""
    if any(group not in network.security_groups for group in endpoint.groups):
        return False
    return not lets_in(_rules(network, endpoint), (HTTPS, HTTPS), block)


def _rules(network: NetworkDescription, endpoint: Endpoint) -> list[Rule]:
    return [rule for group in endpoint.groups if group in network.security_groups for rule in network.security_groups[group].ingress]
