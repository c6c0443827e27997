"""Contract charts: for a chart that is not at hand, a small one of ours with what its contract says it brings.

The same workloads under the same names, placed by the same values (tolerations, node selectors, requests), its hook Jobs, its
CRDs, and a fail-closed webhook on the kinds that it guards. Images and arguments are none: kwok says that the pods run.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from addons.contract import parts_of
from facts.charts import Contract
from local_kubernetes.workloads import NEURON_AFFINITY
from tests.kubernetes import crds
from tests.kubernetes.pods import IMAGE

WEBHOOK_PORT = 9443
MAKING_PODS = ("DaemonSet", "Deployment", "Job", "StatefulSet")
HOOK = {"helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded"}


def write(contract: Contract, folder: Path, authority: str = "") -> Path:
    """A chart's folder. `authority`: base64 of the certificate that its webhook is signed with."""
    root = folder / contract.chart
    (root / "templates").mkdir(parents=True)
    described = {"apiVersion": "v2", "name": contract.chart, "version": contract.version or "0.0.0"}
    (root / "Chart.yaml").write_text(yaml.safe_dump(described))
    (root / "values.yaml").write_text(json.dumps(defaults(contract)))
    for number, pod in enumerate(made_by_kubernetes(contract)):
        (root / f"templates/pods-{number}.yaml").write_text(workload(contract, pod))
    if contract.guards and authority:
        (root / "templates/webhook.yaml").write_text(json.dumps(webhook(contract, authority)) + "\n---\n" + json.dumps(service(contract)))
    for crd in contract.crds:
        place = root / ("crds" if crd["stays"] else "templates")
        place.mkdir(exist_ok=True)
        (place / f"{crd['name']}.yaml").write_text(json.dumps(crds.made(str(crd["name"]), str(crd["kind"]))))
    return root


def defaults(contract: Contract) -> dict[str, Any]:
    """The chart's own values, as a tree."""
    tree: dict[str, Any] = {}
    described = {pod.get(key) for pod in contract.pods for key in ("tolerations", "selector", "requests")}
    for path, value in (*contract.values.items(), *contract.open.items()):
        *before, last = parts_of(path)
        if "*" in (*before, last):
            continue
        if path in described and isinstance(value, str):
            # Too long to be written down: words stand for it.
            value = None
        node = tree
        for key in before:
            inside = node.get(key)
            node[key] = node = inside if isinstance(inside, dict) else {}
        if not isinstance(node.get(last), dict):
            node[last] = value
    return tree


def made_by_kubernetes(contract: Contract) -> list[Mapping[str, Any]]:
    """What makes pods and is a kind of Kubernetes: an operator's own kinds make none without it."""
    return [pod for pod in contract.pods if str(pod["object"]).partition("/")[0] in MAKING_PODS]


def workload(contract: Contract, pod: Mapping[str, Any]) -> str:
    """A template of what makes pods: its values are asked for by the contract's paths."""
    kind, namespace, name = _object(pod)
    labels = {"app.kubernetes.io/name": name, "app.kubernetes.io/instance": contract.chart}
    container = {"name": "main", "image": IMAGE, "resources": _given(pod.get("requests"))}
    spec: dict[str, Any] = {
        "restartPolicy": "Never" if kind == "Job" else "Always",
        "nodeSelector": _given(pod.get("selector")),
        "tolerations": _given(pod.get("tolerations"), pod.get("tolerates")),
        "containers": [container],
    }
    if pod["nodes"] == "neuron":
        spec["affinity"] = NEURON_AFFINITY
    template = {"metadata": {"labels": labels}, "spec": spec}
    item: dict[str, Any] = {
        "apiVersion": "batch/v1" if kind == "Job" else "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"template": template},
    }
    if kind == "Job":
        item["metadata"]["annotations"] = {"helm.sh/hook": "pre-install,pre-upgrade" if contract.install_jobs else "pre-delete", **HOOK}
    else:
        item["spec"]["selector"] = {"matchLabels": labels}
    if kind == "StatefulSet":
        item["spec"]["serviceName"] = name
    # An action takes the place of its text, quotes included.
    text = re.sub(r'"@@(.*?)@@"', lambda found: json.loads(f'"{found[1]}"'), json.dumps(item))
    return f"{{{{- if {_value(pod['when'])} }}}}\n{text}\n{{{{- end }}}}\n" if "when" in pod else text


def _object(pod: Mapping[str, Any]) -> tuple[str, str, str]:
    """Kind, namespace and name of what makes pods; without a namespace it is the release's."""
    kind, *namespace, name = str(pod["object"]).split("/")
    return kind, namespace[0] if namespace else "{{ .Release.Namespace }}", name


def _given(path: Any, otherwise: Any = None) -> str:
    """An action for a value of the chart's as JSON; where it is empty, what the chart itself has there."""
    usual = json.dumps({"v": otherwise})
    value = _value(path) if path else "nil"
    return f"@@{{{{ (default (fromJson `{usual}`).v {value}) | toJson }}}}@@"


def _value(path: Any) -> str:
    """A value by its path; nil where a part of the path is not there."""
    keys = " ".join(json.dumps(key) for key in parts_of(str(path)))
    return f"(dig {keys} nil .Values.AsMap)"


def webhook(contract: Contract, authority: str) -> dict[str, Any]:
    """Its fail-closed webhook on the kinds that it guards."""
    rules = [
        {"apiGroups": [group], "apiVersions": ["*"], "operations": list(operations), "resources": [_plural(kind)]}
        for qualified, operations in contract.guards.items()
        for group, kind in [_group_and_kind(qualified)]
    ]
    client = {"service": {"name": contract.chart, "namespace": _namespace(contract), "path": "/allow"}, "caBundle": authority}
    hook = {
        "name": f"guard.{contract.chart}.example",
        "clientConfig": client,
        "rules": rules,
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        # As every such chart has it: its own pods must start before it answers.
        "namespaceSelector": {
            "matchExpressions": [
                {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", _namespace(contract)]}
            ]
        },
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": contract.chart},
        "webhooks": [hook],
    }


def service(contract: Contract) -> dict[str, Any]:
    """The Service of its webhook: any of the chart's pods."""
    spec = {"selector": {"app.kubernetes.io/instance": contract.chart}, "ports": [{"port": 443, "targetPort": WEBHOOK_PORT}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": contract.chart, "namespace": _namespace(contract)}, "spec": spec}


def _namespace(contract: Contract) -> str:
    return _object(contract.pods[0])[1]


def _group_and_kind(qualified: str) -> tuple[str, str]:
    group, _, kind = qualified.partition("/")
    return ("" if group == "v1" else group), kind


def _plural(kind: str) -> str:
    lower = kind.lower()
    return lower + "es" if lower.endswith(("s", "ch")) else lower + "s"
