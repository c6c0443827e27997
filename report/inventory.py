"""The picture of a cluster as boxes, read from types, ids and inputs of a recording and never from components."""

import re
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from facts.catalogue import NEURON_TYPES
from report.boxes import Box
from simulator.recording import Indexed, Recording, Registration
from simulator.report.words import plural

ROLES_FIRST = ("public", "private", "node")
"""Rows of subnets from the way out inwards; other roles follow by name."""

SUBNET, NAT_GATEWAY, NODE_GROUP = "aws:ec2/subnet:Subnet", "aws:ec2/natGateway:NatGateway", "aws:eks/nodeGroup:NodeGroup"
FILE_SYSTEM = "aws:fsx/lustreFileSystem:LustreFileSystem"


class Inventory:
    """Look-ups over one recording: what belongs to which id."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording = Indexed(recording)
        self.vpcs = recording.of_type("aws:ec2/vpc:Vpc")
        self.clusters = recording.of_type("aws:eks/cluster:Cluster")
        self.endpoints = recording.of_type("aws:ec2/vpcEndpoint:VpcEndpoint")
        zones = {item.id: _zone_id(item) for item in self.of(SUBNET)}
        self._nat_zones = {item.id: zones.get(str(item.inputs.get("subnetId")), "no zone") for item in self.of(NAT_GATEWAY)}

    def of(self, kind: str) -> list[Registration]:
        """Registrations of one type, by URN."""
        return self._recording.of_type(kind)

    @property
    def region(self) -> str:
        """Region of the AWS provider, else of the stack's outputs; `no region` where neither says."""
        regions = [item.inputs.get("region") for item in self.of("pulumi:providers:aws")]
        return next((str(region) for region in [*regions, self._recording.stack_outputs.get("region")] if region), "no region")

    @property
    def zone_ids(self) -> list[str]:
        """Zones in which the program has subnets."""
        return sorted({_zone_id(item) for item in self.of(SUBNET)})

    @property
    def kubernetes_version(self) -> str:
        """Of the control plane; `none` without one."""
        return " and ".join(str(item.inputs.get("version") or "newest") for item in self.clusters) or "none"

    @property
    def file_systems(self) -> list[str]:
        """Size and throughput of each file system."""
        return [" at ".join(_file_system(item)) for item in self.of(FILE_SYSTEM)]

    def node_counts(self) -> Mapping[str, int]:
        """Nodes that the managed node groups start with, by instance type, those with Neuron chips first; 0 where groups are empty."""
        counts: Counter[str] = Counter()
        for group in self.of(NODE_GROUP):
            counts[" or ".join(self._instance_types(group))] += _desired_size(group)
        return dict(sorted(counts.items(), key=lambda item: (item[0] not in NEURON_TYPES, -item[1], item[0])))

    def pools(self) -> list[str]:
        """What Karpenter may add, pool by pool: `up to 4 x trn2.48xlarge by Karpenter`."""
        found = []
        for item in self.of("kubernetes:karpenter.sh/v1:NodePool"):
            spec = item.inputs.get("spec") or {}
            requirements = (((spec.get("template") or {}).get("spec") or {}).get("requirements")) or []
            types = [
                value for wanted in requirements if wanted.get("key") == "node.kubernetes.io/instance-type" for value in wanted["values"]
            ]
            most = (spec.get("limits") or {}).get("nodes")
            found.append(f"up to {most} x {' or '.join(types)} by Karpenter" if types and most else "more by Karpenter")
        return list(dict.fromkeys(found))

    def _vpc_title(self) -> str:
        """Names and blocks of the VPC."""
        blocks = [item.inputs.get("cidrBlock") for item in self.of("aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation")]
        named = [" ".join(["VPC", _label(vpc), str(vpc.inputs.get("cidrBlock", ""))]) for vpc in self.vpcs]
        return " and ".join([*(named or ["no VPC"]), *(str(block) for block in blocks if block)])

    def _edge(self) -> list[Box]:
        """What the VPC has as a whole: its internet gateway and its endpoints."""
        routes = [str(item.inputs.get("gatewayId")) for item in self.of("aws:ec2/route:Route")]
        gateways = [
            Box("gateway", "internet gateway", (f"in {plural(routes.count(item.id), 'route table')}",))
            for item in self.of("aws:ec2/internetGateway:InternetGateway")
        ]
        return gateways + [Box("gateway", f"{_service(item)} endpoint", (_endpoint_line(item),)) for item in self.endpoints]

    def picture(self) -> list[list[Box]]:
        """The whole picture, row below row, boxes of a row side by side."""
        addons = self._versions("aws:eks/addon:Addon", "addonName", "addonVersion")
        charts = self._versions("kubernetes:helm.sh/v3:Release", "name", "version")
        software = [Box("", title, chips=chips) for title, chips in (("Managed add-ons", addons), ("Charts", charts)) if chips]
        return [*self.network(), *([software] if software else [])]

    def network(self) -> list[list[Box]]:
        """The control plane, and the VPC with a column for each zone."""
        vpc = Box("vpc", self._vpc_title(), chips=self._edge(), columns=self._zones())
        return [*([self._control_plane(item)] for item in self.clusters), [vpc]]

    def _zones(self) -> list[Box]:
        """Subnets of one role have the same place in each zone; a second one of that role in a zone is in a further row."""
        cells: dict[tuple[int, str, int], dict[str, Box]] = {}
        met: Counter[tuple[str, str]] = Counter()
        for subnet in self.of(SUBNET):
            role, zone_id = self._role(subnet), _zone_id(subnet)
            place = ROLES_FIRST.index(role) if role in ROLES_FIRST else len(ROLES_FIRST)
            cells.setdefault((place, role, met[role, zone_id]), {})[zone_id] = self._subnet(subnet, role)
            met[role, zone_id] += 1
        rows = [cells[key] for key in sorted(cells)]
        return [Box("zone", zone_id, cells=[row.get(zone_id) for row in rows]) for zone_id in self.zone_ids]

    def _subnet(self, subnet: Registration, role: str) -> Box:
        gateways = [self._nat_gateway(item) for item in self.of(NAT_GATEWAY) if item.inputs.get("subnetId") == subnet.id]
        interfaces = [
            Box("control", "control plane interfaces", ["made by EKS"])
            for item in self.clusters
            if subnet.id in _ids((item.inputs.get("vpcConfig") or {}).get("subnetIds"))
        ]
        files = [
            Box("storage", "file system", _file_system(item))
            for item in self.of(FILE_SYSTEM)
            if subnet.id in _ids(item.inputs.get("subnetIds"))
        ]
        groups = [self._node_group(item) for item in self._groups.get(subnet.id, ())]
        title = f"{role}  {subnet.inputs.get('cidrBlock', '')}"
        return Box("subnet", title, [self._routes(subnet.id)], [*gateways, *interfaces, *files, *groups])

    def _nat_gateway(self, gateway: Registration) -> Box:
        addresses = [item.outputs.get("publicIp") for item in self.of("aws:ec2/eip:Eip") if item.id == gateway.inputs.get("allocationId")]
        return Box("gateway", "NAT gateway", (str(next(iter(addresses), None) or "no public address"),))

    def _role(self, subnet: Registration) -> str:
        label = _label(subnet).removesuffix(f"-{_zone_id(subnet)}")
        for vpc in self.vpcs:
            if vpc.id == subnet.inputs.get("vpcId"):
                label = label.removeprefix(f"{_label(vpc)}-")
        return label

    def _routes(self, subnet_id: str) -> str:
        """Where traffic from a subnet can go, by its route table."""
        associations = self.of("aws:ec2/routeTableAssociation:RouteTableAssociation")
        tables = [str(item.inputs.get("routeTableId")) for item in associations if item.inputs.get("subnetId") == subnet_id]
        routes = [item.inputs for item in self.of("aws:ec2/route:Route") if item.inputs.get("routeTableId") in tables]
        zones = [self._nat_zones.get(str(route["natGatewayId"]), "no zone") for route in routes if route.get("natGatewayId")]
        ways = [f"out by NAT in {zone_id}" for zone_id in zones]
        ways += ["out by internet gateway" for route in routes if route.get("gatewayId")]
        ways = ways or ["no way out"]
        for endpoint in self.endpoints:
            if any(table in tables for table in _ids(endpoint.inputs.get("routeTableIds"))):
                ways.append(f"{_service(endpoint)} endpoint")
        return ", ".join(ways)

    @cached_property
    def _templates(self) -> Mapping[str, Mapping[str, Any]]:
        """Inputs of launch templates by their ids."""
        return {item.id: item.inputs for item in self.of("aws:ec2/launchTemplate:LaunchTemplate")}

    @cached_property
    def _groups(self) -> Mapping[str, list[Registration]]:
        """Node groups by the ids of their subnets."""
        found: dict[str, list[Registration]] = {}
        for group in self.of(NODE_GROUP):
            for subnet_id in _ids(group.inputs.get("subnetIds")):
                found.setdefault(subnet_id, []).append(group)
        return found

    def _template(self, group: Registration) -> Mapping[str, Any]:
        return self._templates.get(str((group.inputs.get("launchTemplate") or {}).get("id")), {})

    def _instance_types(self, group: Registration) -> list[str]:
        return _ids(group.inputs.get("instanceTypes")) or _ids(self._template(group).get("instanceType")) or ["?"]

    def _node_group(self, group: Registration) -> Box:
        kinds = [interface.get("interfaceType") for interface in self._template(group).get("networkInterfaces") or []]
        efa_count = kinds.count("efa") + kinds.count("efa-only")
        count, most = _desired_size(group), int((group.inputs.get("scalingConfig") or {}).get("maxSize") or 0)
        zone_count, types = len(_ids(group.inputs.get("subnetIds"))), self._instance_types(group)
        nodes = f"{count} x {' or '.join(types)}" + (f", up to {most}" if most > count else "")
        nodes += f" over {plural(zone_count, 'zone')}" if zone_count > 1 else ""
        chips = [
            f"{of.chip_count} {of.chip_name} chips, {of.logical_core_count} NeuronCores, {of.device_memory_gib} GiB per node"
            for name in types[:1]
            if (of := NEURON_TYPES.get(name)) is not None
        ]
        cards = f"{plural(efa_count, 'EFA interface')} per node" if efa_count else "no EFA interfaces"
        style = ("efa" if efa_count else "plain") + ("" if count else " empty")
        return Box(style, str(group.inputs.get("nodeGroupName") or group.name), [nodes, *chips, cards])

    def _control_plane(self, cluster: Registration) -> Box:
        network = cluster.inputs.get("vpcConfig") or {}
        support = "standard" if (cluster.inputs.get("upgradePolicy") or {}).get("supportType") == "STANDARD" else "extended"
        ways = ["in the VPC"] if network.get("endpointPrivateAccess") else []
        if network.get("endpointPublicAccess", True):
            blocks = _ids(network.get("publicAccessCidrs"))
            ways.append("from " + (", ".join(blocks) if 0 < len(blocks) <= 3 else plural(len(blocks), "block") if blocks else "anywhere"))
        opened = f"open {' and '.join(ways)}" if ways else "closed"
        line = f"Kubernetes {cluster.inputs.get('version', 'newest')}, {support} support; endpoint {opened}"
        line += "; secrets encrypted by a KMS key" if cluster.inputs.get("encryptionConfig") else ""
        line += "; logs in CloudWatch" if cluster.inputs.get("enabledClusterLogTypes") else ""
        return Box("control", f"control plane {cluster.id or cluster.name}", [line])

    def _versions(self, kind: str, name_key: str, version_key: str) -> list[Box]:
        return [
            Box("plain", str(item.inputs.get(name_key) or item.name), (str(item.inputs.get(version_key) or "newest version"),))
            for item in self.of(kind)
        ]


def _desired_size(group: Registration) -> int:
    return int((group.inputs.get("scalingConfig") or {}).get("desiredSize") or 0)


def _file_system(item: Registration) -> list[str]:
    """Size and throughput."""
    throughput = item.inputs.get("perUnitStorageThroughput")
    return [f"Lustre, {item.inputs.get('storageCapacity', '?')} GiB", *([f"{throughput} MB/s per TiB"] if throughput else [])]


def _label(registration: Registration) -> str:
    """The Name tag, or the logical name."""
    return str((registration.inputs.get("tags") or {}).get("Name") or registration.name)


def _zone_id(subnet: Registration) -> str:
    places = [source.get(key) for key in ("availabilityZoneId", "availabilityZone") for source in (subnet.inputs, subnet.outputs)]
    return next((str(place) for place in places if place), "no zone")


def _ids(value: Any) -> list[str]:
    """A list of ids: providers take one id, a list, or nothing."""
    if value is None or value == "":
        return []
    return [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)]


def _service(endpoint: Registration) -> str:
    name = re.sub(r"^(cn\.)?com\.amazonaws\.[^.]+\.", "", str(endpoint.inputs.get("serviceName", "")))
    return {"s3": "S3"}.get(name, name)


def _endpoint_line(endpoint: Registration) -> str:
    subnet_ids, table_ids = (_ids(endpoint.inputs.get(key)) for key in ("subnetIds", "routeTableIds"))
    return f"in {plural(len(subnet_ids), 'subnet') if subnet_ids else plural(len(table_ids), 'route table')}"
