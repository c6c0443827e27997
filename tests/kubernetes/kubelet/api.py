"""The kubelet's way to the API server: objects as plain dictionaries, and a watch that always ends in the current state."""

import json
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

from kubernetes.client import ApiClient, Configuration
from kubernetes.config import load_kube_config
from urllib3.exceptions import HTTPError

from tests.kubernetes.kubelet.pods import Object

TIMEOUT_S = 20
WATCH_S = 300
"""After so long the API server ends a watch, and it is begun again where it ended."""
RETRY_S = 0.5
_log = logging.getLogger(__name__)


class Refused(Exception):
    """The API server answered with an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status} {message}")
        self.status = status


class Gone(Exception):
    """The API server does not answer."""


class Api:
    """One API server; may be used by several threads."""

    def __init__(self, kubeconfig: str) -> None:
        configuration = Configuration()
        load_kube_config(kubeconfig, client_configuration=configuration)
        configuration.connection_pool_maxsize = 64
        self._client = ApiClient(configuration)
        self.address = configuration.host

    def get(self, path: str) -> Object | None:
        """What is at a path; None for nothing. Raises Refused, Gone."""
        return self._call("GET", path)

    def create(self, path: str, body: Object) -> Object:
        """Make an object. Raises Refused, Gone."""
        made = self._call("POST", path, body)
        if made is None:
            raise Refused(404, f"nothing at {path}")
        return made

    def replace(self, path: str, body: Object) -> Object | None:
        """Write a whole object; None for one that is gone. Raises Refused, Gone."""
        return self._call("PUT", path, body)

    def patch(self, path: str, body: Object, kind: str = "strategic-merge-patch") -> Object | None:
        """Change an object; None for one that is gone. Raises Refused, Gone."""
        return self._call("PATCH", path, body, f"application/{kind}+json")

    def delete(self, path: str, body: Object) -> None:
        """Delete an object; one that is gone is no error. Raises Refused, Gone."""
        self._call("DELETE", path, body)

    def watch(self, path: str, on_change: Callable[[dict[str, Object]], None], stop: threading.Event) -> None:
        """Call with all objects of a list by uid, first and after each change, until `stop`; a lost connection is begun again."""
        while not stop.is_set():
            try:
                listed = self._call("GET", path) or {"items": [], "metadata": {"resourceVersion": ""}}
                objects = {each["metadata"]["uid"]: each for each in listed["items"]}
                on_change(dict(objects))
                version = listed["metadata"]["resourceVersion"]
                while version and not stop.is_set():
                    version = self._follow(path, version, objects, on_change)
            except (Refused, Gone) as error:
                _log.info("watch of %s: %s", path, error)
            stop.wait(RETRY_S)

    def _follow(self, path: str, version: str, objects: dict[str, Object], on_change: Callable[[dict[str, Object]], None]) -> str:
        """One watch from a version on; gives the version where it ended, or nothing where the list must be read again."""
        query = f"watch=1&allowWatchBookmarks=true&resourceVersion={version}&timeoutSeconds={WATCH_S}"
        for event in self._events(f"{path}{'&' if '?' in path else '?'}{query}"):
            item = event["object"]
            if event["type"] == "ERROR":
                return ""
            version = item["metadata"]["resourceVersion"]
            if event["type"] == "BOOKMARK":
                continue
            if event["type"] == "DELETED":
                objects.pop(item["metadata"]["uid"], None)
            else:
                objects[item["metadata"]["uid"]] = item
            on_change(dict(objects))
        return version

    def _events(self, path: str) -> Iterator[Object]:
        answer = self._send("GET", path, None, "application/json", WATCH_S + TIMEOUT_S)
        try:
            if answer.status != 200:
                raise Refused(answer.status, str(answer.reason))
            rest = b""
            for part in answer.stream(amt=None):
                *lines, rest = (rest + part).split(b"\n")
                yield from (json.loads(line) for line in lines if line)
        except HTTPError as error:
            raise Gone(str(error)) from error
        finally:
            answer.close()

    def _call(self, method: str, path: str, body: Object | None = None, kind: str = "application/json") -> Object | None:
        answer = self._send(method, path, body, kind, TIMEOUT_S)
        try:
            text = answer.data
        except HTTPError as error:
            raise Gone(str(error)) from error
        if answer.status == 404:
            return None
        if answer.status >= 300:
            raise Refused(answer.status, text.decode(errors="replace")[:500])
        return json.loads(text)

    def _send(self, method: str, path: str, body: Object | None, kind: str, timeout_s: float) -> Any:
        headers = {"Accept": "application/json", "Content-Type": kind}
        self._client.update_params_for_auth(headers, [], ["BearerToken"], path, method, body)
        try:
            return self._client.rest_client.pool_manager.request(
                method,
                self.address + path,
                body=None if body is None else json.dumps(body),
                headers=headers,
                timeout=timeout_s,
                preload_content=False,
                retries=False,
            )
        except HTTPError as error:
            raise Gone(str(error)) from error
