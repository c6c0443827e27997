"""A control plane behind the account: what the rules allow goes on to it, and what it refuses does not happen."""

from collections.abc import Mapping
from typing import Any

import pytest
from urllib3.exceptions import HTTPError

from local_kubernetes import half
from local_kubernetes.api import Answer, Object
from local_kubernetes.half import Half, manifest
from simulator.account import kinds
from simulator.account.rules.batch import environment_finds_its_namespace
from simulator.account.state import AccountState
from simulator.account.world import World
from simulator.recording import Registration

CONFIG = "kubernetes:core/v1:ConfigMap"


class Server:
    """As much of `Api` as the half uses, and of `Cluster`: objects by kind and name."""

    server, authority = "https://127.0.0.1:6443", b"PEM"

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], Object] = {}
        self.refuses: dict[str, Answer] = {}
        self.is_gone = False
        self.holds: set[str] = set()

    def api(self) -> "Server":
        return self

    def apply(self, item: Object, **_: object) -> Answer:
        self._asked()
        name = item["metadata"]["name"]
        if name in self.refuses:
            return self.refuses[name]
        self.objects[item["kind"], name] = item
        return Answer(200, item)

    def delete(self, item: Object, **_: object) -> Answer:
        self._asked()
        if item["metadata"]["name"] not in self.holds:
            self.objects.pop((item["kind"], item["metadata"]["name"]), None)
        return Answer(200, {})

    def get(self, item: Object) -> Answer:
        found = self.objects.get((item["kind"], item["metadata"]["name"]))
        return Answer(404, {}) if found is None else Answer(200, found)

    def items(self, _path: str) -> list[Object]:
        return [{**item, "status": {"phase": "Active"}} for (kind, _), item in self.objects.items() if kind == "Namespace"]

    def _asked(self) -> None:
        if self.is_gone:
            raise HTTPError("connection refused")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    """An API server without anything in it."""
    monkeypatch.setattr(half, "DELETE_S", 0)
    return Server()


@pytest.fixture
def world(server: Server) -> World:
    """An account whose control plane is up, with the server behind it."""
    world = World(cluster=Half(server))  # type: ignore[arg-type]
    world.state.add(registration(kinds.CLUSTER, "c", {"name": "c", "vpcConfig": {}}), "ready")
    return world


def registration(resource_type: str, name: str, inputs: Mapping[str, Any]) -> Registration:
    """A resource of the program's."""
    return Registration(f"urn:{resource_type}::{name}", resource_type, name, True, False, "", inputs, id=name, outputs=dict(inputs))


def config(name: str = "settings", **metadata: Any) -> Registration:
    """A ConfigMap."""
    return registration(CONFIG, name, {"metadata": {"name": name, "namespace": "default", **metadata}, "data": {"a": "b"}})


def test_an_object_is_made_in_both(world: World, server: Server):
    """The account's rules go on to know it."""
    assert world.begin_create(config()) is None
    assert server.objects["ConfigMap", "settings"]["data"] == {"a": "b"}
    assert world.state.find(CONFIG, "settings") is not None


def test_what_the_server_refuses_is_in_neither(world: World, server: Server):
    """With its own words."""
    server.refuses["settings"] = Answer(422, {"reason": "Invalid", "message": 'ConfigMap "settings" is invalid: data'})
    refusal = world.begin_create(config())
    assert refusal is not None
    assert (refusal.code, refusal.text) == ("Invalid", 'ConfigMap "settings" is invalid: data')
    assert refusal.retry_s == 0
    assert world.state.find(CONFIG, "settings") is None


def test_what_the_rules_refuse_never_reaches_the_server(world: World, server: Server):
    """A namespace that is not there."""
    refusal = world.begin_create(config(namespace="nowhere"))
    assert refusal is not None
    assert server.objects == {}


def test_a_finalizer_holds_a_deletion(world: World, server: Server):
    """As the provider says it; the account keeps the object, and the next try deletes it."""
    made = config(finalizers=["example.com/mine"])
    world.begin_create(made)
    server.holds.add("settings")
    refusal = world.begin_delete(made)
    assert refusal is not None
    assert "finalizers might be preventing deletion (example.com/mine)" in refusal.text
    assert world.state.find(CONFIG, "settings") is not None
    server.holds.clear()
    assert world.begin_delete(made) is None
    world.finish_delete(made)
    assert server.objects == {}
    assert world.state.find(CONFIG, "settings") is None


def test_a_server_that_is_gone_is_a_refusal(world: World, server: Server):
    """With what to do; the run stops as any other does."""
    server.is_gone = True
    refusal = world.begin_create(config())
    assert refusal is not None
    assert refusal.code == "Unreachable"
    assert refusal.remedy == "again"


def test_batch_finds_a_namespace_that_the_account_knows_nothing_of(world: World, server: Server):
    """Made with kubectl, it is in the cluster only."""
    request = registration(kinds.COMPUTE_ENVIRONMENT, "batch", {"name": "batch", "eksConfiguration": {"kubernetesNamespace": "mine"}})
    assert environment_finds_its_namespace.check(world.state, request) is not None
    server.objects["Namespace", "mine"] = {"metadata": {"name": "mine"}}
    assert world.cluster is not None
    world.cluster.look(world.state, request)
    assert environment_finds_its_namespace.check(world.state, request) is None


def test_a_new_cluster_gets_everything_that_the_account_holds(server: Server):
    """Namespaces before what is in them, whatever the order on disk."""
    state = AccountState()
    for made in (config("late", namespace="team"), registration(kinds.NAMESPACE, "team", {"metadata": {"name": "team"}})):
        state.add(made, "ready")
    assert Half(server).restore(state) == []  # type: ignore[arg-type]
    assert list(server.objects) == [("Namespace", "team"), ("ConfigMap", "late")]


def test_the_engine_hears_where_the_api_server_is(server: Server):
    """Kubeconfigs and user data are made of it."""
    outputs = Half(server).outputs(kinds.CLUSTER)  # type: ignore[arg-type]
    assert outputs == {"endpoint": "https://127.0.0.1:6443", "certificateAuthority": {"data": "UEVN"}}
    assert Half(server).outputs(CONFIG) == {}  # type: ignore[arg-type]


def test_a_manifest_has_the_kind_of_its_type():
    """Whatever the inputs say."""
    made = manifest(registration("kubernetes:scheduling.volcano.sh/v1beta1:Queue", "q", {"metadata": {"name": "q"}}))
    assert (made["apiVersion"], made["kind"]) == ("scheduling.volcano.sh/v1beta1", "Queue")
