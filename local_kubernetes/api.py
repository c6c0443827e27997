"""Plain requests to an API server, for those who look at what it answers: objects as they are in YAML, statuses as numbers."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from kubernetes.client import ApiClient

Object = dict[str, Any]
APPLY, MERGE = "application/apply-patch+yaml", "application/merge-patch+json"
NAMES_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
MANAGER = "trn"
"""Under this name the server keeps which fields are the caller's."""
TIMEOUT_S = 30
PATIENCE_S = 240
"""How long something is waited for: what takes 10 s took 60 s on a machine with five other programs for each core."""
LOOK_S, LONGEST_LOOK_S, LOOKS_AFTER = 0.05, 0.5, 0.1
"""Between two looks: the least, the most, and as a part of what was waited. Each look costs the API server 2 to 10 ms."""


class Refused(Exception):
    """The API server refused, in its own words."""


class NotInTime(Exception):
    """What was waited for did not come."""


@dataclass(frozen=True)
class Answer:
    """What the API server said."""

    status: int
    body: Object
    warnings: tuple[str, ...] = ()
    """Texts of its warning headers."""

    @property
    def message(self) -> str:
        """Its words for a refusal."""
        return str(self.body.get("message", ""))

    def ok(self) -> Object:
        """The body of an answer that is no refusal. Raises Refused with its words."""
        if self.status >= 300:
            raise Refused(f"{self.status}: {self.message or self.body}")
        return self.body


class Api:
    """One user's way to an API server."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client
        self._plurals: dict[tuple[str, str], tuple[str, bool]] = {}

    def call(
        self, method: str, path: str, body: Any = None, media: str = "application/json", accept: str = "application/json", **query: str
    ) -> Answer:
        """One request. A body that is no JSON comes back under `text`."""
        headers = {"Accept": accept, "Content-Type": media, **self._client.default_headers}
        url = self._client.configuration.host + path + (f"?{urlencode(query)}" if query else "")
        given = json.dumps(body) if media == APPLY else body
        answer = self._client.call_api(method, url, header_params=headers, body=given, _request_timeout=TIMEOUT_S)
        text = answer.read()
        try:
            found = json.loads(text)
        except ValueError:
            found = {"text": text.decode(errors="replace")}
        warnings = answer.getheaders().get("Warning", "") if hasattr(answer, "getheaders") else ""
        return Answer(answer.status, found if isinstance(found, dict) else {"value": found}, tuple(filter(None, [warnings])))

    def path(self, item: Object) -> str:
        """Where an object is served. Raises LookupError for a kind that the API server does not know."""
        version, kind = item["apiVersion"], item["kind"]
        if (version, kind) not in self._plurals:
            listed = self.call("GET", f"/apis/{version}" if "/" in version else f"/api/{version}")
            for entry in listed.body.get("resources", ()):
                if "/" not in entry["name"]:
                    self._plurals[version, entry["kind"]] = (entry["name"], entry["namespaced"])
        if (version, kind) not in self._plurals:
            raise LookupError(f'no matches for kind "{kind}" in version "{version}"')
        plural, is_namespaced = self._plurals[version, kind]
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        namespace = item["metadata"].get("namespace", "default")
        return f"{root}/namespaces/{namespace}/{plural}" if is_namespaced else f"{root}/{plural}"

    def apply(self, item: Object, *, dry_run: bool = False, manager: str = MANAGER) -> Answer:
        """Server-side apply with strict field validation: a field that the server does not know is an error and not a warning."""
        query = {"fieldManager": manager, "fieldValidation": "Strict", "force": "true"} | ({"dryRun": "All"} if dry_run else {})
        return self.call("PATCH", f"{self.path(item)}/{item['metadata']['name']}", item, APPLY, **query)

    def create(self, item: Object) -> Answer:
        """Create, strictly too."""
        return self.call("POST", self.path(item), item, fieldValidation="Strict")

    def get(self, item: Object) -> Answer:
        """The object as the server has it."""
        return self.call("GET", f"{self.path(item)}/{item['metadata']['name']}")

    def exists(self, item: Object) -> bool:
        """Whether the server has it."""
        return self.get(item).status == 200

    def delete(self, item: Object, *, grace_s: int | None = None, foreground: bool = True) -> Answer:
        """Delete it and what it owns; one that is gone already answers 404.

        In the foreground it goes after what it owns: the garbage collector must know its kind for that, which takes up to 30 s
        after a CRD was made.
        """
        body = {"propagationPolicy": "Foreground" if foreground else "Background"}
        body |= {} if grace_s is None else {"gracePeriodSeconds": grace_s}
        return self.call("DELETE", f"{self.path(item)}/{item['metadata']['name']}", body)

    def merge(self, item: Object, change: Object, *, status: bool = False) -> Answer:
        """Merge fields into an object, or into its status."""
        path = f"{self.path(item)}/{item['metadata']['name']}" + ("/status" if status else "")
        return self.call("PATCH", path, change, MERGE)

    def items(self, path: str, **query: str) -> list[Object]:
        """Everything that is listed at a path."""
        return self.call("GET", path, **query).ok()["items"]

    def names(self, path: str) -> set[str]:
        """Names of everything that is listed at a path, without the rest: all CRDs together are 10 MB."""
        return {item["metadata"]["name"] for item in self.call("GET", path, accept=NAMES_ONLY).ok()["items"] or ()}

    def events(self, namespace: str) -> list[str]:
        """Reasons and texts of a namespace's events: what a failing test wants to show."""
        return [f"{item['reason']}: {item.get('message', '')}" for item in self.items(f"/api/v1/namespaces/{namespace}/events")]


def settled(api: Api, *names: str) -> None:
    """Wait until none of these namespaces is going, or none at all: nothing can be made in one of the same name until it is gone.

    That takes 5 s and more where there were pods: the controller looks again only then.
    """

    def going() -> list[str]:
        found = [item["metadata"]["name"] for item in api.items("/api/v1/namespaces") if "deletionTimestamp" in item["metadata"]]
        return [name for name in found if not names or name in names]

    wait(lambda: not going(), f"no namespace is going of {', '.join(names) or 'all'}")


def wait(is_so: Callable[[], Any], what: str, patience_s: float = PATIENCE_S) -> Any:
    """The first answer that counts as true. Raises NotInTime, with `what`, when patience ends.

    What was waited for long is looked at less often: it is seen at most a tenth later, and looking takes less of the processor.
    """
    begun = time.monotonic()
    while not (found := is_so()):
        waited = time.monotonic() - begun
        if waited > patience_s:
            raise NotInTime(f"it did not come to that in {patience_s} s: {what}")
        time.sleep(min(max(LOOK_S, LOOKS_AFTER * waited), LONGEST_LOOK_S))
    return found
