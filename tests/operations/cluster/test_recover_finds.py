"""What a killed run made is found by its name, place or tags; no object of another owner is."""

from dataclasses import replace
from typing import Any

import pytest

from facts.resources.queries import Lookup
from facts.resources.table import TYPES
from operations.aws.api import BotoApi
from operations.aws.sighting import Sighting, sightings
from operations.cluster.recover.look import LOOKUPS
from operations.cluster.recover.objects import RELEASE, RELEASE_TYPE, SECRETS, Objects
from simulator.doors.wire.wire import Refused, Wire
from tests.operations.aws.made import CLUSTER, DESCRIBED, LISTED, NETWORK, Made, One
from tests.operations.fake_kubernetes import FakeCluster

IN_LISTS = (*NETWORK, *LISTED)


def seen(wire: Wire, resource_type: str, inputs: dict[str, Any], cluster: str = CLUSTER) -> list[Sighting]:
    """What is found of one creation."""
    return list(sightings(BotoApi("us-west-2", wire.session()), LOOKUPS[resource_type], cluster, inputs))


def test_every_type_that_the_program_can_make_is_looked_for():
    """One that is not would leave a recovery to a person."""
    assert {token for token, item in TYPES.items() if isinstance(item.lookup, Lookup)} == {made.type for made in (*IN_LISTS, *DESCRIBED)}


@pytest.mark.parametrize("made", IN_LISTS, ids=lambda made: made.type)
def test_an_object_is_found_among_look_alikes(made: Made):
    """Whatever the service lists: other clusters' objects, other names, other places."""
    assert [sighting.id for sighting in seen(Wire(made.handlers()), made.type, made.inputs)] == [made.found]


@pytest.mark.parametrize("made", IN_LISTS, ids=lambda made: made.type)
def test_what_was_never_made_is_not_found(made: Made):
    """Look-alikes alone are nothing."""
    assert seen(Wire(made.handlers(there=False)), made.type, made.inputs) == []


@pytest.mark.parametrize("one", DESCRIBED, ids=lambda one: one.type)
def test_an_object_with_a_name_is_found_by_it(one: One):
    """Or its service says that there is none."""
    assert seen(Wire({one.operation: lambda given: one.answer}), one.type, one.inputs) == [replace(Sighting(one.found), said=said(one))]

    def refuse(given: dict[str, Any]) -> dict[str, Any]:
        raise Refused(one.absent)

    assert seen(Wire({one.operation: refuse}), one.type, one.inputs) == []


def said(one: One) -> str:
    """The state in an answer of EKS."""
    return next((value["status"] for value in one.answer.values() if isinstance(value, dict) and "status" in value), "")


@pytest.mark.parametrize("number", [0, 4])
def test_a_cluster_or_role_of_that_name_without_the_tag_is_not_ours(number: int):
    """Somebody made it by hand; to import it would give it to `pulumi destroy`."""
    one = DESCRIBED[number]
    assert seen(Wire({one.operation: lambda given: one.answer}), one.type, one.inputs, cluster="train-2") == []


@pytest.mark.parametrize(
    ("state", "progress"),
    [("pending", ["making"]), ("failed", ["failed"]), ("available", ["ready"]), ("deleting", []), ("deleted", [])],
)
def test_a_state_is_judged(state: str, progress: list[str]):
    """What is being made is waited for, what goes is not there any more."""
    nat = next(made for made in NETWORK if "natGateway" in made.type)
    nat = replace(nat, ours={**nat.ours, "State": state}, strangers=())
    assert [sighting.progress for sighting in seen(Wire(nat.handlers()), nat.type, nat.inputs)] == progress


def test_only_what_can_be_ours_is_asked_for():
    """An account may hold thousands."""
    wire = Wire(NETWORK[1].handlers())
    seen(wire, NETWORK[1].type, NETWORK[1].inputs)
    wanted = [{"Name": "tag:trn:cluster", "Values": ["train"]}, {"Name": "tag:Name", "Values": ["train-a"]}]
    assert wire.calls[0] == ("ec2.DescribeSubnets", {"Filters": wanted})


def test_a_rule_for_all_protocols_has_no_ports():
    """EC2 answers with -1 where the program gives none."""
    rule = {"GroupId": "sg-1", "IsEgress": True, "IpProtocol": "-1", "FromPort": -1, "ToPort": -1, "CidrIpv4": "0.0.0.0/0"}
    wire = Wire({"ec2.DescribeSecurityGroupRules": lambda given: {"SecurityGroupRules": [{**rule, "SecurityGroupRuleId": "sgr-1"}]}})
    inputs = {"securityGroupId": "sg-1", "ipProtocol": "-1", "cidrIpv4": "0.0.0.0/0"}
    assert [found.id for found in seen(wire, "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule", inputs)] == ["sgr-1"]


# Behind the API server


def served() -> FakeCluster:
    """A cluster that serves Deployments, Namespaces and Queues, with one of each."""
    cluster = FakeCluster()
    cluster.served = {
        "/apis/apps/v1": {
            "resources": [
                {"name": "deployments/status", "kind": "Deployment", "namespaced": True},
                {"name": "deployments", "kind": "Deployment", "namespaced": True},
            ]
        },
        "/api/v1": {"resources": [{"name": "namespaces", "kind": "Namespace", "namespaced": False}]},
        "/apis/apps/v1/namespaces/training/deployments/a": {"metadata": {"name": "a"}},
        "/apis/apps/v1/namespaces/default/deployments/a": {"metadata": {"name": "a"}},
        "/apis/apps/v1/namespaces/training/deployments/going": {"metadata": {"name": "going", "deletionTimestamp": "2026-11-01T00:00:00Z"}},
        "/api/v1/namespaces/training": {"metadata": {"name": "training"}},
    }
    return cluster


@pytest.mark.parametrize(
    ("version", "kind", "metadata", "ids"),
    [
        ("apps/v1", "Deployment", {"name": "a", "namespace": "training"}, ["training/a"]),
        ("apps/v1", "Deployment", {"name": "a"}, ["default/a"]),
        ("apps/v1", "Deployment", {"name": "b", "namespace": "training"}, []),
        ("apps/v1", "Deployment", {"name": "going", "namespace": "training"}, []),
        ("v1", "Namespace", {"name": "training"}, ["training"]),
        ("scheduling.volcano.sh/v1beta1", "Queue", {"name": "training"}, []),
    ],
)
def test_an_object_is_found_where_the_server_serves_its_kind(version: str, kind: str, metadata: dict[str, str], ids: list[str]):
    """By namespace and name; a kind whose definition was never installed has no objects."""
    inputs = {"apiVersion": version, "kind": kind, "metadata": metadata}
    assert [found.id for found in Objects(served()).find(f"kubernetes:{version}:{kind}", inputs)] == ids


def secret(cluster: FakeCluster, name: str, status: str, version: int = 1, namespace: str = "volcano-system") -> None:
    """One Secret of a release."""
    labels = {"name": name, "owner": "helm", "status": status, "version": str(version)}
    cluster.objects.setdefault(SECRETS, [])
    cluster.put(SECRETS, f"sh.helm.release.v1.{name}.v{version}", namespace, metadata={"labels": labels}, type=RELEASE_TYPE)


@pytest.mark.parametrize(
    ("states", "found"),
    [
        ([], []),
        (["deployed"], [Sighting("volcano-system/volcano", "ready", "deployed")]),
        (["pending-install"], [Sighting("volcano-system/volcano", "half", "pending-install")]),
        (["failed"], [Sighting("volcano-system/volcano", "half", "failed")]),
        (["deployed", "pending-upgrade"], [Sighting("volcano-system/volcano", "ready", "deployed")]),
    ],
)
def test_a_release_is_judged_by_its_secrets(states: list[str], found: list[Sighting]):
    """Helm refuses to upgrade what is not installed to its end; look-alikes do not count."""
    cluster = FakeCluster()
    for version, state in enumerate(states, 1):
        secret(cluster, "volcano", state, version)
    secret(cluster, "volcano-2", "deployed")
    secret(cluster, "volcano", "deployed", namespace="other")
    cluster.put(SECRETS, "token", "volcano-system", metadata={"labels": {"name": "volcano"}}, type="Opaque")
    assert list(Objects(cluster).find(RELEASE, {"name": "volcano", "namespace": "volcano-system"})) == found


def test_a_half_installed_release_is_forgotten_whole():
    """All its Secrets are deleted, and no others."""
    cluster = FakeCluster()
    secret(cluster, "volcano", "failed", 10)
    secret(cluster, "volcano", "pending-install", 9)
    secret(cluster, "volcano-2", "deployed")
    names = ["sh.helm.release.v1.volcano.v9", "sh.helm.release.v1.volcano.v10"]
    assert Objects(cluster).uninstall("volcano-system", "volcano") == names
    assert cluster.log == [f"delete Secret {name}" for name in names]
