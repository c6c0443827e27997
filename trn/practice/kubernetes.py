"""In place of the official Kubernetes client's transport: requests end at the simulated API server."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from urllib3.exceptions import HTTPError

from simulator.kubernetes_endpoint.server import ApiServer, NoServer


@dataclass(frozen=True)
class _Configuration:
    host: str = ""


@dataclass(frozen=True)
class _Response:
    status: int
    reason: str
    _body: bytes

    def read(self) -> bytes:
        return self._body


@dataclass(frozen=True)
class SimulatedClient:
    """As much of `kubernetes.client.ApiClient` as `KubernetesClient` uses."""

    server: ApiServer
    changed: Callable[[], None]
    """Called after each request that may have changed something."""
    configuration: _Configuration = _Configuration()

    def call_api(self, method: str, url: str, *, body: Any = None, **_: Any) -> _Response:
        """One request. Raises HTTPError where no control plane answers, as a connection that is refused does."""
        try:
            answer = self.server.answer(method, url, body)
        except NoServer as error:
            raise HTTPError(str(error)) from error
        if method != "GET":
            self.changed()
        return _Response(answer.status, answer.reason, answer.body)
