"""The VPC: subnets by zone id and role, NAT, internet gateway, and endpoints."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.component import Component
from components.place import Place
from facts.cidr import ZoneSubnets


@dataclass(frozen=True)
class NetworkArgs:
    """What a network is made from."""

    cluster_name: str
    """Names and discovery tags are built from it."""
    region: str
    cidr: str
    """Primary block."""
    pod_cidr: str
    """Secondary block, for nodes and pods."""
    subnets: Sequence[ZoneSubnets]
    """The plan: one entry per zone, the first one holds a single NAT gateway."""
    nat: str = "single"
    """`single`, `per-zone` or `none`."""
    s3_endpoint: bool = True
    interface_endpoints: Sequence[str] = ()
    """Service names such as `ecr.api`."""


class Network(Component):
    """VPC, subnets, routes, NAT gateways and endpoints."""

    vpc_id: pulumi.Output[str]
    place: Place
    """What is built in it."""
    public_subnets: dict[str, aws.ec2.Subnet]
    """By zone id."""
    private_subnets: dict[str, aws.ec2.Subnet]
    """By zone id: control-plane interfaces and the file system."""
    node_subnets: dict[str, aws.ec2.Subnet]
    """By zone id: nodes and pods."""
    egress: list[pulumi.Resource]
    """What must exist before a node can reach the registries and the control plane."""

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trn:components:Network", name, opts)
        self._name, self._args = name, args
        self._child = pulumi.ResourceOptions(parent=self)
        self._vpc = aws.ec2.Vpc(
            self.named(name),
            cidr_block=args.cidr,
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags={"Name": args.cluster_name},
            opts=self._child,
        )
        self.vpc_id = self._vpc.id
        pod_block = aws.ec2.VpcIpv4CidrBlockAssociation(
            self.named(f"{name}-pods"), vpc_id=self.vpc_id, cidr_block=args.pod_cidr, opts=self._child
        )
        self._gateway = aws.ec2.InternetGateway(self.named(name), vpc_id=self.vpc_id, tags={"Name": args.cluster_name}, opts=self._child)

        discovery = {"karpenter.sh/discovery": args.cluster_name}
        self.public_subnets = {
            z.zone_id: self._subnet("public", z.zone_id, z.public, {"kubernetes.io/role/elb": "1"}) for z in args.subnets
        }
        self.private_subnets = {
            z.zone_id: self._subnet("private", z.zone_id, z.private, {"kubernetes.io/role/internal-elb": "1"}) for z in args.subnets
        }
        # A subnet of the secondary block can only be made once the block is there, and must be deleted before it.
        self.node_subnets = {z.zone_id: self._subnet("node", z.zone_id, z.node, discovery, after=pod_block) for z in args.subnets}

        self._public_routes = self._route_public()
        self._private_tables = self._private_route_tables()
        self.egress = [*self._route_private(), *self._endpoints()]
        private = {zone_id: subnet.id for zone_id, subnet in self.private_subnets.items()}
        nodes = {zone_id: subnet.id for zone_id, subnet in self.node_subnets.items()}
        self.place = Place(self.vpc_id, private, nodes, private, self.egress)
        self.register_outputs({"vpc_id": self.vpc_id})

    def _subnet(self, role: str, zone_id: str, cidr: str, tags: dict[str, str], after: pulumi.Resource | None = None) -> aws.ec2.Subnet:
        return aws.ec2.Subnet(
            self.named(f"{self._name}-{role}-{zone_id}"),
            vpc_id=self.vpc_id,
            availability_zone_id=zone_id,
            cidr_block=cidr,
            tags={"Name": f"{self._args.cluster_name}-{role}-{zone_id}", **tags},
            opts=pulumi.ResourceOptions(parent=self, depends_on=[after] if after else None),
        )

    def _table(self, role: str) -> aws.ec2.RouteTable:
        tags = {"Name": f"{self._args.cluster_name}-{role}"}
        return aws.ec2.RouteTable(self.named(f"{self._name}-{role}"), vpc_id=self.vpc_id, tags=tags, opts=self._child)

    def _associate(self, role: str, zone_id: str, subnet: aws.ec2.Subnet, table: aws.ec2.RouteTable) -> aws.ec2.RouteTableAssociation:
        return aws.ec2.RouteTableAssociation(
            self.named(f"{self._name}-{role}-{zone_id}"), subnet_id=subnet.id, route_table_id=table.id, opts=self._child
        )

    def _route_public(self) -> list[pulumi.Resource]:
        table = self._table("public")
        route = aws.ec2.Route(
            self.named(f"{self._name}-public"),
            route_table_id=table.id,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=self._gateway.id,
            opts=self._child,
        )
        associations = [self._associate("public", zone_id, subnet, table) for zone_id, subnet in self.public_subnets.items()]
        return [route, *associations]

    def _private_route_tables(self) -> dict[str, aws.ec2.RouteTable]:
        # One table per zone, also with a single NAT gateway: a gateway per zone later changes a route and nothing else.
        return {zone_id: self._table(f"private-{zone_id}") for zone_id in self.private_subnets}

    def _nat_gateways(self) -> dict[str, aws.ec2.NatGateway]:
        zones = list(self.public_subnets)
        chosen = {"single": zones[:1], "per-zone": zones, "none": []}[self._args.nat]
        return {zone_id: self._nat_gateway(zone_id) for zone_id in chosen}

    def _nat_gateway(self, zone_id: str) -> aws.ec2.NatGateway:
        tags = {"Name": f"{self._args.cluster_name}-nat-{zone_id}"}
        # The address is released only after the gateway that holds it, and the internet gateway detached only after both.
        attached = pulumi.ResourceOptions(parent=self, depends_on=[self._gateway])
        address = aws.ec2.Eip(self.named(f"{self._name}-nat-{zone_id}"), domain="vpc", tags=tags, opts=attached)
        return aws.ec2.NatGateway(
            self.named(f"{self._name}-{zone_id}"),
            subnet_id=self.public_subnets[zone_id].id,
            allocation_id=address.id,
            tags=tags,
            # An address serves one gateway at a time: a new one made before the old one is gone is refused.
            opts=pulumi.ResourceOptions(parent=self, depends_on=self._public_routes, delete_before_replace=True),
        )

    def _route_private(self) -> list[pulumi.Resource]:
        gateways = self._nat_gateways()
        made: list[pulumi.Resource] = []
        for zone_id, table in self._private_tables.items():
            gateway = gateways.get(zone_id) or next(iter(gateways.values()), None)
            if gateway is not None:
                made.append(
                    aws.ec2.Route(
                        self.named(f"{self._name}-private-{zone_id}"),
                        route_table_id=table.id,
                        destination_cidr_block="0.0.0.0/0",
                        nat_gateway_id=gateway.id,
                        opts=self._child,
                    )
                )
            made.append(self._associate("private", zone_id, self.private_subnets[zone_id], table))
            made.append(self._associate("node", zone_id, self.node_subnets[zone_id], table))
        return made

    def _endpoints(self) -> list[pulumi.Resource]:
        made: list[pulumi.Resource] = []
        if self._args.s3_endpoint:
            made.append(
                aws.ec2.VpcEndpoint(
                    self.named(f"{self._name}-s3"),
                    vpc_id=self.vpc_id,
                    service_name=self._service("s3"),
                    vpc_endpoint_type="Gateway",
                    route_table_ids=[table.id for table in self._private_tables.values()],
                    tags={"Name": f"{self._args.cluster_name}-s3"},
                    opts=self._child,
                )
            )
        if self._args.interface_endpoints:
            group = self._endpoint_security_group()
            made += [self._interface_endpoint(service, group) for service in self._args.interface_endpoints]
        return made

    def _endpoint_security_group(self) -> aws.ec2.SecurityGroup:
        name = f"{self._args.cluster_name}-endpoints"
        group = aws.ec2.SecurityGroup(
            self.named(f"{self._name}-endpoints"),
            name=name,
            description="HTTPS from the VPC to AWS services",
            vpc_id=self.vpc_id,
            tags={"Name": name},
            opts=self._child,
        )
        for block in (self._args.cidr, self._args.pod_cidr):
            aws.vpc.SecurityGroupIngressRule(
                self.named(f"{self._name}-endpoints-{block}"),
                security_group_id=group.id,
                ip_protocol="tcp",
                from_port=443,
                to_port=443,
                cidr_ipv4=block,
                opts=self._child,
            )
        return group

    def _interface_endpoint(self, service: str, group: aws.ec2.SecurityGroup) -> aws.ec2.VpcEndpoint:
        return aws.ec2.VpcEndpoint(
            self.named(f"{self._name}-{service}"),
            vpc_id=self.vpc_id,
            service_name=self._service(service),
            vpc_endpoint_type="Interface",
            private_dns_enabled=True,
            subnet_ids=[subnet.id for subnet in self.private_subnets.values()],
            security_group_ids=[group.id],
            tags={"Name": f"{self._args.cluster_name}-{service}"},
            opts=self._child,
        )

    def _service(self, service: str) -> str:
        return f"com.amazonaws.{self._args.region}.{service}"
