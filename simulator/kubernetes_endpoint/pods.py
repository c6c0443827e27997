"""Pods of the simulated cluster: those of jobs, placed as Volcano and Kubernetes place them, and those of DaemonSets.

No container runs: a pod has a node and a phase, and its log says so.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from facts.device_claims import counted
from facts.names import EFA_RESOURCE, NEURON_CORE_RESOURCE, NEURON_RESOURCE, NEURON_TAINT
from facts.resource_slices import offered
from simulator.account import kinds, view
from simulator.account.objects import CloudObject
from simulator.account.state import AccountState
from simulator.kubernetes_endpoint.nodes import HELD, Object, closings, nodes, slices
from simulator.recording import Registration

POD = "kubernetes:core/v1:Pod"
LOG = "simulated account: no container runs here"
_JOB_LABELS = {"batch.volcano.sh/Job": "volcano.sh/job-name", "batch/Job": "batch.kubernetes.io/job-name"}
Claims = Mapping[tuple[str, str], Mapping[str, int]]
"""Devices of a ResourceClaimTemplate, by namespace and name."""
_DEVICES = (NEURON_RESOURCE, NEURON_CORE_RESOURCE, EFA_RESOURCE)


def pods(state: AccountState) -> list[Object]:
    """Every pod that the cluster's controllers made."""
    published, closed, claims = list(slices(state)), closings(state), _claims(state)
    there = [_offering(node, published) for node in nodes(state)]
    held: Counter[tuple[str, str]] = Counter()
    found: list[Object] = []
    for job in sorted(jobs(state), key=lambda item: item.registration.id):
        open_nodes = [node for node in there if _takes(job, node, closed)]
        found += _placed(job, open_nodes, held, claims)
    found += [_alone(item, there, held, claims) for item in state.existing(POD)]
    for item in state.existing(kinds.DAEMON_SET):
        found += [_daemon(item, node) for node in there if _tolerated(item.registration.inputs["spec"]["template"]["spec"], node)]
    return found


def _takes(job: CloudObject, node: Object, closed: Mapping[str, Registration]) -> bool:
    """A node that was closed keeps the jobs that it had."""
    return not node["spec"].get("unschedulable") or uid_of(job) in closed[node["metadata"]["name"]].inputs[HELD]


def is_stopped(job: CloudObject) -> bool:
    """Whether a job was suspended: Kubernetes' own switch, or Volcano's state."""
    spec, status = job.registration.inputs.get("spec") or {}, job.registration.outputs.get("status") or {}
    return bool(spec.get("suspend")) or (status.get("state") or {}).get("phase") == "Aborted"


def jobs(state: AccountState) -> list[CloudObject]:
    """Jobs of Volcano and of Kubernetes itself."""
    return [item for item in state if kinds.is_kubernetes(item.registration.type) and _label(item)]


def _label(item: CloudObject) -> str:
    return _JOB_LABELS.get(kinds.object_kind(item.registration.type), "")


def _placed(job: CloudObject, there: list[Object], held: Counter[tuple[str, str]], claims: Claims) -> list[Object]:
    """Pods of a job with their nodes; a gang of Volcano's starts whole or not at all."""
    wanted, namespace = list(_wanted(job)), job.registration.inputs["metadata"].get("namespace", "default")
    chosen: list[Object | None] = []
    trial = Counter(held)
    for _, _, spec in wanted:
        asked = _asked(spec) | _claimed(spec, namespace, claims)
        node = next((node for node in there if _tolerated(spec, node) and _fits(spec, asked, node, trial)), None)
        chosen.append(node)
        if node is not None:
            for name, count in asked.items():
                trial[node["metadata"]["name"], name] += count
    is_gang = _label(job) == "volcano.sh/job-name"
    if is_gang and None in chosen:
        chosen = [None] * len(wanted)
    else:
        held.update(trial - held)
    return [_pod(job, name, labels, spec, node) for (name, labels, spec), node in zip(wanted, chosen, strict=True)]


def _wanted(job: CloudObject) -> Iterator[tuple[str, Mapping[str, str], Mapping[str, Any]]]:
    """Name, labels and spec of each pod that a job asks for."""
    if is_stopped(job):
        return
    inputs = job.registration.inputs
    name, spec = inputs["metadata"]["name"], inputs.get("spec") or {}
    for task in spec.get("tasks") or ():
        for number in range(int(task.get("replicas", 1))):
            yield f"{name}-{task['name']}-{number}", _labels(task["template"]), task["template"]["spec"]
    if "template" in spec:
        for number in range(int(spec.get("parallelism", 1))):
            yield f"{name}-{number}", _labels(spec["template"]), spec["template"]["spec"]


def _labels(template: Mapping[str, Any]) -> Mapping[str, str]:
    return (template.get("metadata") or {}).get("labels") or {}


def _asked(spec: Mapping[str, Any]) -> dict[str, int]:
    limits = [(part.get("resources") or {}).get("limits") or {} for part in spec.get("containers") or ()]
    return {name: sum(int(entry.get(name, 0)) for entry in limits) for name in _DEVICES if any(name in entry for entry in limits)}


def _claimed(spec: Mapping[str, Any], namespace: str, claims: Claims) -> Counter[str]:
    """What a pod claims by templates; of one that is not there, more than any node has: the pod waits for it."""
    found: Counter[str] = Counter()
    for entry in spec.get("resourceClaims") or ():
        found.update(claims.get((namespace, entry.get("resourceClaimTemplateName", "")), {"deviceclass/": 1}))
    return found


def _claims(state: AccountState) -> Claims:
    templates = (item.registration.inputs for item in view.objects_of_kind(state, "resource.k8s.io/ResourceClaimTemplate"))
    return {(item["metadata"].get("namespace", "default"), item["metadata"]["name"]): counted(item["spec"]["spec"]) for item in templates}


def _offering(node: Object, published: list[Object]) -> Object:
    """A node with what drivers publish of it, for the scheduler's eyes alone."""
    more = {name: str(count) for name, count in offered(published, node["metadata"]["name"]).items()}
    return {**node, "status": {**node["status"], "allocatable": {**node["status"]["allocatable"], **more}}}


def _fits(spec: Mapping[str, Any], asked: Mapping[str, int], node: Object, held: Counter[tuple[str, str]]) -> bool:
    offered, name = node["status"]["allocatable"], node["metadata"]["name"]
    selector = spec.get("nodeSelector") or {}
    return selector.items() <= node["metadata"]["labels"].items() and all(
        held[name, device] + count <= int(offered.get(device, 0)) for device, count in asked.items()
    )


def _tolerated(spec: Mapping[str, Any], node: Object) -> bool:
    """Whether a pod may stand on a node. EKS adds the toleration to what asks for Neuron devices."""
    if any(name.startswith("aws.amazon.com/neuron") for name in _asked(spec)):
        return True
    tolerated = {(item.get("key"), item.get("operator")) for item in spec.get("tolerations") or ()}
    keys = {key for key, _ in tolerated}
    return (None, "Exists") in tolerated or all(taint["key"] in keys for taint in node["spec"]["taints"] if taint["key"] == NEURON_TAINT)


def _pod(job: CloudObject, name: str, own: Mapping[str, str], spec: Mapping[str, Any], node: Object | None) -> Object:
    metadata = job.registration.inputs["metadata"]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": metadata["name"], "uid": uid_of(job), "controller": True}
    labels = {**own, _label(job): metadata["name"]}
    return _standing(name, metadata.get("namespace", "default"), labels, spec, node, [owner])


def _alone(item: CloudObject, there: list[Object], held: Counter[tuple[str, str]], claims: Claims) -> Object:
    """A pod that a user or a controller made. One with a node's name goes past the scheduler."""
    inputs = item.registration.inputs
    metadata, spec = inputs["metadata"], inputs["spec"]
    bound = spec.get("nodeName")
    asked = _asked(spec) | _claimed(spec, metadata["namespace"], claims)
    fitting = (
        node
        for node in there
        if (node["metadata"]["name"] == bound if bound else _tolerated(spec, node) and _fits(spec, asked, node, held))
    )
    owners = metadata.get("ownerReferences") or []
    pod = _standing(metadata["name"], metadata["namespace"], metadata.get("labels") or {}, spec, next(fitting, None), owners)
    status = {**pod["status"], **(inputs.get("status") or {})}
    return {**pod, "metadata": {**metadata, **pod["metadata"], "uid": uid_of(item)}, "status": status}


def _daemon(item: CloudObject, node: Object) -> Object:
    inputs = item.registration.inputs
    template, name = inputs["spec"]["template"], inputs["metadata"]["name"]
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": name, "uid": uid_of(item), "controller": True}
    pod = f"{name}-{node['metadata']['uid'][-5:]}"
    return _standing(pod, inputs["metadata"].get("namespace", "default"), _labels(template), template["spec"], node, [owner])


def _standing(
    name: str, namespace: str, labels: Mapping[str, str], spec: Mapping[str, Any], node: Object | None, owners: list[Object]
) -> Object:
    containers = [dict(part) for part in spec.get("containers") or ()]
    word: Object = {"running": {}} if node is not None else {"waiting": {"reason": "Unschedulable"}}
    placed = {"nodeName": node["metadata"]["name"]} if node is not None else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"pod-{namespace}-{name}",
            "labels": dict(labels),
            "ownerReferences": owners,
        },
        "spec": {**spec, "containers": containers, **placed},
        "status": {
            "phase": "Running" if node is not None else "Pending",
            "containerStatuses": [{"name": part["name"], "state": word} for part in containers],
        },
    }


def uid_of(item: CloudObject) -> str:
    """The object's own id in Kubernetes: of the answer to its creation, or made from its place."""
    metadata = item.registration.outputs.get("metadata") or {}
    return str(metadata.get("uid") or f"uid-{item.registration.type}-{item.registration.id}")


def metrics(state: AccountState, node_name: str) -> str:
    """What neuron-monitor's exporter says of a node: every core of a pod that holds devices is in use."""
    lines = ['system_memory_used_bytes{instance="simulated"} 0']
    for pod in pods(state):
        asked = _asked(pod["spec"])
        if pod["spec"].get("nodeName") == node_name and asked.get(NEURON_RESOURCE):
            node = next(node for node in nodes(state) if node["metadata"]["name"] == node_name)
            cores_per_chip = int(node["status"]["allocatable"][NEURON_CORE_RESOURCE]) // int(node["status"]["allocatable"][NEURON_RESOURCE])
            cores = range(asked[NEURON_RESOURCE] * cores_per_chip)
            lines += [f'neuroncore_utilization_ratio{{neuroncore="{core}"}} 0' for core in cores]
            lines.append('neuron_runtime_memory_used_bytes{memory_location="neuron_device"} 0')
    return "\n".join(lines) + "\n"
