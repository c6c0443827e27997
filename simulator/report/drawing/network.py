"""A picture of the network and the cluster, read from types, ids and inputs of a recording and never from components."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.recording import Recording, Registration
from simulator.report.drawing.text import FONT, escaped, plural, svg_document, text_width, themed_style

WIDTH, MARGIN, PADDING, GAP = 1160.0, 24.0, 12.0, 10.0
TITLE_SIZE, LINE_SIZE, LINE_HEIGHT = 13.0, 12.0, 17.0
HEADER = 26.0
"""Height of a box's own title."""
ROLES_FIRST = ("public", "private", "node")
"""Rows of subnets from the way out inwards; other roles follow by name."""

SUBNET, NAT_GATEWAY, NODE_GROUP = "aws:ec2/subnet:Subnet", "aws:ec2/natGateway:NatGateway", "aws:eks/nodeGroup:NodeGroup"

Drawn = tuple[list[str], float]
"""Parts of the picture, and their lower edge."""

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
    """A small box: one resource with a title and a few lines."""

    style: str
    title: str
    lines: tuple[str, ...] = ()

    @property
    def width(self) -> float:
        """Room that title and lines need."""
        widths = [text_width(self.title, TITLE_SIZE, bold=True), *(text_width(line, LINE_SIZE) for line in self.lines)]
        return max(widths) + 2 * PADDING


@dataclass(frozen=True)
class Subnet:
    """One subnet and the resources in it."""

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
        zones = {item.id: _zone_id(item) for item in self.of(SUBNET)}
        self._nat_zones = {item.id: zones.get(str(item.inputs.get("subnetId")), "no zone") for item in self.of(NAT_GATEWAY)}

    def of(self, kind: str) -> list[Registration]:
        """Registrations of one type, by URN."""
        return self._recording.of_type(kind)

    def vpc_title(self) -> str:
        blocks = [item.inputs.get("cidrBlock") for item in self.of("aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation")]
        named = [" ".join(["VPC", _label(vpc), str(vpc.inputs.get("cidrBlock", ""))]) for vpc in self.vpcs]
        return " and ".join([*(named or ["no VPC"]), *(str(block) for block in blocks if block)])

    def edge(self) -> list[Chip]:
        """What the VPC has as a whole: its internet gateway and its endpoints."""
        routes = [str(item.inputs.get("gatewayId")) for item in self.of("aws:ec2/route:Route")]
        gateways = [
            Chip("gateway", "internet gateway", (f"in {plural(routes.count(item.id), 'route table')}",))
            for item in self.of("aws:ec2/internetGateway:InternetGateway")
        ]
        return gateways + [Chip("gateway", f"{_service(item)} endpoint", (_endpoint_line(item),)) for item in self.endpoints]

    def subnets(self) -> list[Subnet]:
        return [self._subnet(item) for item in self.of(SUBNET)]

    def _subnet(self, subnet: Registration) -> Subnet:
        zone_id, role = _zone_id(subnet), self._role(subnet)
        header = Chip("", f"{role}  {subnet.inputs.get('cidrBlock', '')}", (self._routes(subnet.id),))
        gateways = [self._nat_gateway(item) for item in self.of(NAT_GATEWAY) if item.inputs.get("subnetId") == subnet.id]
        interfaces = [
            Chip("control", "control plane interfaces", ("made by EKS",))
            for item in self.clusters
            if subnet.id in _ids((item.inputs.get("vpcConfig") or {}).get("subnetIds"))
        ]
        files = [
            Chip("storage", "file system", (f"Lustre, {item.inputs.get('storageCapacity', '?')} GiB",))
            for item in self.of("aws:fsx/lustreFileSystem:LustreFileSystem")
            if subnet.id in _ids(item.inputs.get("subnetIds"))
        ]
        groups = [self._node_group(item) for item in self.of(NODE_GROUP) if subnet.id in _ids(item.inputs.get("subnetIds"))]
        return Subnet(role, zone_id, header, (*gateways, *interfaces, *files, *groups))

    def _nat_gateway(self, gateway: Registration) -> Chip:
        addresses = [item.outputs.get("publicIp") for item in self.of("aws:ec2/eip:Eip") if item.id == gateway.inputs.get("allocationId")]
        return Chip("gateway", "NAT gateway", (str(next(iter(addresses), None) or "no public address"),))

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

    def _node_group(self, group: Registration) -> Chip:
        template_id = (group.inputs.get("launchTemplate") or {}).get("id")
        templates = self.of("aws:ec2/launchTemplate:LaunchTemplate")
        template: Mapping[str, Any] = next((item.inputs for item in templates if item.id == template_id), {})
        kinds = [interface.get("interfaceType") for interface in template.get("networkInterfaces") or []]
        efa_count = kinds.count("efa") + kinds.count("efa-only")
        types = _ids(group.inputs.get("instanceTypes")) or _ids(template.get("instanceType")) or ["?"]
        count = (group.inputs.get("scalingConfig") or {}).get("desiredSize", 0)
        zone_count = len(_ids(group.inputs.get("subnetIds")))
        nodes = f"{count} x {' or '.join(types)}" + (f" over {plural(zone_count, 'zone')}" if zone_count > 1 else "")
        cards = f"{plural(efa_count, 'EFA interface')} per node" if efa_count else "no EFA interfaces"
        style = ("efa" if efa_count else "plain") + ("" if count else " empty")
        return Chip(style, str(group.inputs.get("nodeGroupName") or group.name), (nodes, cards))

    def control_planes(self) -> list[Chip]:
        return [Chip("control", f"control plane {item.id or item.name}", (_control_plane_line(item),)) for item in self.clusters]

    def versions(self, kind: str, name_key: str, version_key: str) -> list[Chip]:
        """One chip with its version for each add-on or chart."""
        return [
            Chip("plain", str(item.inputs.get(name_key) or item.name), (str(item.inputs.get(version_key) or "newest version"),))
            for item in self.of(kind)
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


def _service(endpoint: Registration) -> str:
    name = re.sub(r"^(cn\.)?com\.amazonaws\.[^.]+\.", "", str(endpoint.inputs.get("serviceName", "")))
    return {"s3": "S3"}.get(name, name)


def _endpoint_line(endpoint: Registration) -> str:
    subnet_ids, table_ids = (_ids(endpoint.inputs.get(key)) for key in ("subnetIds", "routeTableIds"))
    return f"in {plural(len(subnet_ids), 'subnet') if subnet_ids else plural(len(table_ids), 'route table')}"


def _control_plane_line(cluster: Registration) -> str:
    network = cluster.inputs.get("vpcConfig") or {}
    support = "standard" if (cluster.inputs.get("upgradePolicy") or {}).get("supportType") == "STANDARD" else "extended"
    doors = ["in the VPC"] if network.get("endpointPrivateAccess") else []
    if network.get("endpointPublicAccess", True):
        blocks = _ids(network.get("publicAccessCidrs"))
        doors.append("from " + (", ".join(blocks) if 0 < len(blocks) <= 3 else plural(len(blocks), "block") if blocks else "anywhere"))
    opened = f"open {' and '.join(doors)}" if doors else "closed"
    return f"Kubernetes {cluster.inputs.get('version', 'newest')}, {support} support; endpoint {opened}"


def network_svg(recording: Recording) -> str:
    """A standalone SVG: control plane, the VPC with a column per zone id, and a row each of add-ons and charts."""
    inventory = _Inventory(recording)
    subnets, edge, title = inventory.subnets(), inventory.edge(), inventory.vpc_title()
    addons = inventory.versions("aws:eks/addon:Addon", "addonName", "addonVersion")
    charts = inventory.versions("kubernetes:helm.sh/v3:Release", "name", "version")
    zone_count = max(len({subnet.zone_id for subnet in subnets}), 1)
    in_zones = [chip for subnet in subnets for chip in (subnet.header, Chip("", subnet.zone_id), *subnet.chips)]
    column = max([(WIDTH - 2 * MARGIN - 2 * PADDING + GAP) / zone_count - GAP, *(chip.width + 4 * PADDING for chip in in_zones)])
    outside = [Chip("", title), *edge, *inventory.control_planes(), *addons, *charts]
    inner = max([zone_count * (column + GAP) - GAP, *(chip.width for chip in outside)])
    parts, y = _flow(inventory.control_planes(), MARGIN, MARGIN - GAP, inner + 2 * PADDING)
    drawn, y = _box("vpc", title, y + GAP, inner, _vpc(edge, subnets, column, y + GAP + HEADER, inner))
    parts += drawn
    for name, chips in (("managed add-ons", addons), ("charts", charts)):
        if chips:
            drawn, y = _box("box", name, y + GAP, inner, _flow(chips, MARGIN + PADDING, y + GAP + HEADER, inner))
            parts += drawn
    size = (inner + 2 * PADDING + 2 * MARGIN, y + MARGIN)
    return svg_document("network", "Network and cluster", size, themed_style(_FIXED, _COLOURS, _LIGHT, _DARK), parts)


def _vpc(edge: Sequence[Chip], subnets: Sequence[Subnet], column: float, top: float, inner: float) -> Drawn:
    """The resources in the VPC: a line of gateways and endpoints, and below it the zones."""
    parts, zones_top = _flow(edge, MARGIN + PADDING, top, inner)
    zones_top += GAP
    zone_ids = sorted({subnet.zone_id for subnet in subnets})
    lefts = {zone_id: MARGIN + PADDING + index * (column + GAP) for index, zone_id in enumerate(zone_ids)}
    widest = max((chip.width for subnet in subnets for chip in subnet.chips), default=0.0)
    inside: list[str] = []
    y = zones_top + HEADER
    for row in _rows(subnets):
        drawn, y = _subnets(row, lefts, y + GAP, column - 2 * PADDING, widest)
        inside += drawn
    for zone_id, left in lefts.items():
        parts.append(_rect("box zone", left, zones_top, column, y + PADDING - zones_top))
        parts.append(_text("title", left + PADDING, zones_top + 22, zone_id))
    return [*parts, *inside], y + PADDING if zone_ids else zones_top


def _rows(subnets: Sequence[Subnet]) -> list[list[Subnet]]:
    """Subnets of one role side by side; a second one of that role in a zone is in a further row."""
    rows: dict[tuple[int, str, int], list[Subnet]] = {}
    met: Counter[tuple[str, str]] = Counter()
    for subnet in subnets:
        place = ROLES_FIRST.index(subnet.role) if subnet.role in ROLES_FIRST else len(ROLES_FIRST)
        rows.setdefault((place, subnet.role, met[subnet.role, subnet.zone_id]), []).append(subnet)
        met[subnet.role, subnet.zone_id] += 1
    return [rows[key] for key in sorted(rows)]


def _subnets(row: Sequence[Subnet], lefts: Mapping[str, float], top: float, width: float, widest: float) -> Drawn:
    """Subnets side by side, all as high as the fullest."""
    bottom, contents = top, []
    for subnet in row:
        x = lefts[subnet.zone_id] + 2 * PADDING
        chips, y = _flow(subnet.chips, x, top + 2 * LINE_HEIGHT + 6, width - 2 * PADDING, widest)
        words = [_text("title", x, top + 19, subnet.header.title), _text("line", x, top + 19 + LINE_HEIGHT, subnet.header.lines[0])]
        contents += [*words, *chips]
        bottom = max(bottom, y + PADDING)
    return [*(_rect("subnet", lefts[subnet.zone_id] + PADDING, top, width, bottom - top) for subnet in row), *contents], bottom


def _box(style: str, title: str, top: float, inner: float, content: Drawn) -> Drawn:
    """A titled box as wide as the picture around what was drawn for it."""
    parts, bottom = content
    frame = _rect(style, MARGIN, top, inner + 2 * PADDING, bottom + PADDING - top)
    return [frame, _text("title", MARGIN + PADDING, top + 22, title), *parts], bottom + PADDING


def _flow(chips: Sequence[Chip], left: float, top: float, width: float, widest: float = 0.0) -> Drawn:
    """Chips of one size side by side in as few rows as they fit; `widest` is the size to share with other flows."""
    if not chips:
        return [], top
    most = max(int((width + GAP) / (max(widest, *(chip.width for chip in chips)) + GAP)), 1)
    # Beside others a flow keeps their grid; alone it fills its rows evenly, but never with one or two giants.
    per_row = most if widest else max(-(-len(chips) // -(-len(chips) // most)), min(3, most))
    size, height = (width + GAP) / per_row - GAP, LINE_HEIGHT * (1 + max(len(chip.lines) for chip in chips)) + 11
    parts: list[str] = []
    y = top
    for index, chip in enumerate(chips):
        x, y = left + index % per_row * (size + GAP), top + GAP + index // per_row * (height + GAP)
        parts.append(_rect(f"chip {chip.style}", x, y, size, height))
        parts.append(_text("title", x + PADDING, y + 19, chip.title))
        parts += [_text("line", x + PADDING, y + 19 + LINE_HEIGHT * line, words) for line, words in enumerate(chip.lines, start=1)]
    return parts, y + height


def _rect(style: str, x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="5"/>'


def _text(style: str, x: float, y: float, words: str) -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{escaped(words)}</text>'
