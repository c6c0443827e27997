"""Finds what a run made behind the API server: objects by their names, and Helm releases by their Secrets."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from facts.kubernetes_kinds import Resource
from trn.aws.api import Api
from trn.aws.control_plane import described
from trn.aws.sighting import Sighting
from trn.change.cluster import cluster_of
from trn.kubernetes.client import Kubernetes

PULUMI = "pulumi-kubernetes"
"""Begins the name under which Pulumi's Kubernetes provider owns fields (pulumi/pulumi-kubernetes provider/pkg/provider, server-side apply)."""
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

    def uninstall(self, namespace: str, secrets: Sequence[tuple[str, str, str]]) -> list[str]:
        """Forget a release that was not installed to its end; the names of the Secrets deleted.

        Each as it was looked at, by uid and resourceVersion: Helm writes into it while it goes on. Raises CommandError where one has changed.

        Its objects stay, and carry the release's annotations: the next installation takes them over (helm/helm
        pkg/action/validate.go, checkOwnership).
        """
        for secret, uid, version in secrets:
            self.kubernetes.delete(SECRETS, secret, namespace, uid=uid, version=version)
        return [secret for secret, _, _ in secrets]

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
            which, metadata = f"{namespace}/{name}" if entry["namespaced"] else name, found["metadata"]
            managers = [str(each.get("manager", "")) for each in metadata.get("managedFields") or ()]
            is_pulumis = any(manager.startswith(PULUMI) for manager in managers)
            doubt = "" if is_pulumis else f"{' and '.join(managers) or 'nobody that is known'} made it, and not Pulumi"
            yield Sighting(which, born=metadata.get("creationTimestamp", ""), doubt=doubt)

    def _release(self, namespace: str, name: str) -> Iterator[Sighting]:
        secrets = [entry["metadata"] for entry in self._secrets(namespace, name)]
        states = [metadata["labels"]["status"] for metadata in secrets]
        born = secrets[-1].get("creationTimestamp", "") if secrets else ""
        if "deployed" in states:
            yield Sighting(f"{namespace}/{name}", said="deployed", born=born)
        elif states:
            parts = tuple((each["name"], each.get("uid", ""), each.get("resourceVersion", "")) for each in secrets)
            yield Sighting(f"{namespace}/{name}", "half", states[-1], born, parts=parts)

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
