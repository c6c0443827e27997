"""A picture of the network and the cluster as one SVG that needs no other file, for documents."""

from collections.abc import Mapping, Sequence

from simulator.recording import Recording
from simulator.report.drawing.inventory import Chip, Inventory, Subnet, subnet_rows
from simulator.report.drawing.text import FONT, PICTURE_DARK, PICTURE_LIGHT, escaped, svg_document, text_width, themed_style

WIDTH, MARGIN, PADDING, GAP = 1160.0, 24.0, 12.0, 10.0
TITLE_SIZE, LINE_SIZE, LINE_HEIGHT = 13.0, 12.0, 17.0
HEADER = 26.0
"""Height of a box's own title."""

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


def network_svg(recording: Recording) -> str:
    """A standalone SVG: control plane, the VPC with a column per zone id, and a row each of add-ons and charts."""
    inventory = Inventory(recording)
    subnets, edge, title = inventory.subnets(), inventory.edge(), inventory.vpc_title()
    addons, charts = inventory.addons(), inventory.charts()
    zone_count = max(len({subnet.zone_id for subnet in subnets}), 1)
    in_zones = [chip for subnet in subnets for chip in (subnet.header, Chip("", subnet.zone_id), *subnet.chips)]
    column = max([(WIDTH - 2 * MARGIN - 2 * PADDING + GAP) / zone_count - GAP, *(_width(chip) + 4 * PADDING for chip in in_zones)])
    outside = [Chip("", title), *edge, *inventory.control_planes(), *addons, *charts]
    inner = max([zone_count * (column + GAP) - GAP, *(_width(chip) for chip in outside)])
    parts, y = _flow(inventory.control_planes(), MARGIN, MARGIN - GAP, inner + 2 * PADDING)
    drawn, y = _box("vpc", title, y + GAP, inner, _vpc(edge, subnets, column, y + GAP + HEADER, inner))
    parts += drawn
    for name, chips in (("managed add-ons", addons), ("charts", charts)):
        if chips:
            drawn, y = _box("box", name, y + GAP, inner, _flow(chips, MARGIN + PADDING, y + GAP + HEADER, inner))
            parts += drawn
    size = (inner + 2 * PADDING + 2 * MARGIN, y + MARGIN)
    return svg_document("network", "Network and cluster", size, themed_style(_FIXED, _COLOURS, PICTURE_LIGHT, PICTURE_DARK), parts)


def _vpc(edge: Sequence[Chip], subnets: Sequence[Subnet], column: float, top: float, inner: float) -> Drawn:
    """The resources in the VPC: a line of gateways and endpoints, and below it the zones."""
    parts, zones_top = _flow(edge, MARGIN + PADDING, top, inner)
    zones_top += GAP
    zone_ids = sorted({subnet.zone_id for subnet in subnets})
    lefts = {zone_id: MARGIN + PADDING + index * (column + GAP) for index, zone_id in enumerate(zone_ids)}
    widest = max((_width(chip) for subnet in subnets for chip in subnet.chips), default=0.0)
    inside: list[str] = []
    y = zones_top + HEADER
    for row in subnet_rows(subnets):
        drawn, y = _subnets(row, lefts, y + GAP, column - 2 * PADDING, widest)
        inside += drawn
    for zone_id, left in lefts.items():
        parts.append(_rect("box zone", left, zones_top, column, y + PADDING - zones_top))
        parts.append(_text("title", left + PADDING, zones_top + 22, zone_id))
    return [*parts, *inside], y + PADDING if zone_ids else zones_top


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
    most = max(int((width + GAP) / (max(widest, *(_width(chip) for chip in chips)) + GAP)), 1)
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


def _width(chip: Chip) -> float:
    """Room that title and lines need."""
    widths = [text_width(chip.title, TITLE_SIZE, bold=True), *(text_width(line, LINE_SIZE) for line in chip.lines)]
    return max(widths) + 2 * PADDING
