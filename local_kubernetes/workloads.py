"""What a chart, or an EKS add-on, runs, as far as its contract says: Deployments, DaemonSets and StatefulSets placed by the release's own values.

For charts that are not at hand. Images and arguments are none: no container runs on fake nodes.
"""

from collections.abc import Mapping
from typing import Any

from addons.contract import parts_of
from facts.catalogue import CORE_TYPES, NEURON_TYPES
from facts.charts import Contract
from local_kubernetes.api import Object

IMAGE = "example.invalid/not-pulled:1"
ALL = [{"operator": "Exists"}]
"""What runs on every node tolerates everything, where its chart leaves it no choice."""
RUNNING = ("DaemonSet", "Deployment", "StatefulSet")
"""What runs for as long as the release is there; Jobs of hooks are over when it is."""
_NEURON_TERM = {"matchExpressions": [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": sorted(NEURON_TYPES)}]}
NEURON_AFFINITY = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_NEURON_TERM]}}}
"""What the charts of device plug-ins have of their own: a list of instance types."""
_STACKS_TERM = {
    "matchExpressions": [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": sorted((*CORE_TYPES, *NEURON_TYPES))}]
}
STACKS_AFFINITY = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_STACKS_TERM]}}}
"""What tolerates everything would run on the node of a cluster that a tool made, too: a container, in which its image would be pulled."""


def workloads(contract: Contract, namespace: str, values: Mapping[str, Any]) -> list[Object]:
    """What it runs. `namespace`: of the release, for what names none. `values`: those that the release is given."""
    return [
        _workload(contract, pod, namespace, values)
        for pod in contract.pods
        if str(pod["object"]).partition("/")[0] in RUNNING and ("when" not in pod or value_of(contract, values, str(pod["when"])))
    ]


def value_of(contract: Contract, values: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path: the release's, else the chart's default; None where neither has one."""
    found: Any = values
    for part in parts_of(path):
        if not isinstance(found, Mapping) or part not in found:
            default = contract.values.get(path, contract.open.get(path))
            # A value that is too long to be written down has words in its place.
            return default if isinstance(default, bool | dict | list) else None
        found = found[part]
    return found


def _workload(contract: Contract, pod: Mapping[str, Any], namespace: str, values: Mapping[str, Any]) -> Object:
    kind, *given, name = str(pod["object"]).split("/")
    labels = {"app.kubernetes.io/name": name, "app.kubernetes.io/instance": contract.chart}

    def value(key: str, otherwise: Any) -> Any:
        return (value_of(contract, values, str(pod[key])) if key in pod else None) or otherwise

    container = {"name": "main", "image": IMAGE, "resources": value("requests", {})}
    spec: Object = {
        "nodeSelector": value("selector", {}),
        "tolerations": value("tolerations", pod.get("tolerates") or (ALL if pod["nodes"] == "all" else [])),
        "containers": [container],
    }
    if pod["nodes"] == "neuron":
        spec["affinity"] = NEURON_AFFINITY
    elif kind == "DaemonSet":
        spec["affinity"] = STACKS_AFFINITY
    made: Object = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}
    if kind == "StatefulSet":
        made["serviceName"] = name
    where = given[0] if given else namespace
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": where}, "spec": made}
