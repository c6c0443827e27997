"""Two clusters in one program: names of their own, and a provider that is given."""

from collections.abc import Callable

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s
import pytest

from report.page import page_html
from simulator import bounds, latencies
from simulator.account import kinds
from simulator.account.faults import Faults
from simulator.account.judge import refusal_of
from simulator.account.rule import Stage
from simulator.account.world import World
from simulator.destroy_bound import destroy_bound
from simulator.engine.run import Engine
from simulator.engine.state import State
from simulator.errors import DuplicateUrn
from simulator.recorder.recorder import record
from simulator.recording import Recording, Registration
from simulator.rehearsal import Stack, rehearse
from stacks.config import parse_settings
from stacks.settings import Settings
from stacks.trainium_cluster import TrainiumCluster
from tests.stacks.addon_sets import everything


def settings(name: str) -> Settings:
    """All add-ons on, under a name of its own."""
    return parse_settings({**everything(), "name": name}, "test", rehearsal=True)


def recorded(program: Callable[[], object]) -> Recording:
    """What a program of a test registers."""

    def run() -> None:
        program()

    return record(run, project="trn", stack="test", configuration={})


def test_two_clusters_of_one_program_share_no_name():
    """A URN has the types of all parents and the name of none: equal names below two clusters would be one resource."""

    recording = recorded(_east_and_west)
    parts = {name: [item.name for item in recording if item.name == name or item.name.startswith(f"{name}-")] for name in ("east", "west")}
    assert len(parts["east"]) == len(parts["west"]) == len(recording) / 2
    assert [name.removeprefix("east-") for name in parts["east"]] == [
        name.replace("west", "east").removeprefix("east-") for name in parts["west"]
    ]


def test_each_of_two_clusters_is_built_of_its_own_resources_only():
    """An edge between them would make one wait for the other, and a shared provider would put it into its region."""

    recording = recorded(_east_and_west)
    west = {item.urn for item in recording if item.name.startswith("west")}
    for item in recording:
        if item.name.startswith("east"):
            assert not (item.dependencies | item.providers) & west, item.name


def test_without_a_prefix_the_second_cluster_meets_the_first():
    """The recorder refuses it; so does the engine."""

    def program() -> None:
        TrainiumCluster("one", settings("one"), prefix="")
        TrainiumCluster("two", settings("two"), prefix="")

    with pytest.raises(DuplicateUrn):
        recorded(program)


def test_an_aws_provider_that_is_given_is_used():
    """A component takes its providers from its options; it makes one only where there is none."""

    def program() -> None:
        given = aws.Provider("given", region="us-west-2")
        TrainiumCluster("demo", settings("demo"), pulumi.ResourceOptions(providers=[given]))

    recording = recorded(program)
    (provider,) = recording.of_type("pulumi:providers:aws")
    assert provider.name == "given"
    (vpc,) = recording.of_type("aws:ec2/vpc:Vpc")
    assert vpc.providers == {provider.urn}


def test_the_clusters_own_resources_take_the_provider_of_their_package():
    """Of two that are given: the Kubernetes provider is named so that it is the first in any order."""

    class Outer(pulumi.ComponentResource):
        def __init__(self) -> None:
            super().__init__("a:b:Outer", "outer")
            below = pulumi.ResourceOptions(parent=self)
            given = [k8s.Provider("given", kubeconfig="{}", opts=below), aws.Provider("given", region="us-west-2")]
            TrainiumCluster("demo", settings("demo"), pulumi.ResourceOptions(providers=given))

    recording = recorded(Outer)
    of_aws = [item for item in recording if item.custom and item.type.startswith("aws:")]
    assert {urn.split("::")[2] for item in of_aws for urn in item.providers} == {"pulumi:providers:aws"}
    assert {len(item.providers) for item in of_aws} == {1}


def test_two_clusters_of_one_account_go_up_run_and_are_destroyed():
    """Each has its own API server, nodes and add-ons; what both have under one name is two objects."""
    made = rehearse(Stack(_east_and_west, "trn", "test", {}), recording=recorded(_east_and_west))
    assert made.report.problems == []
    assert [(run.ended, len(run.resources)) for run in (made.report.up, *made.report.reruns)] == [("well", len(made.recording))]
    assert made.report.up.lower_bound_seconds <= made.up.seconds
    assert made.report.destroy.ended == "well"
    assert made.report.destroy.leftovers == []
    assert page_html(made.report, made.recording)


def test_no_chain_of_the_bounds_leads_from_one_cluster_to_the_other(monkeypatch: pytest.MonkeyPatch):
    """A control plane of one and a volume in the other, both slow, are slow side by side."""

    def seconds(registration: Registration, *_: object) -> float:
        return 1000.0 if (registration.type, registration.name[:4]) in ((kinds.CLUSTER, "east"), (kinds.VOLUME, "west")) else 1.0

    monkeypatch.setattr(latencies, "seconds", seconds)
    both = recorded(_east_and_west)
    assert 1000 < bounds.lower_bound_s(both, 0) < 1100
    assert 1000 < destroy_bound(both, 0).seconds < 1100


@pytest.fixture(scope="module")
def standing() -> Engine:
    """An account with both."""
    engine = Engine(World(), State())
    assert engine.up(recorded(_east_and_west)).ended_well
    return engine


def _of(engine: Engine, kind: str, name: str) -> Registration:
    (found,) = [item.registration for item in engine.world.state.existing(kind) if item.registration.name == name]
    return found


@pytest.mark.parametrize("cluster", ["east", "west"])
@pytest.mark.parametrize(
    ("kind", "gone", "refused"),
    [
        (kinds.ADDON, "control-plane-vpc-cni", (kinds.NODE_GROUP, "core", "settle", "NodeCreationFailure")),
        (kinds.NODE_GROUP, "core", (kinds.RELEASE, "volcano", "settle", "DeadlineExceeded")),
        (kinds.CLUSTER, "control-plane-eksCluster", (kinds.NAMESPACE, "training-namespace", "create", "Unreachable")),
    ],
)
def test_a_cluster_has_what_is_its_own_and_not_what_is_the_others(
    standing: Engine, cluster: str, kind: str, gone: str, refused: tuple[str, str, Stage, str]
):
    """Without it a request for this cluster is refused, and the same request for the other is not."""
    world, (other,) = standing.world.copy(), {"east", "west"} - {cluster}
    asked, name, stage, code = refused
    requests = {which: _of(standing, asked, f"{which}-{name}") for which in (cluster, other)}
    world.finish_delete(_of(standing, kind, f"{cluster}-{gone}"))
    for request in requests.values():
        if stage == "create" and world.state.of(request) is not None:
            world.state.remove(request)
    met = {which: refusal_of(world.state, Faults(), stage, request) for which, request in requests.items()}
    assert met[other] is None
    assert (met[cluster] or pytest.fail("let in")).code == code


def test_the_end_of_one_cluster_leaves_what_the_other_stored(standing: Engine):
    """And what its charts left: the kinds that Helm never deletes are gone with the API server that had them."""
    world = standing.world.copy()
    for release in world.state.existing(kinds.RELEASE):
        world.finish_delete(release.registration)
    left = {stray.cluster for stray in world.state.strays.values() if stray.name.startswith("crd ")}
    assert left == {"east", "west"}
    world.finish_delete(_of(standing, kinds.CLUSTER, "east-control-plane-eksCluster"))
    assert {stray.cluster for stray in world.state.strays.values() if stray.name.startswith("crd ")} == {"west"}
    kept = {item.registration.cluster for item in world.state if kinds.is_kubernetes(item.registration.type)}
    assert kept == {"west"}


def _east_and_west() -> None:
    TrainiumCluster("east", settings("east"))
    TrainiumCluster("west", settings("west"))
