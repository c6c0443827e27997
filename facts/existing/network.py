"""A network as its owner has it."""

from typing import Literal

from pydantic import Field

from facts.section import Section

ANYWHERE = "0.0.0.0/0"


class Route(Section):
    """One route of a table."""

    destination: str
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
    cidr: str
    free_addresses: int
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
    cidrs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    """Ids of the security groups that it names."""


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
    cidrs: tuple[str, ...]
    """All IPv4 blocks."""
    dns_support: bool = True
    """`enableDnsSupport`."""
    dns_hostnames: bool = True
    """`enableDnsHostnames`."""
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
        """The route to everywhere, where the subnet has one."""
        return next((route for route in self.table_of(subnet_id).routes if route.destination == ANYWHERE), None)
