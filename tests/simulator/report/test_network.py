"""Laws of the network's picture: everything recorded is named, whatever the shape of the cluster."""

from xml.etree import ElementTree

import pytest

from simulator.recording import Recording
from simulator.report.drawing.network import network_svg
from simulator.report.drawing.text import text_width
from tests.simulator.report.builders import HOSTILE, recording, registration

SVG = "{http://www.w3.org/2000/svg}"
ZONE_IDS = ("use2-az1", "use2-az2", "use2-az3", "use2-az4")


def words(drawn: Recording) -> list[str]:
    """All texts of the picture, in the order of drawing."""
    return ["".join(text.itertext()) for text in ElementTree.fromstring(network_svg(drawn)).iter(f"{SVG}text")]


def boxes(drawn: Recording, style: str) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of all boxes of one style."""
    shapes = [shape for shape in ElementTree.fromstring(network_svg(drawn)).iter(f"{SVG}rect") if style in shape.get("class", "").split()]
    numbers = [[float(shape.get(key, "nan")) for key in ("x", "y", "width", "height")] for shape in shapes]
    return [(x, y, x + width, y + height) for x, y, width, height in numbers]


def test_forty_groups_in_four_zones_are_all_named():
    """A picture that silently stops at some number of groups would show a cheaper cluster than the one that runs."""
    groups = [(f"group-{number:02d}", ZONE_IDS[number % 4]) for number in range(40)]
    drawn = words(recording(zone_ids=ZONE_IDS, nat_zone_ids=ZONE_IDS, groups=groups))
    assert sorted(name for name, _ in groups) == sorted(word for word in drawn if word.startswith("group-"))


@pytest.mark.parametrize("count", [2, 3, 4])
def test_each_zone_id_has_one_column(count: int):
    """A zone is what fails together: subnets of one zone stand under one heading."""
    drawn = words(recording(zone_ids=ZONE_IDS[:count]))
    assert [word for word in drawn if word in ZONE_IDS] == list(ZONE_IDS[:count])


def test_boxes_of_things_never_overlap_and_stay_in_the_picture():
    """Chips that cover each other hide a node group; those beyond the edge are cut off."""
    groups = [("n" * 63 + str(number), ZONE_IDS[number % 3]) for number in range(17)]
    drawn = recording(zone_ids=ZONE_IDS, groups=groups)
    width, height = (float(number) for number in ElementTree.fromstring(network_svg(drawn)).get("viewBox", "").split()[2:])
    chips = boxes(drawn, "chip")
    assert all(0 < left < right < width and 0 < top < bottom < height for left, top, right, bottom in chips)
    for index, (left, top, right, bottom) in enumerate(chips):
        assert not [other for other in chips[index + 1 :] if left < other[2] and other[0] < right and top < other[3] and other[1] < bottom]


def test_every_text_ends_inside_the_picture():
    """A CIDR block that is cut off after its third number is a wrong CIDR block."""
    drawn = recording(groups=[("g" * 63, "use2-az1")])
    root = ElementTree.fromstring(network_svg(drawn))
    ends = [float(text.get("x", "nan")) + text_width(text.text or "", 12) for text in root.iter(f"{SVG}text")]
    assert max(ends) <= float(root.get("viewBox", "").split()[2])


def test_efa_interfaces_are_counted_by_kind():
    """An ordinary interface in the same launch template carries no EFA traffic."""
    assert "8 EFA interfaces per node" in words(recording(efa_count=8))
    assert "no EFA interfaces" in words(recording(efa_count=0))


def test_a_node_group_tells_its_size_and_type():
    """Size and type are what a group costs."""
    assert "2 x trn2.48xlarge" in words(recording())


def test_a_subnet_tells_role_and_block():
    """The Name tag holds cluster, role and zone id; only the role is not said elsewhere on the picture."""
    assert "private  10.0.16.0/24" in words(recording())


@pytest.mark.parametrize(("zone_ids", "count"), [((), 0), (("use2-az2",), 1), (("use2-az1", "use2-az2"), 2)])
def test_there_are_as_many_nat_gateways_as_recorded(zone_ids: tuple[str, ...], count: int):
    """None, one, or one per zone: the three choices differ in price and in what a failed zone takes away."""
    assert words(recording(nat_zone_ids=zone_ids)).count("NAT gateway") == count


@pytest.mark.parametrize(
    ("nat_zone_ids", "ways"),
    [
        ((), ["no way out, S3 endpoint", "no way out, S3 endpoint"]),
        (("use2-az1",), ["out by NAT in use2-az1, S3 endpoint", "out by NAT in use2-az1, S3 endpoint"]),
        (("use2-az1", "use2-az2"), ["out by NAT in use2-az1, S3 endpoint", "out by NAT in use2-az2, S3 endpoint"]),
    ],
)
def test_a_subnet_tells_its_way_out_by_its_routes(nat_zone_ids: tuple[str, ...], ways: list[str]):
    """A node without a way out never joins; and traffic through another zone's gateway costs more and fails with that zone."""
    drawn = words(recording(nat_zone_ids=nat_zone_ids))
    assert [drawn[drawn.index(header) + 1] for header in ("node  10.0.32.0/24", "node  10.0.33.0/24")] == ways


def test_a_public_subnet_goes_out_by_the_internet_gateway():
    """What makes a subnet public is its route, not its name."""
    drawn = words(recording())
    assert drawn[drawn.index("public  10.0.0.0/24") + 1] == "out by internet gateway"


def test_a_cluster_without_file_system_and_groups_parses():
    """The storage section may be left out, and a cluster may begin without nodes."""
    drawn = words(recording(groups=(), file_system_gib=None))
    assert "file system" not in drawn


def test_the_file_system_tells_its_size():
    """Size is what a file system costs and what it can hold."""
    assert "Lustre, 1200 GiB" in words(recording())


def test_versions_of_addons_and_charts_are_shown():
    """Five version numbers must agree; two of them stand on this picture."""
    assert {"v1.13.2", "1.15.0"} <= set(words(recording()))


def test_an_empty_recording_parses():
    """A program that registers nothing is a valid program."""
    assert words(Recording("trn", "test")) == ["no VPC"]


def test_hostile_names_are_escaped():
    """Group names reach the picture as the user wrote them."""
    drawn = recording(groups=[(HOSTILE, "use2-az1")])
    assert "<script" not in network_svg(drawn)
    assert any("alert('x')" in word for word in words(drawn))


def test_components_are_never_looked_at():
    """The picture shows what the cloud was asked for; a component of the same name adds nothing to it."""
    plain, more = recording(), recording()
    component = registration("trn:components:NodeGroup", "component-only", "", {"nodeGroupName": "component-only"})
    more.registrations[component.urn] = component
    assert network_svg(plain) == network_svg(more)
