"""The picture of the cluster is the recording's own: what the stack makes is in it."""

from typing import Any

from report.boxes import Box
from stacks.config import parse_settings
from tests.simulator.account.standing import recording
from tests.support import ROOT, dev_configuration, merged, record_stack
from tools.pages import cluster_picture


def every(box: Box) -> list[Box]:
    """A box and all inside it."""
    return [box, *(inner for part in (*box.chips, *box.columns, *box.cells) if part for inner in every(part))]


def shown(configuration: dict[str, Any]) -> list[Box]:
    """All boxes of a stack."""
    rows = cluster_picture.rows(record_stack(configuration), parse_settings(configuration, "dev", rehearsal=True))
    return [inner for row in rows for box in row for inner in every(box)]


def test_all_that_the_stack_makes_of_network_and_nodes_is_in_it():
    """Subnets, node groups and the file system, each where it lies."""
    made, boxes = recording(), shown(dev_configuration())
    titles = [box.title for box in boxes]
    for subnet in made.of_type("aws:ec2/subnet:Subnet"):
        assert sum(subnet.inputs["cidrBlock"] in title for title in titles) == 1
    for group in made.of_type("aws:eks/nodeGroup:NodeGroup"):
        assert titles.count(group.inputs["nodeGroupName"]) == len(group.inputs["subnetIds"])
    lines = {box.title: box.lines for box in boxes}
    assert lines["file system"] == ["Lustre, 1200 GiB", "125 MB/s per TiB"]
    assert lines["trn1-32xl"][:2] == ["2 x trn1.32xlarge", "16 Trainium chips, 32 NeuronCores, 512 GiB per node"]
    assert lines["core"][0] == "2 x m5.xlarge, up to 8 over 2 zones"
    assert lines["control plane trainium-dev"][0].endswith("; secrets encrypted by a KMS key; logs in CloudWatch")
    assert "kube-prometheus-stack" in lines["20 add-ons in the cluster"][0]


def test_what_is_off_is_not_in_it():
    """A stack without file system and public endpoint has another picture."""
    changed = merged(dev_configuration(), storage={"lustre": {"enabled": False}}, controlPlane={"publicAccessCidrs": []})
    found = shown(changed)
    assert "file system" not in [box.title for box in found]
    assert any("endpoint open in the VPC;" in line for box in found for line in box.lines)


def test_the_readme_has_the_picture_of_today():
    """It is drawn from the recording, and so is not written again by hand."""
    assert cluster_picture.picture(ROOT) == (ROOT / "docs/cluster.svg").read_text()
