"""The picture of the cluster is the recording's own: what the stack makes is in it, and no text leaves its box."""

from xml.etree import ElementTree

from stacks.config import parse_settings
from tests.simulator.account.standing import recording
from tests.support import ROOT, dev_configuration, merged, record_stack
from tools.pages import cluster_picture
from tools.pages.cluster_picture import CHARACTER, PAD, Box, boxes, drawn
from trn.engine.program import settings_of
from trn.engine.stack_file import read_stack_file

BOLD = 1.08
"""A title is so much wider than a line."""


def every(box: Box) -> list[Box]:
    """A box and all inside it."""
    return [box, *(inner for part in box.inner for inner in every(part))]


def shown() -> list[Box]:
    """All boxes of the shipped stack."""
    return [inner for box in boxes(recording(), settings_of(read_stack_file("dev", ROOT))) for inner in every(box)]


def test_all_that_the_stack_makes_of_network_and_nodes_is_in_it():
    """Subnets, node groups and the file system, each where it lies."""
    made, titles = recording(), [box.title for box in shown()]
    for subnet in made.of_type("aws:ec2/subnet:Subnet"):
        assert sum(subnet.inputs["cidrBlock"] in title for title in titles) == 1
    for group in made.of_type("aws:eks/nodeGroup:NodeGroup"):
        name = group.inputs["nodeGroupName"]
        assert sum(title.startswith(f"{name}:") for title in titles) == len(group.inputs["subnetIds"])
    assert titles.count("FSx for Lustre") == 1
    assert "trn1-32xl: 2 x trn1.32xlarge" in titles
    assert "trn1n-32xl: empty" in titles


def test_what_is_off_is_not_in_it():
    """A stack without file system and public endpoint has another picture."""
    changed = merged(dev_configuration(), storage={"lustre": {"enabled": False}}, controlPlane={"publicAccessCidrs": []})
    found = [inner for box in boxes(record_stack(changed), parse_settings(changed, "dev", rehearsal=True)) for inner in every(box)]
    assert "FSx for Lustre" not in [box.title for box in found]
    assert any("reached from the VPC alone" in line for box in found for line in box.lines)


def test_no_text_leaves_its_box_and_no_box_another():
    """As far as the widths of letters are known."""
    root = ElementTree.fromstring(drawn("x", boxes(recording(), settings_of(read_stack_file("dev", ROOT)))))
    space = "{http://www.w3.org/2000/svg}"
    rects = [tuple(float(rect.attrib[key]) for key in ("x", "y", "width", "height")) for rect in root.iter(f"{space}rect")]
    for text in root.iter(f"{space}text"):
        x, y = float(text.attrib["x"]), float(text.attrib["y"])
        around = [rect for rect in rects if rect[0] <= x <= rect[0] + rect[2] and rect[1] <= y <= rect[1] + rect[3]]
        if around:
            inner = min(around, key=lambda rect: rect[2] * rect[3])
            width = len(text.text or "") * CHARACTER * (BOLD if "t" in text.attrib.get("class", "").split() else 1)
            assert x + width <= inner[0] + inner[2] + PAD / 2, text.text
    for a in rects:
        for b in rects:
            overlap = a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]
            assert not overlap or _within(a, b) or _within(b, a)


def _within(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] >= b[0] and a[1] >= b[1] and a[0] + a[2] <= b[0] + b[2] + 0.01 and a[1] + a[3] <= b[1] + b[3] + 0.01


def test_a_name_from_the_stack_file_is_escaped():
    """It is text in the picture, and no markup."""
    assert "<b>" not in drawn("<b>x</b>", [Box("<b>y</b>", ("<b>z</b>",))])
    assert cluster_picture.picture(ROOT) == (ROOT / "docs/cluster.svg").read_text()
