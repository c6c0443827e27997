"""What all pods of one fake node share, and the node's own life: its status, its lease, its power."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.kubernetes.kubelet.api import Api, Gone, Refused
from tests.kubernetes.kubelet.backoff import BackOff
from tests.kubernetes.kubelet.events import Events
from tests.kubernetes.kubelet.images import Image
from tests.kubernetes.kubelet.names import Names
from tests.kubernetes.kubelet.network import Network
from tests.kubernetes.kubelet.pods import Object
from tests.kubernetes.kubelet.sandbox import Addresses
from tests.kubernetes.kubelet.store import Store
from tests.kubernetes.kubelet.times import as_precise_text, as_text

LABEL = "trn.test/kubelet=process"
"""Nodes with this label have this kubelet; nothing else may play their pods or keep their leases."""
POWER = "trn.test/power"
"""Annotation of a node: `off` ends its machine at once, `on` (or none) starts it again."""
LOOPBACK = "127.0.0.1"
"""Where every node's endpoint listens. A node with an address of the cluster's network is reached there through the API server's egress proxy."""
_log = logging.getLogger(__name__)


class NameBook:
    """What has a name in the cluster now, for all pods; written by the watches."""

    def __init__(self) -> None:
        self.now = Names()


@dataclass(frozen=True)
class Machine:
    """What every node of one kubelet process has in common."""

    api: Api
    store: Store
    network: Network
    images: dict[str, Image]
    life: int
    """Descriptor of the pipe that ends with the test."""
    addresses: Addresses = field(default_factory=Addresses)
    back_off: BackOff = field(default_factory=BackOff)
    clock: Callable[[], float] = time.time
    lease_s: int = 40
    """Life of a node's lease; it is renewed four times as often."""
    names: NameBook = field(default_factory=NameBook)


@dataclass(frozen=True)
class Node:
    """One fake node, while its machine is on."""

    name: str
    machine: Machine
    events: Events
    allocatable: dict[str, str]
    host: str = LOOPBACK
    """The node's address, for its pods' `hostIP`."""
    lost: threading.Event = field(default_factory=threading.Event)
    """Set when its machine is lost: from then on it writes nothing to the API server."""


def is_on(node: Object) -> bool:
    """Its machine is there."""
    return (node["metadata"].get("annotations") or {}).get(POWER, "on") != "off"


def address(node: Object) -> str:
    """The address that the node has, or loopback for one that has none."""
    for each in (node.get("status") or {}).get("addresses") or ():
        if each["type"] == "InternalIP":
            return each["address"]
    return LOOPBACK


def node_place(host: str, port: int) -> Object:
    """Where a node is reached, as a merge patch of its status. `port`: of its own endpoint."""
    # Only an address: the API server would try a name first.
    return {"addresses": [{"type": "InternalIP", "address": host}], "daemonEndpoints": {"kubeletEndpoint": {"Port": port}}}


def node_conditions(since_s: float, now_s: float) -> list[Object]:
    """What a node that works says of itself, since when and now."""
    reasons = {
        "MemoryPressure": ("False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        "DiskPressure": ("False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        "PIDPressure": ("False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        "Ready": ("True", "KubeletReady", "kubelet is posting ready status"),
    }
    times = {"lastHeartbeatTime": as_text(now_s), "lastTransitionTime": as_text(since_s)}
    return [
        {"type": kind, "status": status, "reason": reason, "message": text, **times} for kind, (status, reason, text) in reasons.items()
    ]


def lease(node: Object, life_s: int, now_s: float) -> Object:
    """The node's sign of life, renewed."""
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": node["metadata"]["name"],
            "namespace": "kube-node-lease",
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": node["metadata"]["name"], "uid": node["metadata"]["uid"]}],
        },
        "spec": {"holderIdentity": node["metadata"]["name"], "leaseDurationSeconds": life_s, "renewTime": as_precise_text(now_s)},
    }


class Heartbeat(threading.Thread):
    """Keeps one node ready: its lease, and its conditions, which the node controller changes when it has heard nothing for long."""

    def __init__(self, node: Node, entry: Object, port: int) -> None:
        super().__init__(daemon=True)
        self._node, self._entry, self._port = node, entry, port
        self.ready = threading.Event()

    def run(self) -> None:
        """Say where it is, and then again and again that it is there."""
        machine, path = self._node.machine, f"/api/v1/nodes/{self._node.name}/status"
        since_s = machine.clock()
        while not self._node.lost.is_set():
            try:
                if not self.ready.is_set():
                    machine.api.patch(path, {"status": node_place(self._node.host, self._port)}, "merge-patch")
                machine.api.patch(path, {"status": {"conditions": node_conditions(since_s, machine.clock())}})
                self._renew(machine)
                self.ready.set()
            except (Refused, Gone) as error:
                _log.warning("heartbeat of %s: %s", self._node.name, error)
            self._node.lost.wait(machine.lease_s / 4 if self.ready.is_set() else 1)

    def _renew(self, machine: Machine) -> None:
        path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
        renewed = lease(self._entry, machine.lease_s, machine.clock())
        change = {"spec": renewed["spec"]}
        if machine.api.patch(f"{path}/{self._node.name}", change, "merge-patch") is None:
            machine.api.create(path, renewed)
