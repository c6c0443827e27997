"""The simulated cloud behind the provider protocol: what needs no engine to be tried."""

import pytest

from simulator.providers.values import live_inputs, updated_state, with_unknowns
from simulator.recorder.protocol import UNKNOWN, plain, secret_keys, struct
from simulator.replacements import changed_paths, deletes_first, replacing_paths

GROUP = "aws:eks/nodeGroup:NodeGroup"


def test_values_come_back_as_they_went():
    """A number that became a float would be a difference on every run."""
    values = {"text": "x", "count": 2, "share": 0.5, "on": True, "none": None, "list": [1, {"deep": "y"}]}
    assert plain(struct(values)) == values


def test_a_secret_is_opened_on_arrival():
    """The cloud needs the value; only the engine keeps the secret."""
    secret = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "quiet"}
    assert plain(struct({"key": secret})) == {"key": "quiet"}
    assert secret_keys(struct({"deep": {"list": [secret]}, "open": 1})) == {"deep"}


def test_a_preview_knows_inputs_and_nothing_computed():
    """Also inside what the inputs began, such as the cluster's own security group."""
    inputs = {"name": "train", "vpcConfig": {"subnetIds": ["a"]}}
    computed = {"arn": "arn", "vpcConfig": {"subnetIds": ["a"], "clusterSecurityGroupId": "sg"}}
    assert with_unknowns(inputs, computed) == {
        "name": "train",
        "arn": UNKNOWN,
        "vpcConfig": {"subnetIds": ["a"], "clusterSecurityGroupId": UNKNOWN},
    }


def test_a_read_gives_the_inputs_without_what_was_computed():
    """Otherwise each refresh would look like a change."""
    state = {"vpcConfig": {"subnetIds": ["b"], "clusterSecurityGroupId": "sg"}, "arn": "arn"}
    assert live_inputs({"vpcConfig": {"subnetIds": ["a"]}}, state) == {"vpcConfig": {"subnetIds": ["b"]}}


def test_an_update_drops_what_is_no_longer_asked_and_keeps_what_was_computed():
    """The cluster's security group outlives a change of its subnets."""
    state = {"arn": "arn", "old": 1, "vpcConfig": {"subnetIds": ["a"], "clusterSecurityGroupId": "sg"}}
    after = updated_state(state, {"old": 1, "vpcConfig": {"subnetIds": ["a"]}}, {"vpcConfig": {"subnetIds": ["a", "b"]}})
    assert after == {"arn": "arn", "vpcConfig": {"subnetIds": ["a", "b"], "clusterSecurityGroupId": "sg"}}


@pytest.mark.parametrize(
    ("old", "new", "replacing"),
    [
        ({"scalingConfig": {"desiredSize": 2}}, {"scalingConfig": {"desiredSize": 1}}, []),
        ({"launchTemplate": {"id": "lt-1", "version": "1"}}, {"launchTemplate": {"id": "lt-1", "version": "2"}}, []),
        ({"launchTemplate": {"id": "lt-1", "version": "1"}}, {"launchTemplate": {"id": "lt-2", "version": "1"}}, ["launchTemplate.id"]),
        ({"subnetIds": ["a"]}, {"subnetIds": ["a", "b"]}, ["subnetIds"]),
        ({"instanceTypes": ["trn1.32xlarge"]}, {"instanceTypes": ["trn1n.32xlarge"]}, ["instanceTypes"]),
    ],
)
def test_a_node_group_is_replaced_by_what_eks_cannot_change(old: dict[str, object], new: dict[str, object], replacing: list[str]):
    """Size and template version change in place; subnets, types and the template itself do not."""
    assert replacing_paths(GROUP, changed_paths(old, new), old, new) == replacing


def test_a_name_that_is_set_deletes_first():
    """Right where capacity is scarce, and a gap where it is not."""
    assert deletes_first(GROUP, {"nodeGroupName": "a"}, {"nodeGroupName": "a"})
    assert not deletes_first("aws:ec2/subnet:Subnet", {}, {"cidrBlock": "10.0.0.0/24"})
    assert deletes_first("kubernetes:core/v1:Service", {"metadata": {"name": "a"}}, {"metadata": {"name": "a"}})
    assert not deletes_first("kubernetes:core/v1:Service", {"metadata": {"name": "a"}}, {"metadata": {"name": "b"}})
    assert not deletes_first("kubernetes:helm.sh/v3:Release", {"name": "a"}, {"name": "a"})
