"""Whose a cluster is: read from a state and from an account, and different as soon as one part is."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.trn.aws.cloud import ACCOUNT, CREATED_AT, STACK
from tests.trn.change.owned import EMPTY, REGION, cluster_arn, state
from trn.aws.cluster_identity import ClusterIdentity, differences, moment, of_account, of_state
from trn.engine.stack_state import parse_state

OWN = ClusterIdentity(ACCOUNT, REGION, cluster_arn("train"), CREATED_AT, "vpc-a", STACK)
OTHERS = {
    "account": "999999999999", "region": "us-east-1", "cluster_arn": cluster_arn("train", account="999999999999"),
    "created_at": "2026-02-02T00:00:00Z", "vpc_id": "vpc-b", "stack": "organization/trn/peer",
}  # fmt: skip


def test_the_same_cluster_has_no_differences():
    """Read from the two sides."""
    found = of_state(state("train")["deployment"]["resources"], "train")
    entry = {
        "arn": OWN.cluster_arn, "createdAt": datetime(2026, 1, 1, 0, 0, 0, 999, UTC), "resourcesVpcConfig": {"vpcId": "vpc-a"},
        "tags": {"trn:stack": STACK},
    }  # fmt: skip
    assert found == OWN
    assert of_account(ACCOUNT, REGION, entry, {}, OWN) == OWN
    assert differences(OWN, OWN) == []


@pytest.mark.parametrize("part", list(OTHERS))
@pytest.mark.parametrize("value", ["other", ""])
def test_each_part_alone_makes_another_cluster(part: str, value: str):
    """A part that one side does not know is no match either."""
    changed = replace(OWN, **{part: OTHERS[part] if value else ""})
    assert len(differences(changed, OWN)) == 1
    if part != "cluster_arn" or value:
        assert len(differences(OWN, changed)) == 1


def test_parts_that_neither_side_knows_are_no_match_but_for_the_stack():
    """A release that did not set the tag has ARN, time and VPC."""
    assert differences(replace(OWN, stack=""), replace(OWN, stack="")) == []
    assert len(differences(replace(OWN, created_at=""), replace(OWN, created_at=""))) == 1
    assert len(differences(replace(OWN, vpc_id=""), replace(OWN, vpc_id=""))) == 1


def test_without_a_cluster_account_region_and_vpc_decide():
    """After a destroy that was stopped the state may still hold what is gone."""
    gone = ClusterIdentity(ACCOUNT, REGION)
    assert differences(OWN, gone) == []
    assert len(differences(OWN, replace(gone, account="999999999999"))) == 1
    left = of_account(ACCOUNT, REGION, None, {"vpc-a": {"trn:stack": "organization/trn/peer"}, "vpc-0": {}}, OWN)
    assert [line.split(":")[0] for line in differences(OWN, left)] == ["stack"]
    assert of_account(ACCOUNT, REGION, None, {"vpc-b": {}}, OWN) == gone


def test_a_state_that_holds_roles_only_needs_no_region():
    """A destroy that was stopped near its end; a cluster of the name is still another one."""
    gone = ClusterIdentity(OWN.account, OWN.region)
    roles = ClusterIdentity(OWN.account, stack=OWN.stack)
    assert differences(roles, gone) == []
    assert len(differences(replace(roles, account=""), gone)) == 1
    assert differences(roles, OWN) != []
    assert len(differences(replace(roles, vpc_id=OWN.vpc_id), gone)) == 1


def test_a_cluster_that_a_killed_run_made_is_taken_by_its_vpc_and_stack_alone():
    """Only where recovery asks, and only where both are known."""
    own = replace(OWN, cluster_arn="", created_at="")
    assert len(differences(own, OWN)) == 2
    assert differences(own, OWN, unfinished=True) == []
    assert len(differences(replace(own, vpc_id="vpc-b"), OWN, unfinished=True)) == 1
    assert len(differences(replace(own, stack=""), replace(OWN, stack=""), unfinished=True)) == 2


@pytest.mark.parametrize(
    "value",
    ["2026-01-01T00:00:00Z", "2026-01-01 00:00:00.123 +0000 UTC", "2026-01-01T01:00:00.5+01:00", datetime(2026, 1, 1, tzinfo=UTC)],
)
def test_a_moment_is_read_as_the_provider_and_eks_write_it(value: object):
    """To the second: the provider keeps no more."""
    assert moment(value) == CREATED_AT
    assert moment("soon") == moment(None) == ""


def test_another_cluster_in_the_same_state_is_not_this_one():
    """A program may make two."""
    both = [*state("train")["deployment"]["resources"], *state("train-2", vpc="vpc-b")["deployment"]["resources"]]
    found = of_state(both, "train-2")
    assert found is not None
    assert (found.cluster_arn, found.vpc_id) == (cluster_arn("train-2"), "vpc-b")
    assert of_state(both, "trai") is None


def test_a_state_is_gone_only_where_it_holds_nothing_and_nothing_is_under_way():
    """A run that was killed at its first resource has left something."""
    assert parse_state(EMPTY, "train").is_gone
    assert not parse_state(state("train", with_cluster=False), "train").is_gone
    under_way = {"deployment": {"pending_operations": [{"resource": {"type": "aws:ec2/vpc:Vpc"}, "type": "creating"}]}}
    assert not parse_state(under_way, "train").is_gone
