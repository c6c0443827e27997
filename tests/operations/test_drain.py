"""`trn drain`: what users started goes, in an order in which it can; what Pulumi made stays Pulumi's."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from kubernetes.client import ApiClient, Configuration
from typer.testing import CliRunner

from operations.aws.api import BotoApi
from operations.cli import app
from operations.drain import plan as kinds
from operations.drain.plan import plan_drain
from operations.drain.run import Drain
from operations.errors import CommandError
from operations.kube.api import Bearer, KubernetesClient, Unreachable, connect, token
from tests.operations.aws.cloud import Cloud
from tests.operations.aws.leftovers import leave_control_plane
from tests.operations.aws.wire import Wire
from tests.operations.cluster import FakeCluster, busy
from tests.support import ROOT


def drain(cluster: FakeCluster) -> tuple[Any, ...]:
    """Drain without waiting; what is left."""
    return Drain(cluster, pause=lambda _: None, tell=lambda _: None).run(plan_drain(cluster))


def test_queues_close_first_then_jobs_balancers_claims_and_nodes_go():
    """A job that starts while others are deleted would hold its claim; nodes go last, for controllers run on them."""
    cluster = busy()
    assert drain(cluster) == ()
    assert cluster.log == [
        "CloseQueue training", "CloseQueue test", "delete Volcano Job bert", "delete Kubernetes Job prepare", "delete Ingress grafana",
        "delete Service tensorboard", "delete PersistentVolumeClaim scratch", "delete NodePool trn",
    ]  # fmt: skip


def test_what_pulumi_or_an_owner_looks_after_is_left_to_them():
    """The stack's claim, its StatefulSet's, system namespaces, and what a controller would only make again."""
    names = {target.name for target in plan_drain(busy()).deletions}
    assert not names & {"fsx-claim", "data-etcd-0", "volcano-admission-init", "of-a-cron-job", "etcd-server", "default"}


def test_kinds_that_are_not_installed_are_named_and_left_out():
    """A cluster without Volcano or Karpenter is drained all the same."""
    cluster = busy()
    for resource in (kinds.QUEUES, kinds.VOLCANO_JOBS, kinds.NODE_POOLS, kinds.NODE_CLAIMS):
        del cluster.objects[resource]
    assert plan_drain(cluster).missing == ("Queue", "Volcano Job", "NodePool", "NodeClaim")
    assert drain(cluster) == ()


def test_karpenters_instances_are_waited_for():
    """A NodePool is gone before its instances are."""
    cluster = busy()
    assert [str(target) for target in plan_drain(cluster).waited_for] == ["NodeClaim trn-abc"]
    cluster.stuck.add("trn")
    assert [str(target) for target in drain(cluster)] == ["NodePool trn", "NodeClaim trn-abc"]


def test_each_object_is_deleted_once_however_long_it_takes():
    """And what a finalizer holds is told in the end."""
    cluster = busy()
    cluster.stuck.add("scratch")
    (left,) = drain(cluster)
    assert str(left) == "PersistentVolumeClaim training/scratch"
    assert cluster.log.count("delete PersistentVolumeClaim scratch") == 1


@pytest.mark.parametrize("stop_at", range(8))
def test_a_drain_that_was_stopped_is_ended_by_the_next(stop_at: int):
    """After any step."""
    cluster, steps = busy(), 0

    def crash(line: str) -> None:
        nonlocal steps
        steps += 1
        if steps > stop_at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Drain(cluster, pause=lambda _: None, tell=crash).run(plan_drain(cluster))
    assert drain(cluster) == ()
    assert plan_drain(cluster).queues == ()


# The client


class ApiServer(BaseHTTPRequestHandler):
    """Answers by path, and keeps what it was sent."""

    seen: ClassVar[list[tuple[str, str, str, Any]]] = []

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.seen.append((self.command, self.path, self.headers["Authorization"], json.loads(body) if body else None))
        status = {"/api/v1/services": 200, "/apis/batch/v1/jobs": 403, "/apis/apps/v1/statefulsets": 500}.get(self.path.partition("?")[0])
        if status is None:
            status = 404 if "karpenter" in self.path else 201
        text = json.dumps({"items": [{"metadata": {"name": "a"}}]}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""


@pytest.fixture
def server() -> Iterator[str]:
    """Address of a server on this machine."""
    ApiServer.seen.clear()
    made = HTTPServer(("127.0.0.1", 0), ApiServer)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{made.server_port}"
    made.shutdown()
    made.server_close()


def test_the_client_speaks_to_a_server(server: str):
    """Lists, deletes with what it owns, makes; a kind that is not there is no error, a refusal is one."""
    client = KubernetesClient(ApiClient(Configuration(host=server)), lambda: "secret")
    assert client.list(kinds.SERVICES) == [{"metadata": {"name": "a"}}]
    assert client.list(kinds.NODE_POOLS) is None
    assert client.list(kinds.SERVICES, label="trn/verify=train") == [{"metadata": {"name": "a"}}]
    assert client.list(kinds.JOBS, namespace="training") == [{"metadata": {"name": "a"}}]
    paths = [path for _, path, _, _ in ApiServer.seen[-2:]]
    assert paths == ["/api/v1/services?labelSelector=trn%2Fverify%3Dtrain", "/apis/batch/v1/namespaces/training/jobs"]
    assert client.read("/api/v1/services") == {"items": [{"metadata": {"name": "a"}}]}
    assert client.text("/api/v1/services") == '{"items": [{"metadata": {"name": "a"}}]}'
    assert (client.read("/apis/karpenter"), client.text("/apis/karpenter")) == (None, None)
    client.delete(kinds.NODE_POOLS, "gone")
    client.delete(kinds.CLAIMS, "scratch", "training")
    client.create(kinds.COMMANDS, "default", {"action": "CloseQueue"})
    assert ApiServer.seen[-2:] == [
        ("DELETE", "/api/v1/namespaces/training/persistentvolumeclaims/scratch", "Bearer secret", {"propagationPolicy": "Foreground"}),
        ("POST", "/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands", "Bearer secret", {"action": "CloseQueue"}),
    ]
    with pytest.raises(CommandError, match="the cluster knows no NodePool, or no namespace training"):
        client.create(kinds.NODE_POOLS, "training", {})
    with pytest.raises(Unreachable, match="403"):
        client.list(kinds.JOBS)
    with pytest.raises(CommandError, match="500"):
        client.list(kinds.STATEFUL_SETS)


def test_a_server_that_is_gone_is_told():
    """A destroy goes on without it."""
    configuration = Configuration(host="http://127.0.0.1:1")
    configuration.retries = 0
    with pytest.raises(Unreachable, match="does not answer"):
        KubernetesClient(ApiClient(configuration), lambda: "x").list(kinds.SERVICES)


def test_the_token_is_a_signed_question_for_this_cluster():
    """What `aws eks get-token` prints: the API server asks STS with it who the caller is."""
    import base64

    text = token(BotoApi("us-west-2", Wire().session()), "train")
    assert text.startswith("k8s-aws-v1.")
    url = base64.urlsafe_b64decode(text.removeprefix("k8s-aws-v1.") + "==").decode()
    assert url.startswith("https://sts.us-west-2.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15")
    assert "X-Amz-SignedHeaders=host%3Bx-k8s-aws-id" in url
    assert "X-Amz-Expires=60" in url


def test_a_token_is_made_anew_before_it_ends():
    """`trn verify` waits for images longer than the 15 minutes of one."""
    now, made = [0.0], list[str]()
    bearer = Bearer(lambda: made.append("x") or f"token {len(made)}", lambda: now[0])
    assert (bearer(), bearer()) == ("token 1", "token 1")
    now[0] = 599
    assert bearer() == "token 1"
    now[0] = 601
    assert (bearer(), bearer()) == ("token 2", "token 2")
    now[0] = 1200
    assert bearer() == "token 2"


def test_a_cluster_is_reached_by_what_eks_says_of_it():
    """No kubeconfig of the user's is read or changed."""
    entry = {"name": "train", "endpoint": "https://example", "certificateAuthority": {"data": "Q0E="}}
    client = connect(BotoApi("us-west-2", Wire().session()), entry)
    configuration = client._client.configuration
    assert configuration.host == "https://example"
    assert Path(configuration.ssl_ca_cert).read_text() == "CA"
    assert client._bearer().startswith("k8s-aws-v1.")


# The command


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    """The shipped stack's cluster, at work."""
    monkeypatch.chdir(ROOT)
    made, cloud = busy(), Cloud()
    leave_control_plane(cloud, "trainium-dev")
    cloud.of("cluster")["trainium-dev"]["endpoint"] = "https://example"
    monkeypatch.setattr("operations.drain.command.BotoApi", lambda region: cloud.api)
    monkeypatch.setattr("operations.drain.command.connect", lambda api, entry: made)
    monkeypatch.setattr("time.sleep", lambda _: None)
    return made


def trn(*arguments: str, answer: str = "") -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(app, ["drain", *arguments], input=answer)
    return result.exit_code, result.stdout, result.stderr


def test_the_command_shows_asks_and_drains(cluster: FakeCluster, tmp_path: Path):
    """No means no; a second run finds nothing to do."""
    code, _, err = trn("dev", answer="n\n")
    assert (code, cluster.log, "Close 2 queues and delete 6 objects" in err) == (1, [], True)
    code, out, _ = trn("dev", "--yes", "--json", str(tmp_path / "drain.json"))
    assert (code, out) == (0, "drained: the cluster is idle\n")
    assert json.loads((tmp_path / "drain.json").read_text())["closed"] == ["training", "test"]
    assert trn("dev")[0] == 0


def test_what_stays_makes_the_exit_code_1(cluster: FakeCluster):
    """And is named."""
    cluster.stuck.add("bert")
    del cluster.objects[kinds.NODE_POOLS]
    code, out, err = trn("dev", "--yes")
    assert (code, "left Volcano Job training/bert" in out) == (1, True)
    assert "not installed in trainium-dev, going on without: NodePool" in err


def test_no_cluster_is_misuse(monkeypatch: pytest.MonkeyPatch):
    """One line, and where to look."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("operations.drain.command.BotoApi", lambda region: Cloud().api)
    code, _, err = trn("dev")
    assert (code, err.startswith("error: there is no cluster `trainium-dev` in us-west-2")) == (2, True)
