"""Fake nodes, as the program's own node groups give them: the simulated account's nodes, with what a kubelet adds to them.

    join(control_plane.api(), of_account(standing().state))      # the dev stack's nodes, ready when it returns
    leave(control_plane.api())                                   # no node is left

Names, labels, taints, provider ids, zones and devices are those that the account's own API server serves (from each group's
recorded inputs, its launch template and the hardware facts). A kubelet on EKS adds capacity, what it keeps back for itself and
the system, addresses, and the CSI drivers that run on it; those are made here. A group's device plug-ins count as running.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from facts.catalogue import instance_type
from local_kubernetes.api import Api, Object, wait
from simulator.account.state import AccountState
from simulator.kubernetes_endpoint.nodes import nodes

KWOK = {"kwok.x-k8s.io/node": "fake"}
"""Annotation of nodes whose leases and pods kwok plays."""
KERNEL, KUBELET, RUNTIME = "6.12.40-64.114.amzn2023.x86_64", "v1.35.4-eks-fake", "containerd://2.1.5"
EVICTION_MIB = 100
"""`memory.available` below which a kubelet evicts pods (awslabs/amazon-eks-ami nodeadm kubelet defaults)."""
DRIVERS = ("ebs.csi.aws.com", "fsx.csi.aws.com")
"""CSI drivers whose node pods run on every node of the program's. Without a CSINode that lists them a pod with their volumes waits."""
VOLUMES_PER_NODE = 25
"""Volumes of one driver that a node takes; the drivers say figures of their own (inferred)."""


def of_account(state: AccountState, *, annotations: Mapping[str, str] = KWOK) -> list[Object]:
    """Node objects of every group that has instances. With `annotations={}` they are left to another kubelet than kwok."""
    return [_whole(item, annotations) for item in nodes(state)]


def reserved_cpu_millis(vcpu_count: int) -> int:
    """CPU that a node keeps for kubelet and system: 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of the
    rest (awslabs/amazon-eks-ami nodeadm internal/kubelet, kube-reserved)."""
    shares = [60, 10, 5, 5]
    return int(sum(shares[:vcpu_count]) + 2.5 * max(0, vcpu_count - len(shares)))


def reserved_memory_mib(max_pods: int) -> int:
    """Memory kept back: 255 MiB and 11 for each pod that fits (same source)."""
    return 255 + 11 * max_pods


def _whole(item: Object, annotations: Mapping[str, str]) -> Object:
    labels, metadata = item["metadata"]["labels"], item["metadata"]
    hardware = instance_type(labels["node.kubernetes.io/instance-type"])
    zone_id = labels["topology.k8s.aws/zone-id"]
    region, zone = _region_and_zone(zone_id)
    offered: dict[str, str] = item["status"]["allocatable"]
    capacity = {**offered, "cpu": str(hardware.vcpu_count), "memory": f"{hardware.memory_gib * 1024}Mi", "ephemeral-storage": "100Gi"}
    allocatable = {
        **capacity,
        "cpu": f"{hardware.vcpu_count * 1000 - reserved_cpu_millis(hardware.vcpu_count)}m",
        "memory": f"{hardware.memory_gib * 1024 - reserved_memory_mib(hardware.max_pods) - EVICTION_MIB}Mi",
        "ephemeral-storage": "90Gi",
    }
    more = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": zone,
        "topology.ebs.csi.aws.com/zone": zone,
    }
    # EC2 names a node by its address.
    address = metadata["name"].partition(".")[0].removeprefix("ip-").replace("-", ".")
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": metadata["name"], "labels": {**labels, **more}, "annotations": dict(annotations)},
        "spec": item["spec"],
        "status": {
            "capacity": capacity,
            "allocatable": allocatable,
            "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": metadata["name"]}],
            "nodeInfo": _info(),
        },
    }


def _info() -> dict[str, str]:
    return {
        "architecture": "amd64",
        "bootID": "",
        "containerRuntimeVersion": RUNTIME,
        "kernelVersion": KERNEL,
        "kubeProxyVersion": "",
        "kubeletVersion": KUBELET,
        "machineID": "",
        "operatingSystem": "linux",
        "osImage": "Amazon Linux 2023",
        "systemUUID": "",
    }


def _region_and_zone(zone_id: str) -> tuple[str, str]:
    """`usw2-az4` is us-west-2 and, in an account of ours, us-west-2d: which letter a zone has differs per account."""
    prefix, _, number = zone_id.partition("-az")
    directions = {"e": "east", "w": "west", "n": "north", "s": "south", "c": "central"}
    area, direction, which = prefix[:-2], prefix[-2], prefix[-1]
    region = f"{area}-{directions[direction]}-{which}"
    return region, f"{region}{chr(ord('a') + int(number) - 1)}"


def csi_node(item: Object) -> Object:
    """What the drivers' node pods register."""
    instance = item["spec"]["providerID"].rpartition("/")[2]
    drivers: list[dict[str, Any]] = [
        {"name": name, "nodeID": instance, "topologyKeys": [f"topology.{name}/zone"], "allocatable": {"count": VOLUMES_PER_NODE}}
        for name in DRIVERS
    ]
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": item["metadata"]["name"]},
        "spec": {"drivers": drivers},
    }


def join(api: Api, items: Iterable[Object], *, until_ready: bool = True) -> list[str]:
    """Make nodes with their status and CSINode; gives their names, when all are ready and free of Kubernetes' own taints."""
    made = list(items)
    for item in made:
        # With its status, as a kubelet registers itself: what kwok finds empty it fills in.
        api.create(item).ok()
        api.create(csi_node(item)).ok()
    names = [item["metadata"]["name"] for item in made]
    if until_ready:
        wait(lambda: set(names) <= set(ready(api)), f"nodes {names} are ready")
    return names


def follow(api: Api, wanted: Sequence[Object]) -> None:
    """Let the cluster have these of kwok's nodes and no others: what is missing is made, what offers other devices is changed."""
    there = {item["metadata"]["name"]: item for item in api.items("/api/v1/nodes") if is_kwoks(item)}
    for item in wanted:
        found = there.pop(item["metadata"]["name"], None)
        if found is None:
            join(api, [item], until_ready=False)
        elif any(found["status"][key] != item["status"][key] for key in ("capacity", "allocatable")):
            # A merge keeps what is not named: a device whose plug-in is gone is there no more.
            gone = {key: dict.fromkeys(found["status"][key].keys() - item["status"][key].keys()) for key in ("capacity", "allocatable")}
            api.merge(item, {"status": {key: {**item["status"][key], **gone[key]} for key in gone}}, status=True).ok()
    if there:
        leave(api, *there)


def is_kwoks(item: Object) -> bool:
    """Whether kwok plays a node."""
    return KWOK.items() <= item["metadata"].get("annotations", {}).items()


def ready(api: Api) -> list[str]:
    """Names of nodes that take pods."""
    found = []
    for item in api.items("/api/v1/nodes"):
        conditions = {entry["type"]: entry["status"] for entry in item["status"].get("conditions", ())}
        own = [taint for taint in item["spec"].get("taints", ()) if taint["key"].startswith("node.kubernetes.io/")]
        if conditions.get("Ready") == "True" and not own:
            found.append(item["metadata"]["name"])
    return found


@contextmanager
def cordoned(api: Api) -> Iterator[None]:
    """Inside the block no new pod lands on kwok's nodes: for tests whose pods run as processes on nodes of the same labels."""
    own = [item for item in api.items("/api/v1/nodes") if is_kwoks(item)]
    for item in own:
        api.merge({**item, "apiVersion": "v1", "kind": "Node"}, {"spec": {"unschedulable": True}}).ok()
    try:
        yield
    finally:
        for item in own:
            api.merge({**item, "apiVersion": "v1", "kind": "Node"}, {"spec": {"unschedulable": None}})
        wait(lambda: {item["metadata"]["name"] for item in own} <= set(ready(api)), "the nodes take pods again")


def leave(api: Api, *names: str) -> None:
    """Delete nodes, all without names, with their CSINodes and at once with their pods, as EC2 ends instances."""
    for item in api.items("/api/v1/nodes"):
        if not names or item["metadata"]["name"] in names:
            api.delete({**item, "apiVersion": "v1", "kind": "Node"})
            api.delete({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": item["metadata"]["name"]}})
