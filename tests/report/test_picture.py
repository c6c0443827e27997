"""The picture of the cluster on a page: all that the SVG shows, in boxes that flow and fold."""

import re

from report.inventory import Inventory
from report.page import MOST_CHIPS
from report.templating import rendered
from simulator.recording import Recording
from tests.report.builders import HOSTILE, recording


def picture(made: Recording) -> str:
    """The section of the page."""
    return rendered("cluster.html", picture=Inventory(made).picture(), most_chips=MOST_CHIPS)


def texts(drawn: str) -> list[str]:
    """All that a reader sees, in order."""
    return [text.strip() for text in re.findall(r">([^<>]+)<", drawn) if text.strip()]


def test_it_shows_zones_subnets_groups_and_versions():
    """What there is, and where: the reader knows the cluster before its timeline."""
    shown = texts(picture(recording()))
    wanted = ["use2-az1", "use2-az2", "node  10.0.32.0/24", "train", "2 x trn2.48xlarge", "8 EFA interfaces per node", "Lustre, 1200 GiB"]
    wanted += ["control plane test", "NAT gateway", "S3 endpoint", "coredns", "v1.13.2", "volcano", "1.15.0"]
    assert [words for words in wanted if words not in shown] == []


def test_subnets_of_one_role_stand_side_by_side():
    """Each zone has as many cells as there are roles, so that a missing subnet shows as a gap and not as another's place."""
    columns = picture(recording(zone_ids=("use2-az1", "use2-az2", "use2-az3"))).split('<div class="zone">')[1:]
    roles = [re.findall(r"<b>(public|private|node)  ", column) for column in columns]
    assert roles == [["public", "private", "node"]] * 3


def test_a_thousand_groups_are_folded_and_all_named():
    """A picture that stops at some number of groups would show a cheaper cluster than the one that runs."""
    groups = [(f"group-{number:04d}", "use2-az1") for number in range(1000)]
    drawn = picture(recording(groups=groups))
    before, _, after = drawn.partition('<details class="fold"><summary>')
    assert after.startswith(f"{1000 - MOST_CHIPS} more<")
    assert before.count("<b>group-") == MOST_CHIPS
    assert drawn.count("<b>group-") == 1000


def test_an_empty_recording_has_a_picture():
    """A program that registers nothing is a valid program."""
    assert texts(picture(Recording("trn", "test"))) == ["Network and cluster", "no VPC"]


def test_hostile_names_stay_text():
    """Group names reach the picture as the user wrote them."""
    drawn = picture(recording(groups=[(HOSTILE, "use2-az1")]))
    assert "<script" not in drawn
    assert "&lt;script&gt;" in drawn
