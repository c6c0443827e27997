"""An API server and two services of AWS over HTTP, for the guard's own clients: the simulated account answers for AWS."""

import json
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from botocore.exceptions import ClientError

from tests.trn.aws.cloud import Cloud

MEMORY = "/api/v1/namespaces/idle-guard/configmaps/idle-guard-memory"
ANSWER = tuple[int, Any]


@dataclass
class Cluster:
    """What the API server has: lists by path, and one ConfigMap."""

    lists: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    memory: dict[str, Any] | None = None
    refused: dict[str, int] = field(default_factory=dict)
    """Path to the status of its refusal."""
    after_lists: list[Any] = field(default_factory=list)
    """Called one by one when pods have been listed: what happens between two looks."""

    def answer(self, method: str, path: str, body: dict[str, Any]) -> ANSWER:
        """Status and answer."""
        plain = path.partition("?")[0]
        if plain in self.refused:
            return self.refused[plain], {"message": "no"}
        if plain == MEMORY or (method == "POST" and plain == MEMORY.rpartition("/")[0]):
            return self._memory(method, body)
        if plain.startswith("/apis") and plain.count("/") in (1, 3):
            return self._kinds(plain)
        if plain not in self.lists:
            return 404, {"message": "the server could not find the requested resource"}
        items = list(self.lists[plain])
        if plain == "/api/v1/pods" and self.after_lists:
            self.after_lists.pop(0)()
        # Two pages, so that a reader of one page is found out.
        start = int(urllib.parse.parse_qs(path.partition("?")[2]).get("continue", ["0"])[0])
        more = {"continue": str(start + 1)} if start + 1 < len(items) else {}
        return 200, {"items": items[start : start + 1], "metadata": more}

    def _kinds(self, path: str) -> ANSWER:
        """Discovery: of the groups whose objects are there, the version that was put there first is the preferred one."""
        there = [path.split("/")[2:] for path in self.lists if path.startswith("/apis/")]
        if path == "/apis":
            groups = dict[str, list[dict[str, str]]]()
            for group, version, _ in there:
                groups.setdefault(group, []).append({"groupVersion": f"{group}/{version}"})
            return 200, {"groups": [{"name": name, "preferredVersion": all_[0], "versions": all_} for name, all_ in groups.items()]}
        names = [{"name": plural} for group, version, plural in there if path == f"/apis/{group}/{version}"]
        return (200, {"resources": names}) if names else (404, {"message": "the server could not find the requested resource"})

    def _memory(self, method: str, body: dict[str, Any]) -> ANSWER:
        if method == "GET":
            return (200, self.memory) if self.memory else (404, {"message": "not found"})
        version = (self.memory or {}).get("metadata", {}).get("resourceVersion", "0")
        if method == "POST" and self.memory:
            return 409, {"message": "already exists"}
        if method == "PUT" and body["metadata"].get("resourceVersion") != version:
            return 409, {"message": "the object has been modified"}
        self.memory = {**body, "metadata": {**body["metadata"], "resourceVersion": str(int(version) + 1)}}
        return 200, self.memory


def aws_answer(cloud: Cloud, method: str, path: str, body: bytes) -> ANSWER:
    """What the simulated account answers to a request of EKS's or SNS's own protocol."""
    if path == "/credentials":
        return 200, {"AccessKeyId": "AKIAEXAMPLE", "SecretAccessKey": "secret", "Token": "token"}
    try:
        if path == "/":
            asked = {key: values[0] for key, values in urllib.parse.parse_qs(body.decode()).items()}
            assert (asked.pop("Action"), asked.pop("Version")) == ("Publish", "2010-03-31")
            return _published(cloud, asked)
        _, _, cluster, _, group, *update = path.split("/")
        eks = cloud.api.client("eks")
        if method == "GET":
            return 200, {"nodegroup": eks.describe_nodegroup(clusterName=cluster, nodegroupName=group)["nodegroup"]}
        assert (method, update) == ("POST", ["update-config"])
        answer = eks.update_nodegroup_config(clusterName=cluster, nodegroupName=group, **json.loads(body))
        return 200, {"update": {"id": answer["update"]["id"]}}
    except ClientError as error:
        return error.response["ResponseMetadata"].get("HTTPStatusCode", 400), error.response["Error"]


def _published(cloud: Cloud, asked: dict[str, str]) -> ANSWER:
    """No command of `trn` publishes, so the account has no answer to it."""
    if "sns.Publish" in cloud.wire.denied:
        return 403, {"Code": "AuthorizationError"}
    cloud.api.client("sns").get_topic_attributes(TopicArn=asked["TopicArn"])
    cloud.put("message", f"{len(cloud.of('message'))}", dict(asked))
    return 200, {"MessageId": "1"}


@contextmanager
def served(cluster: Cluster, cloud: Cloud) -> Iterator[str]:
    """Address of both: `/k8s` before the paths of the API server, `/aws` before those of AWS."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            part, _, rest = self.path.removeprefix("/").partition("/")
            if part == "k8s":
                assert self.headers["Authorization"] == "Bearer pod-token"
                status, answer = cluster.answer(self.command, f"/{rest}", json.loads(body or b"{}"))
            else:
                assert rest == "credentials" or self.headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/")
                status, answer = aws_answer(cloud, self.command, f"/{rest}", body)
            text = json.dumps(answer, default=str).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def do_PUT(self) -> None:
            self._answer()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
