"""A picture of the network and the cluster, read from types, ids and inputs of a recording and never from components."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.drawing.text import FONT, escaped, plural, text_width, themed_style
from simulator.recording import Recording, Registration

WIDTH, MARGIN, PADDING, GAP = 1160.0, 24.0, 12.0, 10.0
TITLE_SIZE, LINE_SIZE, LINE_HEIGHT = 13.0, 12.0, 17.0
HEADER = 26.0
"""Height of a box's own title."""
ROLES_FIRST = ("public", "private", "node")
"""Rows of subnets from the way out inwards; other roles follow by name."""

_FIXED = (
    f".network{{font-family:{FONT}}}.network text{{font-size:{LINE_SIZE:g}px}}.network .title{{font-size:{TITLE_SIZE:g}px;font-weight:600}}"
    ".network .empty{stroke-dasharray:4 3}.network .zone{stroke-dasharray:6 4}"
)
_COLOURS = (
    ".network .paper{fill:$paper}.network text{fill:$muted}.network .title{fill:$ink}.network .box{fill:none;stroke:$frame}"
    ".network .vpc{fill:$ground;stroke:$frame}.network .subnet{fill:$paper;stroke:$line}.network .chip{fill:$plain;stroke:$plain_edge}"
    ".network .control{fill:$control;stroke:$control_edge}.network .gateway{fill:$gateway;stroke:$gateway_edge}"
    ".network .storage{fill:$storage;stroke:$storage_edge}.network .efa{fill:$efa;stroke:$efa_edge}"
)
_LIGHT = {
    "frame": "#aeb8c5", "ground": "#f6f8fa", "plain": "#eef1f5", "plain_edge": "#8492a5", "control": "#e8f0fe", "control_edge": "#1f5fd6",
    "gateway": "#f3edfd", "gateway_edge": "#7c4fd0", "storage": "#e6f5ec", "storage_edge": "#1b7f4c", "efa": "#fff1e3", "efa_edge": "#c4610f",
}  # fmt: skip
_DARK = {
    "frame": "#4b5768", "ground": "#141b24", "plain": "#202833", "plain_edge": "#7d8b9c", "control": "#15253f", "control_edge": "#5b9bff",
    "gateway": "#271f3d", "gateway_edge": "#a685f0", "storage": "#122b1f", "storage_edge": "#45b97c", "efa": "#35210f", "efa_edge": "#ee9146",
}  # fmt: skip


@dataclass(frozen=True)
class Chip:
    """A small box: one thing with a title and a few lines."""

    style: str
    title: str
    lines: tuple[str, ...] = ()

    @property
    def width(self) -> float:
        """Room that title and lines need."""
        widths = [text_width(self.title, TITLE_SIZE, bold=True), *(text_width(line, LINE_SIZE) for line in self.lines)]
        return max(widths) + 2 * PADDING

    @property
    def height(self) -> float:
        """Height of title and lines."""
        return LINE_HEIGHT * (1 + len(self.lines)) + 11


@dataclass(frozen=True)
class Subnet:
    """One subnet and what stands in it."""

    role: str
    zone_id: str
    header: Chip
    chips: tuple[Chip, ...]


class _Inventory:
    """Look-ups over one recording: what belongs to which id."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.vpcs = recording.of_type("aws:ec2/vpc:Vpc")
        self.clusters = recording.of_type("aws:eks/cluster:Cluster")
        self.endpoints = recording.of_type("aws:ec2/vpcEndpoint:VpcEndpoint")
        self._nat_zones = {item.id: self._zone_of(_ids(item.inputs.get("subnetId"))) for item in self.of("aws:ec2/natGateway:NatGateway")}

    def of(self, kind: str) -> list[Registration]:
        return self._recording.of_type(kind)

    def _zone_of(self, subnet_ids: Sequence[str]) -> str:
        return next((_zone_id(item) for item in self.of("aws:ec2/subnet:Subnet") if item.id in subnet_ids), "no zone")

    def vpc_title(self) -> str:
        blocks = [item.inputs.get("cidrBlock") for item in self.of("aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation")]
        named = [" ".join(["VPC", _label(vpc), str(vpc.inputs.get("cidrBlock", ""))]) for vpc in self.vpcs]
        return " and ".join([*(named or ["no VPC"]), *(str(block) for block in blocks if block)])

    def edge(self) -> list[Chip]:
        """What the VPC has as a whole: its internet gateway and its endpoints."""
        gateways = [Chip("gateway", "internet gateway") for _ in self.of("aws:ec2/internetGateway:InternetGateway")]
        return gateways + [Chip("gateway", f"{_service(item)} endpoint", (_endpoint_line(item),)) for item in self.endpoints]

    def subnets(self) -> list[Subnet]:
        return [self._subnet(item) for item in self.of("aws:ec2/subnet:Subnet")]

    def _subnet(self, subnet: Registration) -> Subnet:
        zone_id, role = _zone_id(subnet), self._role(subnet)
        header = Chip("", f"{role}  {subnet.inputs.get('cidrBlock', '')}", (self._routes(subnet.id),))
        nat = [Chip("gateway", "NAT gateway") for item in self.of("aws:ec2/natGateway:NatGateway") if item.inputs.get("subnetId") == subnet.id]
        interfaces = [
            Chip("control", "control plane interfaces")
            for item in self.clusters
            if subnet.id in _ids(_section(item, "vpcConfig").get("subnetIds"))
        ]
        files = [
            Chip("storage", "file system", (f"Lustre, {item.inputs.get('storageCapacity', '?')} GiB",))
            for item in self.of("aws:fsx/lustreFileSystem:LustreFileSystem")
            if subnet.id in _ids(item.inputs.get("subnetIds"))
        ]
        groups = [
            self._node_group(item) for item in self.of("aws:eks/nodeGroup:NodeGroup") if subnet.id in _ids(item.inputs.get("subnetIds"))
        ]
        return Subnet(role, zone_id, header, (*nat, *interfaces, *files, *groups))

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
        ways: list[str] = []
        for route in self.of("aws:ec2/route:Route"):
            if route.inputs.get("routeTableId") not in tables:
                continue
            if route.inputs.get("natGatewayId"):
                ways.append(f"out by NAT in {self._nat_zones.get(str(route.inputs['natGatewayId']), 'no zone')}")
            elif route.inputs.get("gatewayId"):
                ways.append("out by internet gateway")
        ways += [
            f"{_service(item)} endpoint" for item in self.endpoints if any(table in _ids(item.inputs.get("routeTableIds")) for table in tables)
        ]
        return ", ".join(ways) or "no way out"

    def _node_group(self, group: Registration) -> Chip:
        template_id = _section(group, "launchTemplate").get("id")
        template = next((item for item in self.of("aws:ec2/launchTemplate:LaunchTemplate") if item.id == template_id), None)
        template_inputs: Mapping[str, Any] = template.inputs if template is not None else {}
        interfaces = template_inputs.get("networkInterfaces") or []
        efa_count = sum(1 for interface in interfaces if interface.get("interfaceType") in ("efa", "efa-only"))
        types = _ids(group.inputs.get("instanceTypes")) or _ids(template_inputs.get("instanceType")) or ["?"]
        count = _section(group, "scalingConfig").get("desiredSize", 0)
        zone_count = len(_ids(group.inputs.get("subnetIds")))
        nodes = f"{count} x {' or '.join(types)}" + (f", spread over {plural(zone_count, 'zone')}" if zone_count > 1 else "")
        cards = f"{plural(efa_count, 'EFA interface')} per node" if efa_count else "no EFA interfaces"
        style = ("efa" if efa_count else "chip") + ("" if count else " empty")
        return Chip(style, str(group.inputs.get("nodeGroupName") or group.name), (nodes, cards))

    def control_planes(self) -> list[Chip]:
        return [Chip("control", f"control plane {item.id or item.name}", (_control_plane_line(item),)) for item in self.clusters]

    def addons(self) -> list[Chip]:
        return [
            Chip("chip", str(item.inputs.get("addonName") or item.name), (str(item.inputs.get("addonVersion") or "newest version"),))
            for item in self.of("aws:eks/addon:Addon")
        ]

    def charts(self) -> list[Chip]:
        return [
            Chip("chip", str(item.inputs.get("name") or item.name), (str(item.inputs.get("version") or "newest version"),))
            for item in self.of("kubernetes:helm.sh/v3:Release")
        ]


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


def _section(registration: Registration, key: str) -> Mapping[str, Any]:
    value = registration.inputs.get(key)
    return value if isinstance(value, Mapping) else {}


def _service(endpoint: Registration) -> str:
    name = re.sub(r"^(cn\.)?com\.amazonaws\.[^.]+\.", "", str(endpoint.inputs.get("serviceName", "")))
    return {"s3": "S3"}.get(name, name)


def _endpoint_line(endpoint: Registration) -> str:
    if endpoint.inputs.get("vpcEndpointType") == "Interface":
        return f"interfaces in {plural(len(_ids(endpoint.inputs.get('subnetIds'))), 'subnet')}"
    return f"in {plural(len(_ids(endpoint.inputs.get('routeTableIds'))), 'route table')}"


def _control_plane_line(cluster: Registration) -> str:
    network = _section(cluster, "vpcConfig")
    support = "standard" if _section(cluster, "upgradePolicy").get("supportType") == "STANDARD" else "extended"
    doors = ["in the VPC"] if network.get("endpointPrivateAccess") else []
    if network.get("endpointPublicAccess", True):
        blocks = _ids(network.get("publicAccessCidrs"))
        doors.append("from " + (", ".join(blocks) if 0 < len(blocks) <= 3 else plural(len(blocks), "block") if blocks else "anywhere"))
    return f"Kubernetes {cluster.inputs.get('version', 'newest')}, {support} support; endpoint open {' and '.join(doors) or 'to nobody'}"


def network_svg(recording: Recording) -> str:
    """A standalone SVG: control plane, the VPC with a column per zone id, and a row each of add-ons and charts."""
    inventory = _Inventory(recording)
    subnets, title = inventory.subnets(), inventory.vpc_title()
    zone_count = max(len({subnet.zone_id for subnet in subnets}), 1)
    addons, charts, control_planes = inventory.addons(), inventory.charts(), inventory.control_planes()
    chips = [chip for subnet in subnets for chip in (subnet.header, *subnet.chips)]
    column = max([(WIDTH - 2 * MARGIN - 2 * PADDING + GAP) / zone_count - GAP, *(chip.width + 4 * PADDING for chip in chips)])
    outside = [Chip("", title), *inventory.edge(), *addons, *charts, *control_planes]
    inner = max([zone_count * (column + GAP) - GAP, *(chip.width for chip in outside)])
    parts: list[str] = []
    y = MARGIN + _flow(parts, control_planes, MARGIN, MARGIN, inner + 2 * PADDING)
    y = _box(parts, title, "vpc", y, inner, lambda top: _vpc(inventory.edge(), subnets, column, top, inner))
    for row, chips in (("managed add-ons", addons), ("charts", charts)):
        if chips:
            y = _box(parts, row, "box", y + GAP, inner, lambda top, chips=chips: _flowed(chips, top, inner))
    size = (inner + 2 * PADDING + 2 * MARGIN, y + MARGIN)
    return svg_document("network", "Network and cluster", size, themed_style(_FIXED, _COLOURS, _LIGHT, _DARK), parts)
