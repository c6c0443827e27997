"""Where the commands around jobs are run from end to end: a practised account, a real API server, and nodes whose pods are processes.

Of the dev stack there is only what such a job needs: its namespace, its file system's claim, its Neuron nodes, and one other node.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from local_kubernetes.api import Api, Object, wait
from local_kubernetes.control_plane import ControlPlane
from local_kubernetes.nodes import cordoned
from tests.kubernetes.kubelet.handle import RunningKubelet, process_node
from tests.kubernetes.kubelet.session import bound_claim, kubelet_of, trainium_nodes
from tests.simulator.account.standing import standing

NAMESPACE = "training"


@dataclass(frozen=True)
class JobCluster:
    """It, and the folder behind the claim."""

    api: Api
    kubelet: RunningKubelet

    @property
    def shared(self) -> Path:
        """What pods see at /fsx."""
        return self.kubelet.folder / "claims" / NAMESPACE / "fsx-claim"

    def pods(self, label: str) -> list[Object]:
        """Pods of the namespace that have a label, by name."""
        items = self.api.items(f"/api/v1/namespaces/{NAMESPACE}/pods", labelSelector=label)
        return sorted(({"apiVersion": "v1", "kind": "Pod", **item} for item in items), key=lambda item: item["metadata"]["name"])

    def log(self, pod: Object) -> str:
        """What a pod of one container has said so far."""
        answer = self.api.call("GET", f"{self.api.path(pod)}/{pod['metadata']['name']}/log")
        return str(answer.body.get("text") or answer.body.get("value", "")) if answer.status == 200 else ""


@contextmanager
def job_cluster(control_plane: ControlPlane, **images: Object) -> Iterator[JobCluster]:
    """It, until the end of the block. `images`: besides the usual ones, as images.read_images takes them."""
    api = control_plane.api()
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    wait(lambda: api.create(namespace).status < 300, "no namespace of this name goes away any more")
    account = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default"
    wait(lambda: api.call("GET", account).status == 200, f"{NAMESPACE} has its ServiceAccount")
    table = control_plane.folder / "job-images.json"
    # That of the program's own small pods.
    small = {"path": [str(Path(sys.executable).parent)], "environment": {"PYTHONUNBUFFERED": "1"}}
    table.write_text(json.dumps({"docker/library/python": small, **images}))
    nodes = [*trainium_nodes(standing().state), process_node(1)]
    claim = bound_claim(api, NAMESPACE, "fsx-claim")
    with cordoned(api), kubelet_of(control_plane, nodes, "--images", str(table)) as kubelet:
        yield JobCluster(api, kubelet)
    for item in (*reversed(claim), namespace):
        api.delete(item, foreground=False)
    wait(lambda: not api.exists(namespace), "the namespace is gone")
