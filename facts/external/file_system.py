"""A Lustre file system as its owner has it, and what a stack asks of it, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from facts.external.network import AGAIN, NetworkDescription, Rule, SecurityGroup
from facts.lustre import LUSTRE_PORTS
from facts.section import Formed, Section
from facts.text_formats import Form

LUSTRE = "LUSTRE"
_NUMBER = r"(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
ADDRESS = Form("IPv4 address", rf"{_NUMBER}(\.{_NUMBER}){{3}}", "such as 10.0.0.1", AGAIN, 15)


class ClientGroup(Section):
    """A security group for clients, in which the stack puts its nodes."""

    id: str
    vpc_id: str


class FileSystem(Section):
    """An FSx file system with all that decides whether nodes can mount it."""

    id: str
    region: str
    type: str = LUSTRE
    state: str = "AVAILABLE"
    mount_name: str = ""
    version: str = "2.15"
    deployment_type: str = "PERSISTENT_2"
    vpc_id: str
    subnet: str
    zone_id: str = ""
    """Zone of its subnet."""
    addresses: tuple[Annotated[str, Formed(ADDRESS)], ...] = ()
    """Of its network interfaces."""
    groups: dict[str, SecurityGroup] = Field(default_factory=dict)
    """Security groups of its network interfaces."""
    client_group: ClientGroup | None = None
    """The group that the stack names for its nodes; none where it names none, or where there is no such group."""


@dataclass(frozen=True)
class AskedOfFileSystem:
    """What a stack that mounts a file system asks of it."""

    region: str
    id: str
    mount_name: str
    vpc_id: str
    """Of the nodes."""
    nodes: Mapping[str, str]
    """Subnets of nodes by zone id."""
    client_group: str = ""
    """Security group that the nodes get for it; empty for none."""
    efa_zones: tuple[str, ...] = ()
    """Zones with groups that train."""


def assumed_file_system(asked: AskedOfFileSystem, network: NetworkDescription) -> FileSystem:
    """A file system that the stack can mount, for a rehearsal that was given no description of the real one: in a subnet of nodes that train."""
    zone_id = next((zone_id for zone_id in asked.efa_zones if zone_id in asked.nodes), next(iter(asked.nodes)))
    subnet_id = asked.nodes[zone_id]
    block = network.block_of(subnet_id)
    assert block is not None, "an assumed network has IPv4 blocks"
    who = {"groups": (asked.client_group,)} if asked.client_group else {"cidrs": network.cidrs}
    rules = tuple(Rule(protocol="tcp", first_port=first, last_port=last, **who) for first, last in LUSTRE_PORTS)
    return FileSystem(
        id=asked.id,
        region=asked.region,
        mount_name=asked.mount_name,
        vpc_id=asked.vpc_id,
        subnet=subnet_id,
        zone_id=zone_id,
        addresses=(str(block[-2]), str(block[-3])),
        groups={"sg-0a55ed2": SecurityGroup(ingress=rules)},
        client_group=ClientGroup(id=asked.client_group, vpc_id=asked.vpc_id) if asked.client_group else None,
    )
