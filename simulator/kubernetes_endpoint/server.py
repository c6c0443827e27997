"""The API server of the simulated cluster: a request in, a status and a body out, judged by the rules of the account."""

import json
import re
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from simulator.account import kinds, view
from simulator.account.objects import CloudObject, Stray
from simulator.account.world import World
from simulator.kubernetes_endpoint.nodes import HELD, Object, nodes
from simulator.kubernetes_endpoint.objects import find, objects, release_of_secret, shown
from simulator.kubernetes_endpoint.pods import LOG, is_stopped, metrics, pods, uid_of
from simulator.kubernetes_endpoint.resources import ServedKind, served_kinds
from simulator.recording import Registration

USERS = "urn:pulumi:users::cluster"
"""Begins the URNs of objects that no program made."""
_PATH = re.compile(
    r"/(?:api/(?P<core>v1)|apis/(?P<group>[^/]+)/(?P<version>[^/]+))"
    r"(?:/namespaces/(?P<namespace>[^/]+)(?=/))?(?:/(?P<plural>[^/]+)(?:/(?P<name>[^/]+)(?:/(?P<rest>.+))?)?)?"
)
_REASONS = {200: "OK", 201: "Created", 404: "Not Found", 409: "Conflict", 422: "Unprocessable Entity"}


class NoServer(Exception):
    """There is no control plane that answers."""


@dataclass(frozen=True)
class Answer:
    """What the API server sends."""

    status: int
    body: bytes

    @property
    def reason(self) -> str:
        """HTTP's words for the status."""
        return _REASONS[self.status]


@dataclass(frozen=True)
class _Place:
    """What a path names."""

    kind: ServedKind
    version: str
    namespace: str
    name: str
    rest: str
    query: dict[str, str] = field(default_factory=dict)


def _json(value: Any, status: int = 200) -> Answer:
    return Answer(status, json.dumps(value).encode())


_NOT_FOUND = _json({"kind": "Status", "reason": "NotFound"}, 404)


@dataclass(frozen=True)
class ApiServer:
    """Answers for the cluster of one account."""

    world: World

    def answer(self, method: str, path: str, body: Object | None = None) -> Answer:
        """Answer one request. Raises NoServer where no control plane answers."""
        state = self.world.state
        if not view.api_answers(state):
            raise NoServer("no control plane answers")
        parts = urlsplit(path)
        match = _PATH.fullmatch(parts.path.rstrip("/"))
        if match is None:
            return _NOT_FOUND
        group, version = match["group"] or "", match["core"] or match["version"]
        served = [kind for kind in served_kinds(state) if kind.group == group]
        if match["plural"] is None:
            return self._discovery(served)
        kind = next((kind for kind in served if kind.plural == match["plural"]), None)
        if kind is None:
            return _NOT_FOUND
        query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        place = _Place(kind, version, match["namespace"] or "", unquote(match["name"] or ""), match["rest"] or "", query)
        return self._acted(method, place, body or {})

    def _discovery(self, served: list[ServedKind]) -> Answer:
        if not served:
            return _NOT_FOUND
        return _json({"resources": [{"name": kind.plural, "kind": kind.kind, "namespaced": kind.is_namespaced} for kind in served]})

    def _acted(self, method: str, place: _Place, body: Object) -> Answer:
        if method == "POST":
            return self._create(place, body)
        if method == "DELETE":
            return self._delete(place, body)
        if method == "PATCH":
            return self._patch(place, body)
        if place.rest:
            return self._below(place)
        return self._read(place) if place.name else self._list(place)

    def _list(self, place: _Place) -> Answer:
        key, _, value = place.query.get("labelSelector", "").partition("=")
        found = [
            item
            for item in objects(self.world.state, place.kind)
            if place.namespace in ("", item["metadata"].get("namespace"))
            and (not key or item["metadata"].get("labels", {}).get(key) == value)
        ]
        return _json({"items": found})

    def _read(self, place: _Place) -> Answer:
        for item in objects(self.world.state, place.kind):
            metadata = item["metadata"]
            if metadata["name"] == place.name and (not place.namespace or metadata.get("namespace", "default") == place.namespace):
                return _json(item)
        return _NOT_FOUND

    def _below(self, place: _Place) -> Answer:
        """Logs of pods, and what their ports and those of Services answer through the proxy."""
        name, _, port = place.name.partition(":")
        target = self._read(replace(place, name=name, rest=""))
        if target.status == 404:
            return _NOT_FOUND
        if place.rest == "log":
            return Answer(200, f"{LOG}\n".encode())
        if place.kind.kind == "Pod" and place.rest == "proxy/metrics":
            return Answer(200, metrics(self.world.state, json.loads(target.body)["spec"].get("nodeName", "")).encode())
        # Of Services only etcd's answers anything.
        is_etcd = port == "2379" and place.rest.startswith("proxy/v2/keys") and bool(self.world.state.ready(kinds.STATEFUL_SET))
        return _json({"action": "get", "node": {"dir": True}}) if is_etcd else _NOT_FOUND

    def _create(self, place: _Place, body: Object) -> Answer:
        if place.kind.is_namespaced and not view.namespace_exists(self.world.state, place.namespace):
            return _NOT_FOUND
        if place.kind.kind == "Command":
            return self._job_command(place, body) if body["action"].endswith("Job") else self._close_queue(body)
        name = body["metadata"]["name"]
        if find(self.world.state, place.kind, place.namespace, name) is not None:
            return _json({"kind": "Status", "reason": "AlreadyExists", "message": f"{place.kind.plural} {name!r} already exists"}, 409)
        token = place.kind.type_token(place.version)
        metadata = {**body["metadata"], **({"namespace": place.namespace} if place.kind.is_namespaced else {})}
        which = f"{place.namespace}/{name}" if place.kind.is_namespaced else name
        inputs = {**body, "metadata": metadata}
        made = Registration(f"{USERS}::{token}::{which}", token, which, True, False, "", inputs, id=which, outputs=dict(inputs))
        self.world.state.add(made, "ready")
        for stray in strays_of(self.world, made):
            self.world.state.add_stray(stray)
        return _json(shown(self.world.state.existing(token)[-1]), 201)

    def _close_queue(self, command: Object) -> Answer:
        """Volcano acts on its commands."""
        queue = find(self.world.state, ServedKind("scheduling.volcano.sh", "Queue"), "", command["target"]["name"])
        if queue is not None:
            queue.registration = replace(queue.registration, outputs={**queue.registration.outputs, "status": {"state": "Closed"}})
        return _json(command, 201)

    def _job_command(self, place: _Place, command: Object) -> Answer:
        """Volcano stops and starts jobs by its commands."""
        job = find(self.world.state, ServedKind("batch.volcano.sh", "Job"), place.namespace, command["target"]["name"])
        if job is not None:
            status: Object = {"state": {"phase": "Aborted"}} if command["action"] == "AbortJob" else {}
            job.registration = replace(job.registration, outputs={**job.registration.outputs, "status": status})
            self._let_go(job)
        return _json(command, 201)

    def _let_go(self, job: CloudObject) -> None:
        """A job that has stopped has no place on a closed node any more."""
        for node in self.world.state.existing(kinds.NODE) if is_stopped(job) else ():
            kept = [uid for uid in node.registration.inputs[HELD] if uid != uid_of(job)]
            node.registration = replace(node.registration, inputs={**node.registration.inputs, HELD: kept})

    def _patch_node(self, place: _Place, body: Object) -> Answer:
        """The account has groups, and no nodes: what a user writes on a node is kept beside them."""
        state = self.world.state
        if place.name not in [node["metadata"]["name"] for node in nodes(state)]:
            return _NOT_FOUND
        kept = find(state, place.kind, "", place.name)
        if kept is None:
            there = [pod for pod in pods(state) if pod["spec"].get("nodeName") == place.name]
            held = sorted({owner["uid"] for pod in there for owner in pod["metadata"].get("ownerReferences") or ()})
            inputs = {"metadata": {"name": place.name}, HELD: held}
            state.add(
                Registration(f"{USERS}::{kinds.NODE}::{place.name}", kinds.NODE, place.name, True, False, "", inputs, id=place.name),
                "ready",
            )
            kept = state.existing(kinds.NODE)[-1]
        kept.registration = replace(kept.registration, inputs=_merged(kept.registration.inputs, body))
        if not kept.registration.inputs.get("spec"):
            state.remove(kept.registration)
        return self._read(place)

    def _patch(self, place: _Place, body: Object) -> Answer:
        if place.kind.kind == "Node":
            return self._patch_node(place, body)
        item = find(self.world.state, place.kind, place.namespace, place.name)
        if "fieldManager" in place.query:
            # Server-side apply makes what is not there (Kubernetes, server-side apply).
            if place.kind.is_namespaced and not view.namespace_exists(self.world.state, place.namespace):
                return _NOT_FOUND
            if "dryRun" in place.query:
                return _json(
                    _merged(shown(item), body) if item is not None else {**body, "metadata": {**body["metadata"], "uid": "dry-run"}}
                )
            if item is None:
                return self._create(place, body)
        if item is None:
            return _NOT_FOUND
        wanted, there = body.get("metadata", {}).get("uid", ""), shown(item)["metadata"]["uid"]
        if wanted not in ("", there):
            return _conflict(wanted, there)
        made = item.registration
        item.registration = replace(made, inputs=_merged(made.inputs, body), outputs=_merged(made.outputs, body))
        self._let_go(item)
        return _json(shown(item))

    def _delete(self, place: _Place, options: Object) -> Answer:
        state = self.world.state
        if place.kind.kind == "Secret" and place.kind.group == "":
            release = release_of_secret(state, place.namespace, place.name)
            if release is not None:
                made, metadata = release
                if moved := _moved(options, metadata):
                    return moved
                state.remove(made)
                return _json({})
        item = find(state, place.kind, place.namespace, place.name)
        if item is None:
            return _NOT_FOUND
        if moved := _moved(options, shown(item)["metadata"]):
            return moved
        made = item.registration
        for stray in strays_of(self.world, made):
            state.drop_stray(stray)
        refusal = self.world.begin_delete(made)
        self.world.faults.ended(made)
        if refusal is not None:
            return _json({"kind": "Status", "reason": refusal.code, "message": refusal.text}, 422)
        self.world.finish_delete(made)
        return _json({})


def _moved(options: Object, metadata: Object) -> Answer | None:
    """The answer where the object is not the one that a request to delete names."""
    for key, wanted in options.get("preconditions", {}).items():
        if wanted != metadata[key]:
            return _conflict(wanted, metadata[key], key)
    return None


def _conflict(wanted: str, there: str, key: str = "uid") -> Answer:
    """As kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/storage/interfaces.go, Preconditions.Check."""
    what = {"uid": "UID"}.get(key, "ResourceVersion")
    text = f"Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {there}"
    return _json({"kind": "Status", "reason": "Conflict", "message": text}, 409)


def strays_of(world: World, made: Registration) -> list[Stray]:
    """What the cluster's controllers make for an object of a user: a load balancer for a Service, a pod that mounts a claim."""
    metadata = made.inputs["metadata"]
    name, namespace = metadata["name"], metadata.get("namespace", "default")
    kind = kinds.object_kind(made.type)
    spec = made.inputs.get("spec") or {}
    if kind == "v1/Service" and spec.get("type") == "LoadBalancer":
        groups = view.node_groups(world.state)
        subnets = sorted({subnet for group in groups for subnet in view.listed(group.inputs.get("subnetIds"))})[:1]
        what = f"the load balancer of Service {namespace}/{name}"
        return [Stray(f"load balancer {namespace}/{name}", what, made.urn, tuple(subnets), usd_per_hour=0.0225)]
    claims = sorted(set(_claims(spec)))
    return [Stray(f"pod on {claim} {namespace}/{name}", f"a pod of {name} that mounts {claim}", made.urn) for claim in claims]


def _claims(value: Any) -> list[str]:
    """Claims that the pods of a spec mount, however deep they are in it."""
    if isinstance(value, dict):
        own = [value["persistentVolumeClaim"]["claimName"]] if "persistentVolumeClaim" in value else []
        return [*own, *(claim for item in value.values() for claim in _claims(item))]
    return [claim for item in value for claim in _claims(item)] if isinstance(value, list) else []


def _merged(before: Any, patch: Any) -> Any:
    """JSON merge patch (RFC 7386)."""
    if not isinstance(before, dict | type(None)) or not isinstance(patch, dict):
        return patch
    merged = {**(before or {})}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merged(merged.get(key), value)
    return merged
