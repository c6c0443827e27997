"""A network as its owner has it."""

from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field

from facts.section import Formed, Section
from facts.text_formats import Form

ANYWHERE = "0.0.0.0/0"
_HALVES = ("0.0.0.0/1", "128.0.0.0/1")
"""Both together lead everywhere: what VPN gateways and appliances announce in the place of a default route."""
AMAZON_DNS = "AmazonProvidedDNS"


def _is_block(text: str) -> bool:
    try:
        IPv4Network(text, strict=False)
    except ValueError:
        return False
    return True


def _is_destination(text: str) -> bool:
    return text.startswith("pl-") or _is_block(text)


AGAIN = "describe it again with `trn network describe`"
_BLOCK = Form("IPv4 block", r"[0-9.]+/[0-9]+", "such as 10.0.0.0/20", AGAIN, 18, _is_block)
_DESTINATION = Form(
    "destination of a route", r"pl-[0-9a-f]+|[0-9.]+/[0-9]+", "an IPv4 block, or pl- and hexadecimal digits", AGAIN, 40, _is_destination
)
Block = Annotated[str, Formed(_BLOCK)]


class Route(Section):
    """One route of a table."""

    destination: Annotated[str, Formed(_DESTINATION)]
    """A CIDR block, or the id of a prefix list."""
    target: str
    """Id of what it leads to, such as `nat-...`; `local` within the VPC."""
    active: bool = True
    """False for a black hole: what it led to is gone."""


class RouteTable(Section):
    """A route table."""

    main: bool = False
    """The VPC's own, for subnets without a table."""
    routes: tuple[Route, ...] = ()


class Subnet(Section):
    """A subnet."""

    zone_id: str
    cidr: Block | None = None
    """None for a subnet of IPv6 alone."""
    free_addresses: int = Field(ge=0)
    """As EC2 counts them when the description is made."""
    public_addresses: bool = False
    """Whether an instance with one interface gets a public address."""
    route_table: str = ""
    """Id of its table; empty where the main one serves it."""
    tags: dict[str, str] = Field(default_factory=dict)


class NatGateway(Section):
    """A NAT gateway."""

    subnet: str
    state: str = "available"
    public: bool = True
    """False: it leads to other networks, never to the internet."""


class Rule(Section):
    """What one rule of a security group lets in."""

    protocol: str
    """`tcp`, or `-1` for all."""
    first_port: int = -1
    last_port: int = -1
    cidrs: tuple[Block, ...] = ()
    groups: tuple[str, ...] = ()
    """Ids of the security groups that it names."""
    prefix_lists: tuple[str, ...] = ()
    """Ids of the prefix lists that it names; which blocks they hold is not described."""


class SecurityGroup(Section):
    """What a security group of an endpoint or a file system lets in."""

    ingress: tuple[Rule, ...] = ()


class Endpoint(Section):
    """A VPC endpoint."""

    service: str
    """Name without `com.amazonaws.REGION.`, such as `ecr.api`."""
    type: Literal["Interface", "Gateway", "GatewayLoadBalancer", "Resource", "ServiceNetwork"]
    state: str = "available"
    private_dns: bool = False
    """Whether the service's usual name leads to it."""
    subnets: tuple[str, ...] = ()
    route_tables: tuple[str, ...] = ()
    """Tables that lead to it, of a gateway endpoint."""
    groups: tuple[str, ...] = ()
    """Security groups of an interface endpoint."""


class NetworkDescription(Section):
    """One VPC with all that decides whether a cluster works in it."""

    region: str
    vpc_id: str
    owner: str = ""
    """Account that shares the VPC's subnets with the caller's; empty where it is the caller's own. Of the rest a participant sees little."""
    cidrs: tuple[Block, ...] = Field(min_length=1)
    """All IPv4 blocks."""
    dns_support: bool = True
    """`enableDnsSupport`."""
    dns_hostnames: bool = True
    """`enableDnsHostnames`."""
    name_servers: tuple[str, ...] = (AMAZON_DNS,)
    """Of its DHCP options: `AmazonProvidedDNS`, or addresses of the company's own."""
    subnets: dict[str, Subnet]
    route_tables: dict[str, RouteTable]
    nat_gateways: dict[str, NatGateway] = Field(default_factory=dict)
    endpoints: dict[str, Endpoint] = Field(default_factory=dict)
    security_groups: dict[str, SecurityGroup] = Field(default_factory=dict)

    def table_of(self, subnet_id: str) -> RouteTable:
        """The table that serves a subnet: its own, or the main one."""
        named = self.subnets[subnet_id].route_table
        if named in self.route_tables:
            return self.route_tables[named]
        return next((table for table in self.route_tables.values() if table.main), RouteTable(main=True))

    def table_id_of(self, subnet_id: str) -> str:
        """Id of that table; empty where the description has none."""
        named = self.subnets[subnet_id].route_table
        return named or next((which for which, table in self.route_tables.items() if table.main), "")

    def default_route(self, subnet_id: str) -> Route | None:
        """The route to everywhere, where the subnet has one; of two that lead to a half each, the one that leads nowhere first."""
        routes = self.table_of(subnet_id).routes
        halves = [route for route in routes if route.destination in _HALVES]
        whole = [route for route in routes if route.destination == ANYWHERE]
        covered = halves if {route.destination for route in halves} == set(_HALVES) else []
        # The longer prefix wins, so halves count before a route to everywhere.
        return next(iter(sorted(covered, key=lambda route: route.active) or whole), None)

    def block_of(self, subnet_id: str) -> IPv4Network | None:
        """Addresses of a subnet; None for one of IPv6 alone."""
        cidr = self.subnets[subnet_id].cidr
        return IPv4Network(cidr, strict=False) if cidr is not None else None
