"""The guard's view of the cluster through the Kubernetes API: its kinds, nodes and pods."""

import http.client
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from .decision import Node, Pod

GROUP_LABEL = "trn/node-group"
NEURON = "aws.amazon.com/neuron"
"""What all resources of the device plug-in begin with: devices, cores and logical cores."""
PAGE = 500
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
        """All objects of a kind that the cluster has, page by page. Raises ApiError."""
        more = ""
        while True:
            answer = self.call(f"{path}?limit={PAGE}{'&continue=' + more if more else ''}")
            if not isinstance(answer, dict) or "items" not in answer:
                raise ApiError(f"GET {path}: the answer is no list")
            yield from answer["items"] or ()
            more = (answer.get("metadata") or {}).get("continue") or ""
            if not more:
                return

    def paths(self, kinds: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Where to list kinds, each an API group and a plural; those that the cluster does not have are left out. Raises ApiError.

        In the version that the API server prefers: one that is named here would be missing in older and in later releases, and a kind
        that is taken for missing hides the jobs that wait (Kubernetes API concepts, discovery).
        """
        found = dict[tuple[str, str], str]()
        try:
            groups = {group["name"]: [group["preferredVersion"], *group["versions"]] for group in self.call("/apis")["groups"]}
            for group, plural in kinds:
                for version in dict.fromkeys(entry["groupVersion"] for entry in groups.get(group, ())):
                    if any(item["name"] == plural for item in self.call(f"/apis/{version}")["resources"]):
                        found[group, plural] = f"/apis/{version}/{plural}"
                        break
        except (KeyError, TypeError) as error:
            raise ApiError(f"GET /apis: the answer is no list of kinds: {error}") from error
        return found


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
        wants = asks_for_neuron(spec)
        if not wants and node is None:
            continue
        if wants and node is None and spec.get("nodeName"):
            # On a node that is in no group, such as one of Karpenter's.
            continue
        owners = {owner.get("kind") for owner in metadata.get("ownerReferences") or ()}
        ended = _ended(item) if status.get("phase") in ("Succeeded", "Failed") else None
        name = f"{metadata.get('namespace')}/{metadata['name']}"
        yield Pod(name, node.group if node else "", wants, bool(owners & {"DaemonSet", "Node"}), ended)


def asks_for_neuron(spec: Object) -> bool:
    """Whether the spec of a pod asks for Neuron."""
    return bool(spec.get("resourceClaims")) or any(_asks(one) for key in ("containers", "initContainers") for one in spec.get(key) or ())


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
