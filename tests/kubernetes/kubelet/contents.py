"""What a pod refers to, read from the API server: ConfigMaps, Secrets, tokens, services."""

from base64 import b64decode
from collections.abc import Mapping

from tests.kubernetes.kubelet.api import Api
from tests.kubernetes.kubelet.pods import Object, uid


class Contents:
    """For one pod."""

    def __init__(self, api: Api, pod: Object) -> None:
        self._api, self._pod, self._home = api, pod, f"/api/v1/namespaces/{pod['metadata']['namespace']}"

    def bytes_of(self, kind: str, name: str) -> dict[str, bytes] | None:
        """Keys of a ConfigMap or Secret (`configmap`, `secret`); None for one that is not there. Raises api.Refused, api.Gone."""
        found = self._api.get(f"{self._home}/{kind}s/{name}")
        if found is None:
            return None
        if kind == "secret":
            return {key: b64decode(value) for key, value in (found.get("data") or {}).items()}
        binary = {key: b64decode(value) for key, value in (found.get("binaryData") or {}).items()}
        return {key: value.encode() for key, value in (found.get("data") or {}).items()} | binary

    def text_of(self, kind: str, name: str) -> Mapping[str, str] | None:
        """The same as text, for variables."""
        found = self.bytes_of(kind, name)
        return None if found is None else {key: value.decode(errors="replace") for key, value in found.items()}

    def token(self, audience: str, life_s: int) -> str:
        """A token of the pod's service account, bound to the pod. It is not renewed: no test lasts for its life."""
        body: Object = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {
                "expirationSeconds": life_s,
                "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": self._pod["metadata"]["name"], "uid": uid(self._pod)},
            },
        }
        if audience:
            body["spec"]["audiences"] = [audience]
        account = self._pod["spec"].get("serviceAccountName", "default")
        return self._api.create(f"{self._home}/serviceaccounts/{account}/token", body)["status"]["token"]
