"""Who a bearer token is: the webhook that an API server asks, as EKS's asks its own authenticator."""

import json
import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class User:
    """A user as Kubernetes knows them."""

    name: str
    groups: tuple[str, ...] = ()


class Authenticator:
    """Tokens by name, and others by whoever can read them; served on loopback until `close`."""

    def __init__(self) -> None:
        self.readers: list[Callable[[str], User | None]] = []
        """Each is asked in turn what user a token is; None where it cannot say."""
        self._users: dict[str, User] = {}
        self._secret = secrets.token_urlsafe(24)
        self.readers.append(self._users.get)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def token(self, user: str, groups: Sequence[str] = ()) -> str:
        """A token of a user; the same user and groups have the same. Others on this machine cannot guess it: they reach the port too."""
        token = ".".join((self._secret, "~".join((user, *groups))))
        self._users[token] = User(user, tuple(groups))
        return token

    def configuration(self) -> dict[str, Any]:
        """What `--authentication-token-webhook-config-file` holds (kubernetes.io, Authenticating, webhook token authentication)."""
        server = f"http://127.0.0.1:{self._server.server_address[1]}/"
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "authenticator", "cluster": {"server": server}}],
            "users": [{"name": "api-server"}],
            "contexts": [{"name": "webhook", "context": {"cluster": "authenticator", "user": "api-server"}}],
            "current-context": "webhook",
        }

    def review(self, asked: dict[str, Any]) -> dict[str, Any]:
        """A TokenReview with its answer."""
        token = asked["spec"]["token"]
        user = next((found for read in self.readers if (found := read(token)) is not None), None)
        status: dict[str, Any] = {"authenticated": user is not None}
        if user is not None:
            status["user"] = {"username": user.name, "uid": user.name, "groups": list(user.groups)}
        return {"apiVersion": asked["apiVersion"], "kind": "TokenReview", "status": status}

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        review = self.review

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                body = json.dumps(review(asked)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing: a token is in every line."""

        return Handler
