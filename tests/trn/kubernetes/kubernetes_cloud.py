"""The simulated cluster behind the client of `trn`, and what users and charts put into it."""

from dataclasses import dataclass, field
from typing import Any

from facts.kubernetes_kinds import Resource
from simulator.account import kinds, view
from simulator.account.world import World
from simulator.kubernetes_endpoint.objects import find
from simulator.kubernetes_endpoint.resources import ServedKind
from simulator.kubernetes_endpoint.server import Answer, ApiServer
from tests.simulator.account.standing import only
from trn.kubernetes.client import KubernetesClient, Object
from trn.practice.kubernetes import SimulatedClient

NAMESPACES = Resource("Namespace", "/api/v1", "namespaces")


@dataclass(frozen=True)
class Noted(ApiServer):
    """An API server that keeps the changes it was asked for."""

    changes: list[tuple[str, str]] = field(default_factory=list)
    """Method and path."""

    def answer(self, method: str, path: str, body: Object | None = None) -> Answer:
        """Answer one request."""
        if method != "GET":
            self.changes.append((method, path))
        return super().answer(method, path, body)


class KubernetesCloud:
    """A cluster of the simulated account: the shipped stack's control plane, and what tests put there."""

    def __init__(self) -> None:
        self.world = World()
        self.world.state.put(only(kinds.CLUSTER))
        self.server = Noted(self.world)
        self.client = KubernetesClient(SimulatedClient(self.server, lambda: None), lambda: "token")

    def put(self, resource: Resource, name: str, namespace: str = "", *, labels: dict[str, str] | None = None, **entry: Any) -> None:
        """One more object, as a user makes it; with its namespace, where that is not there."""
        if namespace and not view.namespace_exists(self.world.state, namespace):
            self.put(NAMESPACES, namespace)
        self.client.create(resource, namespace, {"metadata": {"name": name, "labels": labels or {}}, **entry})
        self.server.changes.clear()

    def begin_deletion(self, resource: Resource, name: str, namespace: str) -> None:
        """The object is going, and something holds it."""
        item = find(self.world.state, ServedKind(resource.group, resource.kind), namespace, name)
        assert item is not None, f"there is no {resource.kind} {namespace}/{name}"
        item.status = "deleting"

    def names(self, resource: Resource) -> set[str]:
        """Names of all objects of a kind."""
        return {item["metadata"]["name"] for item in self.client.list(resource) or ()}
