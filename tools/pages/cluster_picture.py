"""The picture of the cluster in the README: zones, subnets and what lies in them, from a recording of the dev stack."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from addons.registry import REGISTRY
from facts.catalogue import NEURON_TYPES
from simulator.recording import Recording, Registration
from stacks.cluster import cluster_of
from stacks.settings import Settings
from trn.engine.program import record_stack, settings_of
from trn.engine.stack_file import read_stack_file

ROOT = Path(__file__).parent.parent.parent
WIDTH, PAD, LINE, TITLE = 980, 14, 19, 24
"""Pixels."""
CHARACTER = 7.4
"""Pixels that a character of a line takes on average."""
MAIN_ZONE = 0.62
"""Part of the width that the training zone has."""
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#57606a}.t{font-weight:600;fill:#1f2328}.h{font-size:16px}"
    "rect{fill:#ffffff;stroke:#8c959f}.in{fill:#f6f8fa}.subnet{fill:#eef3fb;stroke:#b6c6e3}.neuron{fill:#fff4e5;stroke:#bc6c00}"
    ".store{fill:#eaf7ec;stroke:#3d8b4f}"
    "@media(prefers-color-scheme:dark){text{fill:#9198a1}.t{fill:#e6edf3}rect{fill:#0d1117;stroke:#6e7681}.in{fill:#161b22}"
    ".subnet{fill:#151d2c;stroke:#31456b}.neuron{fill:#2b1d0a;stroke:#d18616}.store{fill:#0f2417;stroke:#3d8b4f}}"
)


@dataclass(frozen=True)
class Box:
    """A box with a title, lines, and boxes below them."""

    title: str
    lines: tuple[str, ...] = ()
    inner: tuple["Box", ...] = ()
    kind: str = "in"
    beside: bool = False
    """Its inner boxes lie side by side, the first one widest."""

    def wrapped(self, width: float) -> list[str]:
        """Lines that fit into a width in pixels."""
        return [part for line in self.lines for part in textwrap.wrap(line, int((width - 2 * PAD) / CHARACTER), break_on_hyphens=False)]

    def widths(self, width: float) -> list[float]:
        """Widths of the inner boxes."""
        room, count = width - 2 * PAD, len(self.inner)
        if not self.beside or count < 2:
            return [room] * count
        room -= PAD * (count - 1)
        return [room * MAIN_ZONE, *([room * (1 - MAIN_ZONE) / (count - 1)] * (count - 1))]

    def height(self, width: float) -> float:
        """Pixels that it needs."""
        heights = [box.height(part) for box, part in zip(self.inner, self.widths(width), strict=True)]
        inner = (max(heights) if self.beside else sum(heights) + (len(heights) - 1) * PAD / 2) + PAD / 2 if heights else 0
        return TITLE + LINE * len(self.wrapped(width)) + inner + PAD * 0.7


def boxes(recording: Recording, settings: Settings) -> tuple[Box, ...]:
    """The whole picture, from the top down."""
    (vpc,) = recording.of_type("aws:ec2/vpc:Vpc")
    (cluster,) = recording.of_type("aws:eks/cluster:Cluster")
    more = [item.inputs["cidrBlock"] for item in recording.of_type("aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation")]
    is_public = bool(cluster.inputs["vpcConfig"].get("publicAccessCidrs"))
    reached = "reached from your own addresses and from the VPC" if is_public else "reached from the VPC alone"
    control_plane = Box(
        f"EKS control plane, Kubernetes {cluster.inputs['version']}",
        (f"{reached}; secrets encrypted by a KMS key; logs in CloudWatch",),
    )
    zones = tuple(
        Box(_zone_title(zone, number), (), _subnets(recording, settings, zone)) for number, zone in enumerate(settings.network.zones)
    )
    on = [item.title for item in REGISTRY if item.is_on(cluster_of(settings))]
    return (
        control_plane,
        Box(f"VPC {vpc.inputs['cidrBlock']}{''.join(f' and {block}' for block in more)}", (), zones, beside=True),
        Box(f"{len(on)} add-ons in the cluster", (", ".join(on),)),
    )


def _zone_title(zone: str, number: int) -> str:
    return f"{zone}, the training zone" if number == 0 else zone


def _subnets(recording: Recording, settings: Settings, zone: str) -> tuple[Box, ...]:
    found = [item for item in recording.of_type("aws:ec2/subnet:Subnet") if item.inputs["availabilityZoneId"] == zone]
    # `network-public-usw2-az4`: the program names its subnets by what they are for.
    made = {item.name.removeprefix("network-").removesuffix(f"-{zone}"): item for item in found}
    return tuple(
        Box(f"{role} subnet {made[role].inputs['cidrBlock']}", tuple(_small(recording, made[role], role)), tuple(_large(recording, settings, made[role])), "subnet")
        for role in ("public", "private", "node")
        if role in made
    )  # fmt: skip


def _small(recording: Recording, subnet: Registration, role: str) -> Iterator[str]:
    """What is said in a line."""
    if any(item.inputs["subnetId"] == subnet.id for item in recording.of_type("aws:ec2/natGateway:NatGateway")):
        yield "NAT gateway with an Elastic IP address"
    elif role == "public":
        yield "for load balancers"
    if any(subnet.id in item.inputs["vpcConfig"]["subnetIds"] for item in recording.of_type("aws:eks/cluster:Cluster")):
        yield "interfaces of the control plane"


def _large(recording: Recording, settings: Settings, subnet: Registration) -> Iterator[Box]:
    """What has a box of its own: node groups and the file system."""
    for item in recording.of_type("aws:fsx/lustreFileSystem:LustreFileSystem"):
        if item.inputs["subnetIds"] == subnet.id:
            size, speed = item.inputs["storageCapacity"], item.inputs["perUnitStorageThroughput"]
            text = f"{size:,} GiB, {speed} MB/s per TiB, mounted by every training pod at /fsx"
            yield Box("FSx for Lustre", (text,), (), "store")
    groups = [item for item in recording.of_type("aws:eks/nodeGroup:NodeGroup") if subnet.id in item.inputs["subnetIds"]]
    for item in sorted(groups, key=lambda group: group.inputs["nodeGroupName"] not in settings.node_groups):
        yield _group(item)


def _group(item: Registration) -> Box:
    scaling, (type_name,) = item.inputs["scalingConfig"], item.inputs["instanceTypes"]
    name, count, most = item.inputs["nodeGroupName"], scaling["desiredSize"], scaling["maxSize"]
    title = f"{name}: {count} x {type_name}" if count else f"{name}: empty"
    bounds = f"up to {most} x {type_name}" if most > count else ""
    hardware = NEURON_TYPES.get(type_name)
    if hardware is None:
        spread = "over these zones" if len(item.inputs["subnetIds"]) > 1 else ""
        return Box(title, (", ".join(filter(None, (bounds, spread, "for add-ons"))),))
    efa = f", {hardware.efa_count} EFA interfaces" if hardware.has_efa else ""
    text = f"each {hardware.chip_count} {hardware.chip_name} chips, {hardware.logical_core_count} NeuronCores, {hardware.device_memory_gib} GiB of device memory{efa}"
    return Box(title, (f"{bounds}; {text}" if bounds else text,), (), "neuron")


def picture(root: Path = ROOT) -> str:
    """The SVG, for light and dark."""
    stack_file = read_stack_file("dev", root)
    settings, recording = settings_of(stack_file), record_stack(stack_file)
    return drawn(f"{settings.name} in {settings.region}", boxes(recording, settings))


def drawn(title: str, rows: Sequence[Box]) -> str:
    """Boxes one below the other."""
    top, parts = 44.0, list[str]()
    for box in rows:
        parts += _parts(box, PAD, top, WIDTH - 2 * PAD)
        top += box.height(WIDTH - 2 * PAD) + PAD
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top:g}" role="img">',
        f"<title>The cluster {escape(title)}: control plane, network, node groups, file system and add-ons</title>",
        f"<style>{STYLE}</style>",
        f'<text class="t h" x="{PAD}" y="28">{escape(title)}</text>',
    ]
    return "\n".join([*head, *parts, "</svg>"]) + "\n"


def _parts(box: Box, left: float, top: float, width: float, height: float = 0) -> Iterator[str]:
    """`height`: that of the boxes beside it, where one of them is higher."""
    yield f'<rect class="{box.kind}" x="{left:g}" y="{top:g}" width="{width:g}" height="{max(height, box.height(width)):g}" rx="6"/>'
    yield f'<text class="t" x="{left + PAD:g}" y="{top + TITLE - 4:g}">{escape(box.title)}</text>'
    below = top + TITLE
    for line in box.wrapped(width):
        below += LINE
        yield f'<text x="{left + PAD:g}" y="{below - 4:g}">{escape(line)}</text>'
    below += PAD / 2
    across, highest = left + PAD, max((inner.height(part) for inner, part in zip(box.inner, box.widths(width), strict=True)), default=0)
    for inner, part in zip(box.inner, box.widths(width), strict=True):
        yield from _parts(inner, across, below, part, highest if box.beside else 0)
        if box.beside:
            across += part + PAD
        else:
            below += inner.height(part) + PAD / 2
