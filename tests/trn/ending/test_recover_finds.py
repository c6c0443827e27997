"""What a killed run made is found by its name, place or tags; no object of another owner is."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from facts.kubernetes_kinds import Resource
from facts.names import CLUSTER_TAG, STACK_TAG
from facts.resources import ec2_network, ec2_security, eks, events, kms
from facts.resources.queries import Lookup
from facts.resources.table import TYPES
from simulator.account.objects import Status
from simulator.account.state import AccountState
from simulator.account.world import World
from simulator.aws_endpoint import endpoint
from simulator.aws_endpoint.wire import Wire
from simulator.outputs import Context, answer
from simulator.recording import Registration
from tests.stacks.samples import SAMPLES, recorded
from tests.trn.aws.cloud import STACK
from tests.trn.kubernetes.kubernetes_cloud import KubernetesCloud
from trn.aws.api import BotoApi
from trn.aws.objects import asked
from trn.aws.sighting import Sighting, sightings
from trn.change.identity import StateId
from trn.ending.recover.change import actions_of
from trn.ending.recover.look import LOOKUPS, NAMED, RELEASE, RELEASE_TYPE, SECRETS, Objects
from trn.ending.recover.plan import Import, Plan
from trn.engine.interrupted import Pending

CLUSTER, REGION = "trainium-dev", "us-west-2"
OTHERS = ("trainium-dev-2", "my-trainium-dev", "trainium-de")
CIDR = re.compile(r"[0-9.]+/(?!0$)[0-9]+")
IMPORTED_AS: Mapping[str, str] = {
    ec2_network.ROUTE.token: "{routeTableId}_{destinationCidrBlock}",
    ec2_network.ROUTE_TABLE_ASSOCIATION.token: "{subnetId}/{routeTableId}",
    eks.POD_IDENTITY.token: "{clusterName},{id}",
    events.TARGET.token: "{rule}/{targetId}",
}
"""Types whose import takes another id than the state has (the "Import" section of each resource in the pulumi_aws 7 SDK)."""


@cache
def samples() -> Mapping[str, str]:
    """Every type that is looked for on AWS, to the first sample stack that has one."""
    found: dict[str, str] = {}
    for sample in SAMPLES:
        if len(found) == len(LOOKUPS):
            break
        for item in recorded(sample).resources():
            if item.type in LOOKUPS:
                found.setdefault(item.type, sample)
    return found


def account(token: str) -> tuple[AccountState, Registration]:
    """An account with everything of a sample stack, and its first object of a type."""
    state = AccountState()
    for item in recorded(samples()[token]).resources():
        state.put(item)
    return state, recorded(samples()[token]).of_type(token)[0]


def remade(item: Registration, inputs: Mapping[str, Any], which: str, tags: Mapping[str, str]) -> Registration:
    """The same made once more by somebody, from these inputs and with these default tags."""
    context = Context(1, f"{item.urn}-{which}", REGION, "aws", "amazonaws.com", tags)
    resource_id, outputs = answer(context, item.type, item.name, inputs)
    return replace(item, id=resource_id, inputs=inputs, outputs=outputs)


def altered(value: Any) -> Any:
    """Almost the same value, of the same form: a subnet of no block cannot be."""
    if isinstance(value, str) and CIDR.fullmatch(value):
        address, _, length = value.partition("/")
        return f"{address}/{int(length) + 1}"
    if isinstance(value, Mapping):
        return {key: altered(each) if key in ("Name", "key") else each for key, each in value.items()}
    return value + 1 if isinstance(value, int) and not isinstance(value, bool) else f"{value}2" if isinstance(value, str) else value


def look_alikes(state: AccountState, ours: Registration) -> Iterator[Registration]:
    """What differs in one input that tells objects apart, and what is the same but for the cluster's tag; with what it is a part of."""
    fact = TYPES[ours.type]
    parents = {item.registration.id: item.registration for item in state}
    for key, value in ours.inputs.items():
        inputs = {**ours.inputs, key: altered(value)}
        if fact.identity(inputs) != fact.identity(ours.inputs):
            if isinstance(value, str) and value in parents:
                yield replace(parents[value], id=inputs[key])
            yield remade(ours, inputs, key, {CLUSTER_TAG: CLUSTER})
    if isinstance(fact.lookup, Lookup) and fact.lookup.mark != "part":
        for other in OTHERS:
            yield remade(ours, ours.inputs, other, {CLUSTER_TAG: other})
        yield remade(ours, ours.inputs, "bare", {})


def with_look_alikes(token: str) -> tuple[AccountState, Registration]:
    """An account with an object among all its look-alikes that can be beside it."""
    state, ours = account(token)
    others = [item for item in look_alikes(state, ours) if state.find(item.type, item.id) is None]
    assert any(item.type == token for item in others), f"nothing looks like a {token}"
    for item in others:
        state.put(item)
    return state, ours


def wire_of(state: AccountState, *, ignores_filters: bool = True) -> Wire:
    """The account behind boto3. Filters are ignored: only the code's own judgement keeps a recovery from what is not the cluster's."""
    return endpoint.wire(World(state), endpoint.Options(REGION, ignores_filters=ignores_filters))


def seen(wire: Wire, ours: Registration, cluster: str = CLUSTER) -> list[Sighting]:
    """What is found of one creation."""
    return list(sightings(BotoApi(REGION, wire.session()), LOOKUPS[ours.type], cluster, ours.inputs))


def test_every_type_that_the_program_can_make_is_looked_for():
    """One that is not would leave a recovery to a person."""
    assert {token for token, item in TYPES.items() if isinstance(item.lookup, Lookup)} == set(samples()) == set(LOOKUPS)


@pytest.mark.parametrize("token", sorted(LOOKUPS))
def test_an_object_is_found_among_look_alikes(token: str):
    """Whatever the service lists: other clusters' objects, other names, other places."""
    state, ours = with_look_alikes(token)
    expected = IMPORTED_AS.get(token, "{id}").format_map({**ours.inputs, "id": ours.id})
    assert [(sighting.id, sighting.progress) for sighting in seen(wire_of(state), ours)] == [(expected, "ready")]


@pytest.mark.parametrize("token", sorted(LOOKUPS))
def test_what_a_killed_run_was_making_is_found_while_it_is_made(token: str):
    """One that no service showed until it is ready would be taken for never made, and meet the next run under its own name."""
    state, ours = account(token)
    state.put(ours, "creating")
    assert [sighting.progress in ("making", "ready") for sighting in seen(wire_of(state), ours)] == [True]


@pytest.mark.parametrize("token", sorted(LOOKUPS))
def test_what_was_never_made_is_not_found(token: str):
    """Look-alikes alone are nothing, and a service that refuses the question has none."""
    state, ours = with_look_alikes(token)
    state.remove(ours)
    assert seen(wire_of(state), ours) == []


@pytest.mark.parametrize("token", sorted(token for token, lookup in LOOKUPS.items() if lookup.mark != "part"))
def test_what_somebody_else_made_in_its_place_is_not_ours(token: str):
    """Of the same name, without the tag or with another cluster's; to import it would give it to `pulumi destroy`."""
    for tags in ({}, {CLUSTER_TAG: OTHERS[0]}):
        state, ours = account(token)
        state.remove(ours)
        state.put(remade(ours, ours.inputs, "theirs", tags))
        assert seen(wire_of(state), ours) == []


@pytest.mark.parametrize(
    ("status", "progress"),
    [("creating", ["making"]), ("unready", ["making"]), ("failed", ["failed"]), ("ready", ["ready"]), ("deleting", [])],
)
def test_a_state_is_judged(status: Status, progress: list[str]):
    """What is being made is waited for, what goes is not there any more."""
    state, ours = account(ec2_network.NAT_GATEWAY.token)
    state.put(ours, status)
    assert [sighting.progress for sighting in seen(wire_of(state), ours)] == progress


def test_only_what_can_be_ours_is_asked_for():
    """An account may hold thousands."""
    state, ours = account(ec2_network.SUBNET.token)
    wire = wire_of(state, ignores_filters=False)
    seen(wire, ours)
    wanted = [{"Name": f"tag:{CLUSTER_TAG}", "Values": [CLUSTER]}, {"Name": "tag:Name", "Values": [ours.inputs["tags"]["Name"]]}]
    assert wire.calls[0] == ("ec2.DescribeSubnets", {"Filters": wanted})


def test_a_rule_for_all_protocols_has_no_ports():
    """EC2 answers with -1 where the program gives none."""
    state, _ = account(ec2_security.EGRESS.token)
    rules = recorded(samples()[ec2_security.EGRESS.token]).of_type(ec2_security.EGRESS.token)
    ours = next(rule for rule in rules if rule.inputs["ipProtocol"] == "-1" and "fromPort" not in rule.inputs)
    entries = asked(BotoApi(REGION, wire_of(state).session()), LOOKUPS[ours.type].query, {})
    (listed,) = [entry for entry in entries if entry["SecurityGroupRuleId"] == ours.id]
    assert (listed["FromPort"], listed["ToPort"]) == (-1, -1)
    assert [found.id for found in seen(wire_of(state), ours)] == [ours.id]


def test_an_alias_of_a_key_that_waits_for_its_deletion_is_not_ours():
    """It keeps its name for days, and `pulumi up` is refused one; imported, it would lead to a key that is going."""
    state, ours = account(kms.ALIAS.token)
    state.put(replace(ours, inputs={**ours.inputs, "targetKeyId": "0f8c"}))
    assert seen(wire_of(state), ours) == []


@pytest.mark.parametrize("token", sorted(NAMED))
def test_what_is_found_by_its_name_alone_is_ours_by_its_tags(token: str):
    """Anybody may have given a log group, a queue, a rule, a budget, a schedule group this name."""
    own = {CLUSTER_TAG: CLUSTER, STACK_TAG: STACK}
    for tags, doubt in (
        (own, ""),
        ({}, "it lacks the tag trn:cluster=trainium-dev, trn:stack=organization/trn/dev"),
        ({**own, STACK_TAG: "acme/trn/dev"}, "trn:stack=acme/trn/dev: another stack made it"),
        ({**own, CLUSTER_TAG: OTHERS[0]}, "it lacks the tag trn:cluster=trainium-dev"),
    ):
        state, ours = account(token)
        state.remove(ours)
        state.put(remade(ours, ours.inputs, "theirs", tags))
        api = BotoApi(REGION, wire_of(state).session())
        (found,) = sightings(api, LOOKUPS[token], CLUSTER, ours.inputs, STACK, NAMED[token])
        assert found.doubt.partition(": somebody")[0] == doubt


def test_all_that_is_found_by_its_name_alone_is_known():
    """A slip in the table would adopt somebody's object."""
    kinds = {token.rpartition(":")[2] for token in NAMED}
    assert kinds == {"LogGroup", "Queue", "EventRule", "Budget", "ScheduleGroup"}


# Behind the API server


DEPLOYMENTS = Resource("Deployment", "/apis/apps/v1", "deployments")


def served() -> KubernetesCloud:
    """A cluster with Deployments in two namespaces, one of which is being deleted; Volcano is not installed."""
    cluster = KubernetesCloud()
    for name, namespace in (("a", "training"), ("a", "default"), ("going", "training")):
        cluster.put(DEPLOYMENTS, name, namespace)
    cluster.begin_deletion(DEPLOYMENTS, "going", "training")
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
    assert [found.id for found in Objects(served().client).find(f"kubernetes:{version}:{kind}", inputs)] == ids


def secret(cluster: KubernetesCloud, name: str, status: str, version: int = 1, namespace: str = "volcano-system") -> None:
    """One Secret of a release."""
    labels = {"name": name, "owner": "helm", "status": status, "version": str(version)}
    cluster.put(SECRETS, f"sh.helm.release.v1.{name}.v{version}", namespace, labels=labels, type=RELEASE_TYPE)


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
    cluster = KubernetesCloud()
    for version, state in enumerate(states, 1):
        secret(cluster, "volcano", state, version)
    secret(cluster, "volcano-2", "deployed")
    secret(cluster, "volcano", "deployed", namespace="other")
    cluster.put(SECRETS, "token", "volcano-system", labels={"name": "volcano"}, type="Opaque")
    assert list(Objects(cluster.client).find(RELEASE, {"name": "volcano", "namespace": "volcano-system"})) == found


def test_a_half_installed_release_is_forgotten_whole():
    """All its Secrets are deleted, and no others."""
    cluster = KubernetesCloud()
    secret(cluster, "volcano", "failed", 10)
    secret(cluster, "volcano", "pending-install", 9)
    secret(cluster, "volcano-2", "deployed")
    (found,) = Objects(cluster.client).find(RELEASE, {"name": "volcano", "namespace": "volcano-system"})
    plan = Plan(uninstalls=(Import(Pending("::::::volcano", RELEASE, "creating", {}), found),))
    *forgets, _ = actions_of(plan, "dev", StateId("dev", "", "", frozenset()))
    site: Any = SimpleNamespace(kubernetes=lambda: cluster.client, tell=lambda _: None)
    assert [action.do(site, action.object).kind for action in forgets] == ["done", "done"]
    assert cluster.names(SECRETS) == {"sh.helm.release.v1.volcano-2.v1"}
