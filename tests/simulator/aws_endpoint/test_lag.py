"""What AWS shows late: new objects, objects that are gone, and sizes that take their time."""

from collections.abc import Mapping
from typing import Any

import pytest
from botocore.exceptions import ClientError

from simulator.account.allowances import Allowances
from simulator.account.objects import Stray
from simulator.account.world import World
from simulator.aws_endpoint import endpoint
from simulator.aws_endpoint.inventory import Delays
from tests.simulator.account.standing import only, standing

CLUSTER, GROUP, LOG_GROUP = "trainium-dev", "trn1-32xl", "/aws/eks/trainium-dev/cluster"


def client(service: str, world: World, delays: Delays, region: str = "us-west-2") -> Any:
    """A boto3 client that ends in the account."""
    return endpoint.session(world, endpoint.Options(region, page_size=100, delays=delays)).client(service, region)


def log_groups(logs: Any) -> set[str]:
    """Names of all log groups that a list shows."""
    return {entry["logGroupName"] for entry in logs.describe_log_groups()["logGroups"]}


@pytest.mark.parametrize("looks", [0, 1, 3])
def test_a_new_object_is_shown_after_some_looks(looks: int):
    """EC2 and others answer before all of their servers know of it (EC2 API, eventual consistency)."""
    logs = client("logs", standing(), Delays(unseen=looks))
    assert [LOG_GROUP in log_groups(logs) for _ in range(5)] == [number >= looks for number in range(5)]


def test_what_a_list_does_not_show_yet_is_not_described_either():
    """A description is answered by the same servers."""
    eks = client("eks", standing(), Delays(unseen=1))
    with pytest.raises(ClientError, match="No cluster found for name: trainium-dev"):
        eks.describe_cluster(name=CLUSTER)
    assert eks.describe_cluster(name=CLUSTER)["cluster"]["status"] == "ACTIVE"


@pytest.mark.parametrize("looks", [0, 1, 3])
def test_an_object_that_is_gone_is_shown_for_some_looks(looks: int):
    """As it was, and no longer than that."""
    logs = client("logs", standing(), Delays(still_seen=looks))
    gone = next(name for name in log_groups(logs) if name != LOG_GROUP)
    logs.delete_log_group(logGroupName=gone)
    assert [gone in log_groups(logs) for _ in range(5)] == [number < looks for number in range(5)]


def test_what_ends_without_a_request_is_shown_late_too():
    """The caller did not delete it: what it belonged to is gone."""
    world = standing()
    ec2 = client("ec2", world, Delays(still_seen=1))
    seen = instances(ec2)
    world.state.remove(only("aws:eks/nodeGroup:NodeGroup", GROUP))
    assert [len(instances(ec2)) - len(seen) for _ in range(3)] == [0, -2, -2]


def instances(ec2: Any) -> list[str]:
    """Ids of all instances that a list shows."""
    return [entry["InstanceId"] for part in ec2.describe_instances()["Reservations"] for entry in part["Instances"]]


def resized(eks: Any, count: int, **limits: int) -> Mapping[str, Any]:
    """The update that sets the training group to a size."""
    size = {"minSize": 0, "maxSize": 4, "desiredSize": count, **limits}
    return eks.update_nodegroup_config(clusterName=CLUSTER, nodegroupName=GROUP, scalingConfig=size)["update"]


def described(eks: Any) -> tuple[str, int]:
    """Status and size of the training group."""
    group = eks.describe_nodegroup(clusterName=CLUSTER, nodegroupName=GROUP)["nodegroup"]
    return group["status"], group["scalingConfig"]["desiredSize"]


def test_a_new_size_appears_after_a_while():
    """Until then the group is being changed, takes no second change, and its update is under way."""
    world = standing()
    eks = client("eks", world, Delays(changing=4))
    update = resized(eks, 3)
    assert update["status"] == "InProgress"
    assert described(eks) == ("UPDATING", 2)
    with pytest.raises(ClientError, match="ResourceInUseException"):
        resized(eks, 1)

    def asked() -> str:
        return eks.describe_update(name=CLUSTER, nodegroupName=GROUP, updateId=update["id"])["update"]["status"]

    assert [asked() for _ in range(3)] == ["InProgress", "Successful", "Successful"]
    assert described(eks) == ("ACTIVE", 3)
    assert len(instances(client("ec2", world, Delays()))) == 5


def test_new_nodes_are_listed_later_than_their_group_says():
    """EC2's list lags behind EKS, and so must everything that counts nodes by it."""
    world = standing()
    session = endpoint.session(world, endpoint.Options(page_size=100, delays=Delays(changing=0, unseen=1)))
    eks, ec2 = session.client("eks", "us-west-2"), session.client("ec2", "us-west-2")
    eks.list_nodegroups(clusterName=CLUSTER)
    instances(ec2)
    assert resized(eks, 3)["status"] == "Successful"
    assert [len(instances(ec2)) for _ in range(2)] == [4, 5]


def test_a_size_that_ec2_does_not_give_fails_at_the_end_of_its_update():
    """EKS takes the request, and tells of the refusal minutes later."""
    world = standing()
    world.state.allowances = Allowances(vcpu_quotas={"Trn": 256})
    eks = client("eks", world, Delays(changing=1))
    update = resized(eks, 4)
    assert (update["status"], "errors" in update) == ("InProgress", False)
    ended = eks.describe_update(name=CLUSTER, nodegroupName=GROUP, updateId=update["id"])["update"]
    assert (ended["status"], [error["errorCode"] for error in ended["errors"]]) == ("Failed", ["AsgInstanceLaunchFailures"])
    assert described(eks) == ("ACTIVE", 2)


def test_a_size_outside_its_limits_and_an_unknown_update_are_refused():
    """At once, and in EKS's words."""
    eks = client("eks", standing(), Delays())
    with pytest.raises(ClientError, match="InvalidParameterException"):
        resized(eks, 5)
    with pytest.raises(ClientError, match="InvalidParameterException"):
        resized(eks, 1, minSize=2)
    with pytest.raises(ClientError, match="No update found for ID: update-9"):
        eks.describe_update(name=CLUSTER, nodegroupName=GROUP, updateId="update-9")


@pytest.mark.parametrize(("region", "begins"), [("us-east-2", "arn:aws:"), ("us-gov-west-1", "arn:aws-us-gov:")])
def test_arns_of_what_controllers_made_are_of_the_accounts_region(region: str, begins: str):
    """A load balancer of another region could not be deleted by it."""
    world = standing()
    world.state.add_stray(Stray("load balancer default/a", "of Service a", "urn", cluster=CLUSTER))
    (found,) = client("elbv2", world, Delays(), region).describe_load_balancers()["LoadBalancers"]
    assert found["LoadBalancerArn"].startswith(f"{begins}elasticloadbalancing:{region}:")
