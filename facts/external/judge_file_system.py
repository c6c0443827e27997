"""What is wrong with a file system for a stack that is to mount it. Pure: a description and what is asked, to problems.

Sources: FSx for Lustre user guide, limit-access-security-groups, accessing-fs and lustre-client-matrix; FSx API, FileSystem.
"""

from collections.abc import Callable, Iterator
from ipaddress import IPv4Address, IPv4Network

from facts.external.file_system import LUSTRE, AskedOfFileSystem, FileSystem
from facts.external.ingress import lets_in
from facts.external.network import NetworkDescription, Route
from facts.lustre import LUSTRE_PORTS, READ_VERSIONS
from facts.problems import Problem

PATH = "storage.lustre.existing"
_USABLE = ("AVAILABLE", "UPDATING")
_PORTS = " and ".join(f"{first}-{last}" if first != last else str(first) for first, last in LUSTRE_PORTS)

Judge = Callable[[FileSystem, NetworkDescription | None, AskedOfFileSystem], Iterator[Problem]]


def problems(found: FileSystem, network: NetworkDescription | None, asked: AskedOfFileSystem) -> list[Problem]:
    """Everything that keeps the stack's nodes from mounting the file system. `network`: the nodes' own; None where it is not known."""
    which = list(_which(found, asked))
    return which or [problem for judge in _JUDGES for problem in judge(found, network, asked)]


def _which(found: FileSystem, asked: AskedOfFileSystem) -> Iterator[Problem]:
    """It is the file system that the stack names, and one of Lustre."""
    path = f"{PATH}.fileSystemId"
    if found.region != asked.region:
        hint = "a file system is mounted in its own region: take one of this region"
        yield Problem(path, asked.id, f"a file system described in {found.region}", asked.region, hint)
    elif found.id != asked.id:
        yield Problem(
            path,
            asked.id,
            "not the file system described",
            found.id,
            "set it to this one, or describe the other with `trn network describe`",
        )
    elif found.type != LUSTRE:
        hint = "`aws fsx describe-file-systems --query \"FileSystems[?FileSystemType=='LUSTRE'].FileSystemId\"` lists those of Lustre"
        yield Problem(path, asked.id, f"a file system of {found.type}", LUSTRE, hint)


def _state(found: FileSystem, network: NetworkDescription | None, asked: AskedOfFileSystem) -> Iterator[Problem]:
    """It is there to be mounted, under its own name, by a client that speaks its version."""
    if found.state not in _USABLE:
        hint = f"`aws fsx describe-file-systems --file-system-ids {asked.id}` says why; wait until it is AVAILABLE, or take another"
        yield Problem(f"{PATH}.fileSystemId", asked.id, f"a file system that is {found.state}", ", ".join(_USABLE), hint)
    if found.mount_name != asked.mount_name:
        hint = f"set it to `{found.mount_name}`: every mount asks for it"
        yield Problem(f"{PATH}.mountName", asked.mount_name, f"not the mount name of {asked.id}", found.mount_name, hint)
    if found.version not in READ_VERSIONS:
        hint = "its owner updates it with `aws fsx update-file-system --file-system-type-version 2.15`, while no client has it mounted"
        wrong = f"a file system of Lustre {found.version}, which the nodes' client does not mount"
        yield Problem(f"{PATH}.fileSystemId", asked.id, wrong, ", ".join(READ_VERSIONS), hint)


def _client_group(found: FileSystem, network: NetworkDescription | None, asked: AskedOfFileSystem) -> Iterator[Problem]:
    """The group for the nodes is in their VPC: EC2 launches nothing with another one."""
    path = f"{PATH}.clientSecurityGroupId"
    hint = f"`aws ec2 describe-security-groups --filters Name=vpc-id,Values={asked.vpc_id}` lists those of the VPC"
    if asked.client_group and found.client_group is None:
        yield Problem(path, asked.client_group, "there is no such security group", hint=hint)
    elif found.client_group is not None and found.client_group.id != asked.client_group:
        told = "not the security group described"
        yield Problem(path, asked.client_group or "absent", told, found.client_group.id, "describe it again with `trn network describe`")
    elif found.client_group is not None and found.client_group.vpc_id != asked.vpc_id:
        yield Problem(path, asked.client_group, f"a security group of {found.client_group.vpc_id}", f"one of {asked.vpc_id}", hint)


def _reach(found: FileSystem, network: NetworkDescription | None, asked: AskedOfFileSystem) -> Iterator[Problem]:
    """Nodes in another VPC than the file system's have a route to each of its addresses."""
    if found.vpc_id == asked.vpc_id or network is None:
        return
    for zone_id, subnet_id in asked.nodes.items():
        if subnet_id not in network.subnets:
            continue  # said by the network's own judge
        lost = [address for address in found.addresses if not _leads_on(_route(network, subnet_id, address))]
        if lost:
            hint = f"its owner connects {asked.vpc_id} and {found.vpc_id} by peering or a transit gateway, and routes to {lost[0]}"
            wrong = f"a file system in {found.vpc_id}: no route leads there from {subnet_id} in {zone_id}"
            yield Problem(f"{PATH}.fileSystemId", asked.id, wrong, hint=f"{hint}; or take a file system in {asked.vpc_id}")


def _route(network: NetworkDescription, subnet_id: str, address: str) -> Route | None:
    """The most exact route of a subnet to an address; prefix lists are not known from here."""
    fits = [
        route
        for route in network.table_of(subnet_id).routes
        if "/" in route.destination
        and ":" not in route.destination
        and IPv4Address(address) in IPv4Network(route.destination, strict=False)
    ]
    return max(fits, key=lambda route: IPv4Network(route.destination, strict=False).prefixlen, default=None)


def _leads_on(route: Route | None) -> bool:
    """Whether a route may reach another VPC: neither a NAT gateway nor an internet gateway does."""
    return route is not None and route.active and route.target != "local" and not route.target.startswith(("nat-", "igw-", "eigw-"))


def _ports(found: FileSystem, network: NetworkDescription | None, asked: AskedOfFileSystem) -> Iterator[Problem]:
    """The file system's own groups let nodes in on the ports of Lustre: by their addresses, or by the group that they are in."""
    rules = [rule for group in found.groups.values() for rule in group.ingress]
    for zone_id, subnet_id in asked.nodes.items() if network is not None else ():
        block = network.block_of(subnet_id) if network is not None and subnet_id in network.subnets else None
        # A subnet that is not in the VPC, or has no such addresses, is said by the network's own judge.
        if block is None or all(lets_in(rules, ports, block, asked.client_group) for ports in LUSTRE_PORTS):
            continue
        wrong = f"{', '.join(found.groups) or 'no security group'} of the file system does not let in {block}, the nodes of {zone_id}, on TCP {_PORTS}"
        who = asked.client_group or block
        hint = f"its owner allows TCP {_PORTS} from {who}"
        hint += "" if asked.client_group else f", or from a group for clients, which you name as `{PATH}.clientSecurityGroupId`"
        yield Problem(f"{PATH}.fileSystemId", asked.id, wrong, hint=hint)


_JUDGES: tuple[Judge, ...] = (_state, _client_group, _reach, _ports)


def notes(found: FileSystem, asked: AskedOfFileSystem) -> list[str]:
    """What works and should be known all the same, a sentence each."""
    said = [
        f"{found.id} is in {found.zone_id}, and nodes that train are in {zone_id}: traffic between them costs per GB"
        for zone_id in asked.efa_zones
        if found.zone_id and zone_id != found.zone_id
    ]
    if found.deployment_type.startswith("SCRATCH"):
        said.append(
            f"{found.id} is {found.deployment_type}: FSx keeps one copy of its data, and a file server that fails takes its part with it"
        )
    return said
