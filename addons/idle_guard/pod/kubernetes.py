"""The guard's view of the cluster through the Kubernetes API: nodes, pods, gangs that wait, and its own memory."""

import http.client
import json
import math
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from .decision import Memory, Node, Pod

GROUP_LABEL = "trn/node-group"
NEURON = "aws.amazon.com/neuron"
"""What all resources of the device plug-in begin with: devices, cores and logical cores."""
PAGE = 500
POD_GROUPS = "/apis/scheduling.volcano.sh/v1beta1/podgroups"
WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/workloads"
Object = Mapping[str, Any]


class ApiError(Exception):
    """The API server refused, or did not answer."""

    def __init__(self, what: str, code: int = 0) -> None:
        super().__init__(what)
        self.code = code


class Kubernetes:
    """The API server, as a service account sees it."""

    def __init__(self, url: str, account: Path, open_url: Callable[..., Any] = urllib.request.urlopen) -> None:
        """`account`: folder with `token`, and with `ca.crt` where the address is one of https."""
        self._url, self._account, self._open = url, account, open_url

    def call(self, path: str, method: str = "GET", body: Object | None = None) -> dict[str, Any]:
        """One answer. Raises ApiError."""
        # Kubelet renews the token while the pod runs.
        headers = {"Authorization": f"Bearer {(self._account / 'token').read_text().strip()}", "Accept": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self._url + path, data, headers | ({"Content-Type": "application/json"} if data else {}), method=method
        )
        context = ssl.create_default_context(cafile=str(self._account / "ca.crt")) if self._url.startswith("https:") else None
        try:
            with self._open(request, timeout=30, context=context) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            raise ApiError(f"{method} {path}: {error.code} {error.read()[:200]!r}", error.code) from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise ApiError(f"{method} {path}: {error}") from error

    def listed(self, path: str) -> Iterator[Object]:
        """All objects of a kind, page by page; none where the cluster has no such kind, which it has of Kubernetes' own. Raises ApiError."""
        more = ""
        while True:
            try:
                answer = self.call(f"{path}?limit={PAGE}{'&continue=' + more if more else ''}")
            except ApiError as error:
                if error.code == 404 and not more and not path.startswith("/api/v1/"):
                    return
                raise
            if not isinstance(answer, dict) or "items" not in answer:
                raise ApiError(f"GET {path}: the answer is no list")
            yield from answer["items"] or ()
            more = (answer.get("metadata") or {}).get("continue") or ""
            if not more:
                return


def nodes_of(items: Iterator[Object]) -> dict[str, Node]:
    """Nodes of groups, by name."""
    found: dict[str, Node] = {}
    for item in items:
        group = (item["metadata"].get("labels") or {}).get(GROUP_LABEL)
        if group:
            conditions = (item.get("status") or {}).get("conditions") or ()
            ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
            cordoned = bool((item.get("spec") or {}).get("unschedulable"))
            found[item["metadata"]["name"]] = Node(group, _seconds(item["metadata"]["creationTimestamp"]), ready, cordoned)
    return found


def pods_of(items: Iterator[Object], nodes: Mapping[str, Node]) -> Iterator[Pod]:
    """Pods that ask for Neuron, and those that stand on a node of a group."""
    for item in items:
        spec, metadata, status = item.get("spec") or {}, item["metadata"], item.get("status") or {}
        node = nodes.get(spec.get("nodeName") or "")
        # Devices by DRA are named in claims, whose classes are not looked at: any claim counts.
        wants = bool(spec.get("resourceClaims")) or any(
            _asks(one) for key in ("containers", "initContainers") for one in spec.get(key) or ()
        )
        if not wants and node is None:
            continue
        if wants and node is None and spec.get("nodeName"):
            # On a node that is in no group, such as one of Karpenter's.
            continue
        owners = {owner.get("kind") for owner in metadata.get("ownerReferences") or ()}
        ended = _ended(item) if status.get("phase") in ("Succeeded", "Failed") else None
        name = f"{metadata.get('namespace')}/{metadata['name']}"
        yield Pod(name, node.group if node else "", wants, bool(owners & {"DaemonSet", "Node"}), ended)


def waiting(pod_groups: Iterator[Object], workloads: Iterator[Object]) -> Iterator[str]:
    """Gangs of Volcano, and workloads of Kueue, that are not placed: their pods may not be made yet."""
    for item in pod_groups:
        if (item.get("status") or {}).get("phase", "Pending") not in ("Running", "Completed"):
            yield f"PodGroup {item['metadata'].get('namespace')}/{item['metadata']['name']}"
    for item in workloads:
        conditions = {one["type"]: one["status"] for one in (item.get("status") or {}).get("conditions") or ()}
        if "True" not in (conditions.get("Finished"), conditions.get("Admitted")) and (item.get("spec") or {}).get("active", True):
            yield f"Workload {item['metadata'].get('namespace')}/{item['metadata']['name']}"


class Notebook:
    """The guard's memory: a ConfigMap that only one guard can write at a time."""

    def __init__(self, api: Kubernetes, namespace: str, name: str) -> None:
        self._api, self._name = api, name
        self._path = f"/api/v1/namespaces/{namespace}/configmaps"
        self._found: dict[str, Any] | None = None

    def read(self) -> dict[str, Memory]:
        """What was kept; nothing where there is none, or what is there cannot be read. Raises ApiError."""
        try:
            self._found = self._api.call(f"{self._path}/{self._name}")
        except ApiError as error:
            if error.code != 404:
                raise
            self._found = None
            return {}
        try:
            kept = json.loads((self._found.get("data") or {}).get("groups", "{}"))
            return {name: _memory(entry) for name, entry in kept.items()}
        except (ValueError, TypeError, AttributeError):
            return {}

    def write(self, memory: Mapping[str, Memory]) -> None:
        """Keep it. Raises ApiError with 409 where another guard has written since `read`."""
        data = {"groups": json.dumps({name: asdict(entry) for name, entry in sorted(memory.items())})}
        if self._found is None:
            made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": self._name}, "data": data}
            self._found = self._api.call(self._path, "POST", made)
        else:
            # With its resourceVersion: the API server refuses a second writer.
            self._found = self._api.call(f"{self._path}/{self._name}", "PUT", {**self._found, "data": data})


def _memory(entry: Mapping[str, Any]) -> Memory:
    """One group's, with numbers that can be reckoned with. Raises ValueError and TypeError for what no guard has written."""
    found = Memory(**entry)
    for number in (found.used, *(each for each in (found.told, found.desired, found.looked) if each is not None)):
        # JSON of Python has NaN, before which nothing is recent.
        if not math.isfinite(number):
            raise ValueError(number)
    return found


def _asks(container: Object) -> bool:
    resources = container.get("resources") or {}
    return any(name.startswith(NEURON) for part in ("limits", "requests") for name in resources.get(part) or {})


def _ended(pod: Object) -> float:
    """When its last container ended; when it was made, where nothing says so."""
    status = pod.get("status") or {}
    ends = [
        _seconds(end["finishedAt"])
        for one in status.get("containerStatuses") or ()
        if (end := (one.get("state") or {}).get("terminated")) and end.get("finishedAt")
    ]
    return max(ends, default=_seconds(pod["metadata"]["creationTimestamp"]))


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
