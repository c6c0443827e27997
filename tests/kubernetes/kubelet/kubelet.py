"""The kubelet of all nodes that have its label: takes nodes on, gives each pod bound to them its worker, and lets both go."""

import logging
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from tests.kubernetes.kubelet.attempts import Attempt, find
from tests.kubernetes.kubelet.backends import backends
from tests.kubernetes.kubelet.endpoint import Endpoint, NotThere, make_certificate
from tests.kubernetes.kubelet.events import Events
from tests.kubernetes.kubelet.node import LABEL, Heartbeat, Machine, Node, address, is_on
from tests.kubernetes.kubelet.pods import Object, containers
from tests.kubernetes.kubelet.records import Waiting
from tests.kubernetes.kubelet.relays import Relays
from tests.kubernetes.kubelet.sandbox import find_sandbox
from tests.kubernetes.kubelet.streams import Streams
from tests.kubernetes.kubelet.worker import PodWorker

READY_S = 120
_log = logging.getLogger(__name__)


class Taken:
    """One node that this kubelet has taken on."""

    def __init__(self, entry: Object, machine: Machine, certificate: tuple[Path, Path], streams: Streams) -> None:
        name = entry["metadata"]["name"]
        allocatable = dict((entry.get("status") or {}).get("allocatable") or {})
        self.node = Node(name, machine, Events(machine.api, name), allocatable, address(entry))
        self.workers: dict[str, PodWorker] = {}
        self.server = Endpoint(self._find, certificate, streams)
        threading.Thread(target=self.server.serve_forever, args=(0.1,), daemon=True).start()
        self.heartbeat = Heartbeat(self.node, entry, self.server.server_address[1])
        self.heartbeat.start()

    def follow(self, pods: dict[str, Object]) -> None:
        """All pods that are bound to this node, by uid."""
        for key in [key for key in self.workers if key not in pods]:
            self.workers.pop(key).remove()
        for key, pod in pods.items():
            if key in self.workers:
                self.workers[key].update(pod)
            else:
                self.workers[key] = PodWorker(pod, self.node)
                self.workers[key].start()

    def lose(self) -> None:
        """The machine is gone: no heartbeat, no process, no endpoint."""
        _log.info("node %s is lost", self.node.name)
        self.node.lost.set()
        for worker in self.workers.values():
            worker.lose()
        self.server.drop()

    def _find(self, namespace: str, name: str, container: str, previous: bool) -> Attempt:
        for worker in list(self.workers.values()):
            if (worker.pod["metadata"]["namespace"], worker.pod["metadata"]["name"]) != (namespace, name):
                continue
            names = [each["name"] for kind, each in containers(worker.pod) if container or kind == "main"]
            container = container or names[0]
            if container not in names:
                raise NotThere(f'container "{container}" in pod "{name}" is not available')
            attempt = worker.containers.log(container, previous)
            if attempt:
                return attempt
            if previous:
                raise NotThere(f'previous terminated container "{container}" in pod "{name}" not found')
            state = worker.containers.records[container].state
            why = state.reason if isinstance(state, Waiting) else "ContainerCreating"
            raise NotThere(f'container "{container}" in pod "{name}" is waiting to start: {why}')
        raise NotThere(f'pod "{namespace}/{name}" not found')


class Kubelet:
    """Follows nodes, pods, services and endpoints of one API server."""

    def __init__(self, machine: Machine, streams: Streams, label: str = LABEL, way: Path | None = None) -> None:
        """`label`: which nodes are its own; `way`: a socket to make, by which the API server's egress proxy reaches the pods."""
        self._streams = streams
        self._label, self._certificate = label, make_certificate(machine.store.folder)
        self._machine, self._stop, self._lock = machine, threading.Event(), threading.Lock()
        self._taken: dict[str, Taken] = {}
        self._pods: dict[str, Object] = {}
        self._relays = Relays(machine.network, way)
        self._listed = {kind: threading.Event() for kind in ("services", "slices", "pods", "nodes")}

    def start(self) -> None:
        """Begin; returns when all nodes that have the label are taken on. Raises TimeoutError."""
        self._relays.start()
        # Names first, then pods: a pod that runs already is not to be cleaned up as unknown.
        watches = {
            "services": ("/api/v1/services", self._on_services),
            "slices": ("/apis/discovery.k8s.io/v1/endpointslices", self._on_slices),
            "pods": ("/api/v1/pods", self._on_pods),
            "nodes": (f"/api/v1/nodes?labelSelector={quote(self._label)}", self._on_nodes),
        }
        for kind, (path, on_change) in watches.items():
            threading.Thread(target=self._machine.api.watch, args=(path, on_change, self._stop), daemon=True, name=kind).start()
            if not self._listed[kind].wait(READY_S):
                raise TimeoutError(f"the API server lists no {kind}")
        for taken in list(self._taken.values()):
            if not taken.heartbeat.ready.wait(READY_S):
                raise TimeoutError(f"node {taken.node.name} is not ready")

    def end(self) -> None:
        """Kill everything that runs and remove every file: the test is over."""
        self._stop.set()
        with self._lock:
            for taken in self._taken.values():
                taken.lose()
            self._taken.clear()
        self._streams.close()
        self._relays.close()
        self._clean(set())

    def _on_services(self, objects: dict[str, Object]) -> None:
        self._rename(services=tuple(objects.values()))
        self._listed["services"].set()

    def _on_slices(self, objects: dict[str, Object]) -> None:
        self._rename(slices=tuple(objects.values()))
        self._listed["slices"].set()

    def _on_pods(self, objects: dict[str, Object]) -> None:
        with self._lock:
            # Workers remove what is theirs; pods of a node that was lost have none any more.
            at_work = {key for taken in self._taken.values() for key in taken.workers}
            self._clean(set(objects) | at_work)
            self._pods = objects
            self._listed["pods"].set()
            for taken in self._taken.values():
                self._follow(taken)

    def _on_nodes(self, objects: dict[str, Object]) -> None:
        """Take on what is new and on; lose what is gone or off."""
        wanted = {each["metadata"]["name"]: each for each in objects.values() if is_on(each)}
        with self._lock:
            for name in [name for name in self._taken if name not in wanted]:
                self._taken.pop(name).lose()
            for name in [name for name in wanted if name not in self._taken]:
                self._taken[name] = Taken(wanted[name], self._machine, self._certificate, self._streams)
                self._follow(self._taken[name])
        self._listed["nodes"].set()

    def _follow(self, taken: Taken) -> None:
        taken.follow({key: pod for key, pod in self._pods.items() if pod["spec"].get("nodeName") == taken.node.name})

    def _rename(self, **changed: tuple[Object, ...]) -> None:
        with self._lock:
            self._machine.names.now = replace(self._machine.names.now, **changed)
            self._relays.update(backends(self._machine.names.now, self._machine.api.address))
            workers = [worker for taken in self._taken.values() for worker in taken.workers.values()]
        for worker in workers:
            worker.rename()

    def _clean(self, known: set[str]) -> None:
        """Remove what is left on disk, and what still runs, of every pod whose uid is not in `known`."""
        for key in set(self._machine.store.pod_uids()) - known:
            # Its worker may be removing the same files: what is left then goes the next time, and the watch that asks for this goes on.
            with suppress(FileNotFoundError):
                self._remove(key)

    def _remove(self, key: str) -> None:
        folder = self._machine.store.pod(key)
        for name in folder.containers():
            for number in folder.attempts(name):
                find(folder.attempt(name, number), number).lose()
        if sandbox := find_sandbox(folder):
            sandbox.holder.kill()
        folder.remove()
        self._machine.addresses.free(key)
