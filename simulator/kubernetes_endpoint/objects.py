"""Objects as the API server shows them: the program's and the users', which the account holds, and what controllers make of them."""

from collections.abc import Iterator
from typing import Any
from zlib import crc32

from simulator.account import kinds, view
from simulator.account.objects import CloudObject
from simulator.account.state import AccountState
from simulator.kubernetes_endpoint.nodes import PLUGINS, Object, claims_chips, claims_interfaces, is_neuron, nodes, plugin_runs, slices
from simulator.kubernetes_endpoint.pods import pods, uid_of
from simulator.kubernetes_endpoint.resources import ServedKind
from simulator.recording import Registration

_RELEASE_STATES = {"ready": "deployed", "deleting": "uninstalling", "failed": "pending-install"}
_DEFAULT_STATUS: dict[str, Object] = {
    "scheduling.volcano.sh/Queue": {"state": "Open"},
    "v1/PersistentVolumeClaim": {"phase": "Bound"},
    "v1/Namespace": {"phase": "Active"},
}
"""What a controller writes into the status of an object that is well."""


PROGRAM, USER = "pulumi-kubernetes-5f3c1a2b", "kubectl-client-side-apply"
"""Field managers: of the Pulumi provider, which ends in a part of its own for each resource, and of users (Kubernetes, server-side apply)."""


def objects(state: AccountState, kind: ServedKind) -> Iterator[Object]:
    """All objects of a kind."""
    if _key(kind) not in ("v1/Node", "v1/Pod"):
        yield from map(shown, view.objects_of_kind(state, _key(kind)))
    if kind.group == "" and kind.kind == "Node":
        yield from nodes(state)
    elif kind.group == "" and kind.kind == "Pod":
        yield from pods(state)
    elif kind.group == "" and kind.kind == "Secret":
        yield from (_release_secret(item) for item in state.existing(kinds.RELEASE))
    elif kind.kind == "ResourceSlice":
        yield from slices(state)
    elif kind.kind == "DaemonSet":
        yield from _plugins(state)
    elif kind.group == "" and kind.kind == "Namespace":
        yield from (
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "uid": name}} for name in ("default", "kube-system")
        )


def _key(kind: ServedKind) -> str:
    return f"{kind.group or 'v1'}/{kind.kind}"


def find(state: AccountState, kind: ServedKind, namespace: str, name: str) -> CloudObject | None:
    """One object that the account holds."""
    for item in view.objects_of_kind(state, _key(kind)):
        metadata = item.registration.inputs["metadata"]
        if metadata["name"] == name and (not namespace or metadata.get("namespace", "default") == namespace):
            return item
    return None


def shown(item: CloudObject) -> Object:
    """An object of the account, with the parts that the API server and controllers add."""
    made = item.registration
    manager = PROGRAM if made.urn.startswith("urn:pulumi:") else USER
    metadata = {**made.inputs["metadata"], "uid": uid_of(item), "managedFields": [{"manager": manager, "operation": "Apply"}]}
    metadata["resourceVersion"] = version_of(item)
    if item.status == "deleting":
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    _, group_version, kind = made.type.split(":")
    version = group_version.removeprefix("core/")
    status = made.outputs.get("status") or _DEFAULT_STATUS.get(kinds.object_kind(made.type), {})
    return {"apiVersion": version, "kind": kind, **made.inputs, "metadata": metadata, "status": status}


def version_of(item: CloudObject) -> str:
    """Another one after each change. What it is made of is nobody's to know (Kubernetes, resource versions)."""
    return str(crc32(repr((item.status, item.registration.inputs, item.registration.outputs)).encode()))


def _release_secret(item: CloudObject) -> Object:
    """Where Helm keeps a release (helm/helm pkg/storage/driver/secrets.go)."""
    name, namespace = item.registration.inputs["name"], item.registration.inputs["namespace"]
    labels = {"owner": "helm", "name": name, "version": "1", "status": _RELEASE_STATES.get(item.status, "pending-install")}
    metadata = {"name": f"sh.helm.release.v1.{name}.v1", "namespace": namespace, "uid": uid_of(item), "labels": labels}
    metadata["resourceVersion"] = version_of(item)
    return {"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1", "metadata": metadata}


def release_of_secret(state: AccountState, namespace: str, secret: str) -> tuple[Registration, Object] | None:
    """The release that a Secret of Helm's stands for, and the Secret's metadata."""
    for item in state.existing(kinds.RELEASE):
        metadata = _release_secret(item)["metadata"]
        if (metadata["namespace"], metadata["name"]) == (namespace, secret):
            return item.registration, metadata
    return None


def _plugins(state: AccountState) -> Iterator[Object]:
    """DaemonSets of the device plug-ins, or of the DRA drivers in their place, which their charts bring."""
    ready = sum(1 for node in nodes(state) if is_neuron(node))
    there = [("kube-system", name) for name in PLUGINS if plugin_runs(state, name)]
    if claims_chips(state):
        there[there.index(("kube-system", "neuron-device-plugin"))] = ("neuron-dra-driver", "neuron-dra-driver-kubelet-plugin")
    if claims_interfaces(state):
        there.append(("kube-system", "aws-dranet"))
    for namespace, name in there:
        metadata: dict[str, Any] = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
        yield {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "status": {"numberReady": ready}}
