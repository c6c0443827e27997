"""Finds what a run made behind the API server: objects by their names, and Helm releases by their Secrets."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from operations.aws.api import Api
from operations.aws.control_plane import described
from operations.aws.sighting import Sighting
from operations.kube.api import Kubernetes, Resource
from operations.kube.cluster import cluster_of

RELEASE = "kubernetes:helm.sh/v3:Release"
SECRETS = Resource("Secret", "/api/v1", "secrets")
RELEASE_TYPE = "helm.sh/release.v1"
"""Type of the Secrets in which Helm keeps its releases (helm/helm pkg/storage/driver/secrets.go)."""


@dataclass(frozen=True)
class Objects:
    """One cluster's objects."""

    kubernetes: Kubernetes

    def find(self, resource_type: str, inputs: Mapping[str, Any]) -> Iterator[Sighting]:
        """What these inputs may have made. Raises KeyError where they tell too little."""
        if resource_type == RELEASE:
            yield from self._release(inputs.get("namespace") or "default", inputs["name"])
        else:
            yield from self._object(inputs)

    def uninstall(self, namespace: str, name: str) -> list[str]:
        """Forget a release that was not installed to its end; the names of the Secrets deleted.

        Its objects stay, and carry the release's annotations: the next installation takes them over (helm/helm
        pkg/action/validate.go, checkOwnership).
        """
        names = [entry["metadata"]["name"] for entry in self._secrets(namespace, name)]
        for secret in names:
            self.kubernetes.delete(SECRETS, secret, namespace)
        return names

    def _object(self, inputs: Mapping[str, Any]) -> Iterator[Sighting]:
        metadata, version, kind = inputs["metadata"], inputs["apiVersion"], inputs["kind"]
        base = f"/apis/{version}" if "/" in version else f"/api/{version}"
        served = (self.kubernetes.read(base) or {}).get("resources", ())
        # Subresources are served under the kind of their owner: `deployments/status`.
        entry = next((item for item in served if item["kind"] == kind and "/" not in item["name"]), None)
        if entry is None:
            return
        name, namespace = metadata["name"], metadata.get("namespace") or "default"
        place = f"/namespaces/{namespace}" if entry["namespaced"] else ""
        found = self.kubernetes.read(f"{base}{place}/{entry['name']}/{name}")
        if found is not None and not found["metadata"].get("deletionTimestamp"):
            yield Sighting(f"{namespace}/{name}" if entry["namespaced"] else name)

    def _release(self, namespace: str, name: str) -> Iterator[Sighting]:
        states = [entry["metadata"]["labels"]["status"] for entry in self._secrets(namespace, name)]
        if "deployed" in states:
            yield Sighting(f"{namespace}/{name}", said="deployed")
        elif states:
            yield Sighting(f"{namespace}/{name}", "half", states[-1])

    def _secrets(self, namespace: str, name: str) -> list[dict[str, Any]]:
        """A release's Secrets, by its exact name and namespace, oldest first."""
        found = [
            entry
            for entry in self.kubernetes.list(SECRETS) or ()
            if entry.get("type") == RELEASE_TYPE
            and entry["metadata"]["namespace"] == namespace
            and entry["metadata"].get("labels", {}).get("name") == name
        ]
        return sorted(found, key=lambda entry: int(entry["metadata"]["labels"]["version"]))


def objects_of(api: Api, cluster: str) -> Objects | None:
    """The cluster's objects, None where there is no cluster. Raises Unreachable."""
    return None if described(api, cluster) is None else Objects(cluster_of(api, cluster))
