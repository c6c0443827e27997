"""The network and the cluster as boxes of a page: they flow with its width, and fold where there are too many.

`network.py` draws the same as one SVG, for documents.
"""

from collections.abc import Sequence

from report.inventory import Chip, Inventory, Subnet, subnet_rows
from report.text import escaped
from simulator.recording import Recording

MOST_CHIPS = 12
"""Boxes in one place that are seen before it is unfolded."""


def picture(recording: Recording) -> str:
    """The section: control plane, the VPC with a column for each zone id, add-ons and charts."""
    inventory = Inventory(recording)
    subnets = inventory.subnets()
    outside = [
        f'<div class="box"><h3>{title}</h3>{_chips(chips)}</div>'
        for title, chips in (("Managed add-ons", inventory.addons()), ("Charts", inventory.charts()))
        if chips
    ]
    return (
        '<section class="picture" aria-labelledby="cluster"><h2 id="cluster">Network and cluster</h2>'
        f"{''.join(_control_plane(chip) for chip in inventory.control_planes())}"
        f'<div class="box vpc"><h3>{escaped(inventory.vpc_title())}</h3>{_chips(inventory.edge())}{_zones(subnets)}</div>'
        f'<div class="outside">{"".join(outside)}</div></section>'
    )


def _control_plane(chip: Chip) -> str:
    return f'<div class="box chip control"><b>{escaped(chip.title)}</b> {"".join(_line(line) for line in chip.lines)}</div>'


def _zones(subnets: Sequence[Subnet]) -> str:
    rows = subnet_rows(subnets)
    if not rows:
        return ""
    zone_ids = sorted({subnet.zone_id for subnet in subnets})
    columns = []
    for zone_id in zone_ids:
        # A row without a subnet here keeps its place, so that subnets of one role stand side by side.
        cells = [next((subnet for subnet in row if subnet.zone_id == zone_id), None) for row in rows]
        inside = "".join(_subnet(subnet) if subnet else '<div class="none"></div>' for subnet in cells)
        columns.append(f'<div class="zone"><h4>{escaped(zone_id)}</h4>{inside}</div>')
    return f'<div class="zones" style="--rows:{len(rows) + 1}">{"".join(columns)}</div>'


def _subnet(subnet: Subnet) -> str:
    header = f"<p><b>{escaped(subnet.header.title)}</b> {''.join(_line(line) for line in subnet.header.lines)}</p>"
    return f'<div class="subnet">{header}{_chips(subnet.chips)}</div>'


def _chips(chips: Sequence[Chip]) -> str:
    if not chips:
        return ""
    shown, folded = chips[:MOST_CHIPS], chips[MOST_CHIPS:]
    rest = f'<details class="fold"><summary>{len(folded)} more</summary>{_list(folded)}</details>' if folded else ""
    return _list(shown) + rest


def _list(chips: Sequence[Chip]) -> str:
    items = "".join(
        f'<li class="chip {chip.style}"><b>{escaped(chip.title)}</b> {"".join(_line(line) for line in chip.lines)}</li>' for chip in chips
    )
    return f'<ul class="chips">{items}</ul>'


def _line(words: str) -> str:
    return f"<span>{escaped(words)}</span> "
