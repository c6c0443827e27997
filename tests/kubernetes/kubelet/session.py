"""Nodes of a control plane whose pods run as processes, for as long as a test or a module needs them.

    with kubelet_of(control_plane, trainium_nodes(state), *kubelet_options(tools, control_plane.folder)) as kubelet:
        kubelet.process_of(pod, "main").kill()      # a killed worker
        lose(api, node)                             # a lost node: no process, no heartbeat, no log
        bring_back(api, node)

A test that needs it calls `permission.why_not()` first, and skips with what that says.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from facts.names import NEURON_RESOURCE
from local_kubernetes.api import MERGE, Api, Object, wait
from local_kubernetes.control_plane import ControlPlane
from local_kubernetes.nodes import csi_node, of_account, ready
from simulator.account.state import AccountState
from tests.kubernetes.kubelet.handle import RunningKubelet, power, selector

BACK_OFF_S = "0.5"
"""Instead of the kubelet's 10 s: a test waits for it."""


def kubelet_options(tools: Mapping[str, Path], folder: Path, **images: Object) -> list[str]:
    """For `kubelet_of`: exec, a short back-off, and images besides the usual ones (images.read_images), among them the one that
    brings kubectl into an MPIJob's launcher. `tools`: programs of kubelet-streams and kubernetes."""
    copied = 'cp -L "$(command -v kubectl)" "$TARGET_DIR/kubectl"'
    delivery = {"path": [str(tools["kubectl"].parent)], "entrypoint": ["sh", "-c"], "command": [copied]}
    path = folder / "images.json"
    path.write_text(json.dumps({"kubeflow/kubectl-delivery": delivery, **images}))
    return ["--back-off-s", BACK_OFF_S, "--streams", str(tools["kubelet-streams"]), "--images", str(path)]


@contextmanager
def kubelet_of(control_plane: ControlPlane, items: Sequence[Object], *options: str, as_user: bool = False) -> Iterator[RunningKubelet]:
    """Nodes whose pods run as processes, ready; nodes, kubelet and pods are gone at the end. `options` are the kubelet's."""
    api = control_plane.api()
    running = None
    try:
        joined(api, items)
        running = RunningKubelet(control_plane.kubeconfig, control_plane.folder / "kubelet", *options, as_user=as_user)
        wait(lambda: {item["metadata"]["name"] for item in items} <= set(ready(api)), "the nodes are ready")
        yield running
    finally:
        names = {item["metadata"]["name"] for item in items}
        for pod in api.items("/api/v1/pods"):
            if pod["spec"].get("nodeName") in names:
                api.delete({"apiVersion": "v1", "kind": "Pod", **pod}, grace_s=0)
        for item in items:
            if "providerID" in item.get("spec", {}):
                api.delete(csi_node(item))
            api.delete(item)
        if running:
            running.close()


def bound_claim(api: Api, namespace: str, name: str) -> list[Object]:
    """A claim of the file system that is bound, as the scheduler wants it: the volume and the claim, to be deleted in the end."""
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{namespace}-{name}"},
        "spec": {
            "capacity": {"storage": "1200Gi"},
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "",
            "persistentVolumeReclaimPolicy": "Retain",
            "csi": {"driver": "fsx.csi.aws.com", "volumeHandle": "fs-0123456789abcdef0"},
            "claimRef": {"namespace": namespace, "name": name},
        },
    }
    wanted = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "",
            "volumeName": f"{namespace}-{name}",
            "resources": {"requests": {"storage": "1200Gi"}},
        },
    }
    api.create(volume).ok()
    # The controller looks again only every 15 s at a claim that came before its volume.
    wait(lambda: api.get(volume).ok().get("status", {}).get("phase") == "Available", f"the volume of {name} is known")
    api.create(wanted).ok()
    wait(lambda: api.get(wanted).ok().get("status", {}).get("phase") == "Bound", f"{name} is bound")
    return [volume, wanted]


def lose(api: Api, node: str) -> None:
    """End a node's machine, and say of it at once what the node controller would say after 50 s without a heartbeat.

    The controller then taints it and evicts its pods, which have 300 s for that unless they tolerate less.
    """
    api.call("PATCH", f"/api/v1/nodes/{node}", power(on=False), MERGE).ok()
    unknown = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "Kubelet stopped posting node status."}
    api.call("PATCH", f"/api/v1/nodes/{node}/status", {"status": {"conditions": [unknown]}}, "application/strategic-merge-patch+json").ok()


def bring_back(api: Api, node: str) -> None:
    """Start its machine again: pods that are still its own are started again as their policy says."""
    api.call("PATCH", f"/api/v1/nodes/{node}", power(on=True), MERGE).ok()


def end_instance(api: Api, node: str) -> None:
    """Take a lost node away for good, as EKS does when its instance has ended, and its pods with it.

    They are Kubernetes' pod garbage collector's, which looks every 20 s and waits 40 s more. What it does then is done here at once
    (kubernetes/kubernetes:pkg/controller/podgc/gc_controller.go, gcOrphaned, markFailedAndDeletePod).
    """
    of_node = {"metadata": {"name": node}}
    api.delete({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", **of_node})
    api.delete({"apiVersion": "v1", "kind": "Node", **of_node}).ok()
    said = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC", "message": "PodGC: node no longer exists"}
    failed = {"status": {"phase": "Failed", "conditions": [said]}}
    for pod in api.items("/api/v1/pods", fieldSelector=f"spec.nodeName={node}"):
        item = {"apiVersion": "v1", "kind": "Pod", **pod}
        path = f"{api.path(item)}/{pod['metadata']['name']}/status"
        if pod["status"]["phase"] not in ("Succeeded", "Failed"):
            api.call("PATCH", path, failed, "application/strategic-merge-patch+json")
        api.delete(item, grace_s=0)


def joined(api: Api, items: Sequence[Object]) -> None:
    """Make nodes with their status; what has an instance has its CSI drivers too."""
    for item in items:
        # In one request: a kubelet that runs already takes a node on as it sees it first, address and devices included.
        api.create(item).ok()
        if "providerID" in item.get("spec", {}):
            api.create(csi_node(item)).ok()


def trainium_nodes(state: AccountState) -> list[Object]:
    """The account's Neuron nodes as this kubelet's, under names of their own: kwok may have those of the same account."""
    found = [item for item in of_account(state, annotations={}) if NEURON_RESOURCE in item["status"]["allocatable"]]
    for item in found:
        name = f"process-{item['metadata']['name']}"
        item["metadata"]["name"] = name
        item["metadata"]["labels"] |= {**selector(), "kubernetes.io/hostname": name}
    return found
