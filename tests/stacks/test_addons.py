"""Every add-on in the whole program: switched alone, all at once, in order, and with no object that its declaration leaves out."""

import json
from functools import cache
from importlib import import_module
from typing import Any

import pytest

from addons.contract import load
from addons.kueue.objects import FRAMEWORKS
from addons.registry import FOLDER_OF, REGISTRY, SWITCHED
from facts.endpoints import INTERFACE_ENDPOINTS, NODE_ENDPOINTS, called_services
from simulator import bounds
from simulator.account.judge import findings
from simulator.account.kinds import is_kubernetes, object_kind
from simulator.account.world import World
from simulator.engine.schedule import run_destroy, run_up
from simulator.recording import Recording, Registration
from stacks.cluster import cluster_of
from stacks.config import parse_settings
from stacks.settings import Settings
from tests.addons.contract_keys import load_managed
from tests.stacks.addon_sets import ALTERNATIVES, everything, only_with_needs
from tests.stacks.order_laws import ADDON_LAWS, RELEASE, violations
from tests.stacks.samples import PRIVATE
from tests.support import merged, record_stack

CUSTOM_GROUPS_OF_KUBERNETES = (
    "core/",
    "apps/",
    "batch/v1",
    "rbac.",
    "storage.",
    "apiextensions.",
    "admissionregistration.",
    "helm.",
    "scheduling.k8s.io",
)

ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
ROLE_POLICY, NODE_ROLE = "aws:iam/rolePolicy:RolePolicy", "karpenter-nodes"


@cache
def recorded(alternative: str) -> Recording:
    """A set of add-ons, recorded once."""
    return record_stack(everything(alternative), stack="dev")


@cache
def settings(alternative: str) -> Settings:
    """The settings of a set of add-ons."""
    return parse_settings(everything(alternative), "dev", rehearsal=True)


@cache
def alone(key: str, *, on: bool) -> Recording:
    """One add-on with what it needs, or all but it."""
    return record_stack(only_with_needs(key, on=on), stack="dev")


def below(recording: Recording, component: str) -> set[str]:
    """URNs of a component and everything in it."""
    (root,) = [item.urn for item in recording if item.name == component and item.type.startswith("trn:addons:")]
    return {root, *recording.descendants(root)}


def upgraded_with(recording: Recording, key: str) -> set[str]:
    """URNs of the add-ons whose values one adds to, as far as they are on."""
    there = {item.name for item in recording if item.type.startswith("trn:addons:")}
    components = {SWITCHED[other].component for other in SWITCHED[key].changes}
    return set().union(*(below(recording, component) for component in components & there))


def custom_kind(item: Registration) -> str | None:
    """API version and kind of a custom resource; None for all else."""
    if not item.type.startswith("kubernetes:") or item.type.removeprefix("kubernetes:").startswith(CUSTOM_GROUPS_OF_KUBERNETES):
        return None
    return item.type.removeprefix("kubernetes:").replace(":", " ")


@pytest.mark.parametrize("key", SWITCHED)
def test_every_add_on_with_a_switch_can_be_made(key: str):
    """A declaration without a component would only be seen when somebody switches it on."""
    assert callable(import_module(f"addons.{FOLDER_OF[key]}.component").make)


@pytest.mark.parametrize("key", SWITCHED)
def test_switched_off_it_goes_and_touches_nothing_else(key: str):
    """A user who tries an add-on must be able to remove it again, and only it."""
    having, lacking = alone(key, on=True), alone(key, on=False)
    gone = set(having.registrations) - set(lacking.registrations)
    assert gone == below(having, SWITCHED[key].component)
    assert set(lacking.registrations) < set(having.registrations)
    added_to = upgraded_with(having, key)
    changed = [
        item.name for item in lacking.resources() if item.inputs != having.registrations[item.urn].inputs and item.urn not in added_to
    ]
    assert changed == []


@pytest.mark.parametrize("key", SWITCHED)
def test_nothing_that_stays_waits_for_it(key: str):
    """Deleted while others still depend on it, it would be refused or take them along."""
    having = alone(key, on=True)
    own = below(having, SWITCHED[key].component)
    if SWITCHED[key].early:
        # The training namespace, and what is in it, must go first; switched off, they no longer name it.
        return
    waiting = [item.name for item in having if item.urn not in own | upgraded_with(having, key) and item.dependencies & own]
    assert waiting == []


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_all_together_they_are_a_valid_configuration(alternative: str):
    """What may be on together is what the rules let pass."""
    parse_settings(everything(alternative), "dev", rehearsal=True)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("seed", range(3))
def test_all_together_they_go_in_order_and_leave_nothing(alternative: str, seed: int):
    """An add-on that outlives what it needs hangs in a finalizer, or leaves a bill."""
    recording, world = recorded(alternative), World()
    up = run_up(recording, world, seed=seed)
    destroy = run_destroy(recording, world, seed=seed)
    assert [step.error for step in (*up.errors, *destroy.errors)] == []
    assert world.state.leftovers() == []
    assert violations(recording, destroy) == []


@pytest.mark.parametrize("law", ADDON_LAWS)
def test_every_law_is_about_something_in_the_sets(law: str):
    """A law whose kinds never occur would hold whatever the program did."""
    first, second = ADDON_LAWS[law]
    hits = [any(first(item) for item in recorded(name)) and any(second(item) for item in recorded(name)) for name in ALTERNATIVES]
    assert any(hits)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_every_release_identity_and_custom_resource_is_declared(alternative: str):
    """`trn addons`, the destroy order and the mirror list are made from the declarations."""
    recording = recorded(alternative)
    charts = {chart.name for declaration in REGISTRY for chart in declaration.charts}
    identities = {account for declaration in REGISTRY for account in declaration.identities}
    kinds = {kind for declaration in REGISTRY for kind in declaration.kinds}
    managed = {name for declaration in REGISTRY for name in declaration.managed}
    associations = recording.of_type("aws:eks/podIdentityAssociation:PodIdentityAssociation")
    assert {item.inputs["name"] for item in recording.of_type(RELEASE)} <= charts
    assert {f"{item.inputs['namespace']}/{item.inputs['serviceAccount']}" for item in associations} <= identities
    assert {kind for item in recording if (kind := custom_kind(item))} <= kinds
    assert {item.inputs["addonName"] for item in recording.of_type("aws:eks/addon:Addon")} <= managed


def test_every_declared_chart_identity_and_kind_occurs_in_some_set():
    """A declaration that says more than is made misleads as much as one that says less."""
    recordings = [recorded(name) for name in ALTERNATIVES]
    items = [item for recording in recordings for item in recording]
    associations = {
        f"{item.inputs['namespace']}/{item.inputs['serviceAccount']}" for item in items if item.type.endswith(":PodIdentityAssociation")
    }
    releases = {item.inputs["name"] for item in items if item.type == RELEASE}
    addons = {item.inputs["addonName"]: item.inputs for item in items if item.type == "aws:eks/addon:Addon"}
    accounts = {entry["serviceAccount"] for inputs in addons.values() for entry in inputs.get("podIdentityAssociations") or []}
    for declaration in REGISTRY:
        assert {chart.name for chart in declaration.charts} <= releases, declaration.key
        assert set(declaration.kinds) <= {custom_kind(item) for item in items}, declaration.key
        assert set(declaration.managed) <= addons.keys(), declaration.key
        assert all(account in associations or account.split("/")[1] in accounts for account in declaration.identities), declaration.key


def services_called(recording: Recording, key: str) -> set[str]:
    """Services that the documents of an add-on's identities allow calls of, by the names of their endpoints."""
    items = [recording.registrations[urn] for urn in below(recording, SWITCHED[key].component)]
    return called_services(
        json.loads(item.inputs["policy"]) for item in items if item.type == ROLE_POLICY and not item.name.startswith(NODE_ROLE)
    )


@pytest.mark.parametrize("key", [key for key, declaration in SWITCHED.items() if declaration.identities])
def test_the_endpoints_of_an_add_on_are_those_of_the_services_it_may_call(key: str):
    """A service that is not named cannot be missed in a network without a way out; one too many costs an endpoint an hour."""
    declaration, found = SWITCHED[key], set[str]()
    for name in ALTERNATIVES:
        if any(item.name == declaration.component for item in recorded(name)):
            called = services_called(recorded(name), key)
            assert called == set(declaration.endpoints_in(cluster_of(settings(name))))
            found |= called
    assert found == set(declaration.endpoints)


@cache
def closed() -> dict[str, Any]:
    """All add-ons that can be in a network without a way out, with an endpoint for each service that they call."""
    configuration = merged(everything(), network=PRIVATE, addons={"karpenter": {"enabled": False}})
    needed = {service for declaration in REGISTRY for service in declaration.endpoints if declaration.key != "karpenter"}
    configuration["network"]["interfaceEndpoints"] = sorted({*NODE_ENDPOINTS, *needed} & INTERFACE_ENDPOINTS - {"s3"})
    return configuration


@cache
def closed_recording() -> Recording:
    """That stack, recorded once."""
    return record_stack(closed(), stack="dev")


@pytest.mark.parametrize("key", [key for key, declaration in SWITCHED.items() if declaration.identities and key != "karpenter"])
def test_without_a_way_out_an_add_on_may_call_what_it_reaches_and_nothing_else(key: str):
    """A right that cannot be used is one too many, and hides which endpoint is missing."""
    recording = closed_recording()
    found = cluster_of(parse_settings(closed(), "dev", rehearsal=True))
    assert services_called(recording, key) == set(SWITCHED[key].endpoints_in(found))


def test_a_closed_network_is_usable_with_its_endpoints_and_not_without_one():
    """The pods of an add-on whose endpoint is missing run, and can do nothing."""
    recording, world = closed_recording(), World()
    assert run_up(recording, world, seed=0).ended_well
    assert findings(world.state) == []
    (endpoint,) = [item for item in recording.of_type(ENDPOINT) if item.inputs["serviceName"].endswith(".elasticfilesystem")]
    world.state.remove(endpoint)
    assert [(item.name, rule) for item, rule, _ in findings(world.state)] == [("aws-efs-csi-driver", "identity-reaches-its-services")]


@pytest.mark.parametrize("seed", range(5))
def test_all_together_time_to_ready_stays_near_the_lower_bound(seed: int):
    """Add-ons are made while the Neuron nodes boot; what waits longer than they do costs 43 USD an hour.

    Fenced ones wait for all others, which the bound knows nothing of: their own time is allowed on top.
    """
    recording = recorded("everything")
    up = run_up(recording, World(), seed=seed)
    fenced = set().union(*(below(recording, item.component) for item in SWITCHED.values() if item.fenced))
    allowed = sum(step.end - step.start for urn, step in up.steps.items() if urn in fenced)
    assert up.seconds <= 1.05 * bounds.lower_bound_s(recording, seed) + allowed


FENCED = [key for key, declaration in SWITCHED.items() if declaration.fenced]


def before(recording: Recording, urns: set[str]) -> set[str]:
    """Everything that some resources wait for, directly or through others."""
    found, waiting = set[str](), list(urns)
    while waiting:
        needs = recording.registrations[waiting.pop()].dependencies - found
        found |= needs
        waiting += needs
    return found


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("key", FENCED)
def test_a_fenced_add_on_waits_for_whatever_its_webhooks_could_refuse(key: str, alternative: str):
    """A Deployment, or a release's hook Job, that is created while Kueue's pods start is refused, and not tried again."""
    recording = recorded(alternative)
    own = below(recording, SWITCHED[key].component)
    guarded = {kind for chart in SWITCHED[key].charts for kind in load(chart).guards}
    asked = [item for item in recording if item.type == RELEASE or (is_kubernetes(item.type) and object_kind(item.type) in guarded)]
    releases = {item.urn for item in asked if item.type == RELEASE} & own
    assert len([item for item in asked if item.urn not in own]) >= 12
    assert [item.name for item in asked if item.urn not in own | before(recording, releases)] == []


def test_eks_add_ons_may_be_installed_beside_a_fenced_one():
    """They have no Jobs, and the webhooks for the Deployments of other namespaces fail open without these three frameworks."""
    pods = [pod["object"] for declaration in REGISTRY for name in declaration.managed for pod in load_managed(name).pods]
    assert FENCED == ["kueue"]
    assert len(pods) > 10
    assert [pod for pod in pods if pod.startswith("Job/")] == []
    assert {"pod", "deployment", "statefulset"} & set(FRAMEWORKS) == set()
