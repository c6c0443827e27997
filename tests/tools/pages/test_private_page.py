"""docs/private.md: the stages that it describes are rehearsed, and what it names is there."""

from typing import Any

import pytest

from facts.endpoints import SESSION_ENDPOINTS
from simulator.account import kinds
from simulator.engine.change import Changed, rehearse_change
from stacks.stack_yaml import read_yaml
from tools.pages.configuration_keys import keys
from trn.before.init.samples import ROOT, SAMPLES
from trn.engine.program import record_stack, rehearse_stack
from trn.engine.stack_file import StackFile
from trn.rehearsal.files import circumstances_of

PAGE = (ROOT / "docs" / "private.md").read_text("utf-8")


def private(*addresses: str) -> StackFile:
    """The private sample, with addresses that may reach the API."""
    pairs: dict[str, Any] = read_yaml(SAMPLES["private"].text)["config"]
    pairs["trn:controlPlane"]["publicAccessCidrs"] = list(addresses)
    return StackFile(ROOT, "trn", "private", pairs)


def changed(before: StackFile, after: StackFile) -> Changed:
    """What the change of a running cluster comes to."""
    return rehearse_change(record_stack(before), record_stack(after), seed=0)


@pytest.mark.parametrize("addresses", [((), ("198.18.0.7/32",)), (("198.18.0.7/32",), ())])
def test_the_endpoint_closes_and_opens_in_place(addresses: tuple[tuple[str, ...], tuple[str, ...]]):
    """Two stages: the control plane is updated, no node is touched, and no job stops."""
    before, after = addresses
    found = changed(private(*before), private(*after))
    assert [(change.kind, change.registration.type) for change in found.touched] == [("update", kinds.CLUSTER)]
    assert {effect.kind for effect in found.nodes} <= {"stays"}
    assert (found.phase.errors, list(found.cautions)) == ([], [])


def test_from_outside_the_first_run_stops_inside_the_cluster_and_the_second_goes_on():
    """A host inside: AWS's part is made, with the core nodes through which the second run goes; and all is gone in the end."""
    report = rehearse_stack(private(), circumstances=circumstances_of(None, ["api-unreachable"])).report
    assert report.up.ended == "refused"
    refused = [step for step in report.up.resources if step.error is not None]
    assert {step.type.partition(":")[0] for step in refused} == {"kubernetes"}
    assert all("does not answer" in str(step.error) or "unreachable" in str(step.error) for step in refused)
    made = {step.name for step in report.up.resources if step.error is None}
    assert {"core", "control-plane-eksCluster"} <= made
    assert (report.reruns[-1].ended, report.problems, report.destroy.leftovers) == ("well", [], [])


def test_a_core_node_can_be_reached_and_reaches_the_api():
    """By Systems Manager, with the group by which nodes reach the control plane: the page promises both."""
    recording = record_stack(private())
    (cluster,) = recording.of_type(kinds.CLUSTER)
    assert cluster.inputs["vpcConfig"]["endpointPrivateAccess"] is True
    assert cluster.inputs["vpcConfig"]["endpointPublicAccess"] is False
    policies = [str(item.inputs["policyArn"]) for item in recording.of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment")]
    assert any(policy.endswith("AmazonSSMManagedInstanceCore") for policy in policies)


def test_the_page_names_keys_endpoints_and_outputs_that_exist():
    """A renamed one would leave its reader with nothing."""
    known = {key.path for key in keys()}
    for key in (
        "controlPlane.publicAccessCidrs",
        "nodes.sessionManager",
        "network.nat",
        "network.cidr",
        "network.podCidr",
        "nodeGroups.NAME.size",
    ):
        assert f"{key.split('.')[-1]}" in PAGE
        assert key in known
    assert all(f"`{service}`" in PAGE for service in SESSION_ENDPOINTS)
    assert "vpcId" in record_stack(private()).stack_outputs
