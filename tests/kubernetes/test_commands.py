"""`trn`'s commands from end to end: the AWS half is the simulated account through boto3, the Kubernetes half a real API server."""

import os
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from facts.charts import contracts
from local_kubernetes.api import Api, Object, settled, wait
from local_kubernetes.authenticator import User
from local_kubernetes.control_plane import ADMINISTRATORS, POD_LOG, ControlPlane
from tests.kubernetes import contract_charts, crds
from tests.kubernetes.charts import Helm, pods, release_of
from tests.kubernetes.conftest import Programs
from tests.kubernetes.pods import IMAGE
from tests.kubernetes.rights import granted
from tests.kubernetes.stack import Deployed
from tests.kubernetes.test_etcd import as_here, start
from tests.kubernetes.trn import Trn, trn_on
from tests.support import dev_configuration, record_stack
from tests.trn.practice.commands import leftovers
from trn.rights import RIGHTS

pytestmark = pytest.mark.kubernetes
CLUSTER, NAMESPACE, GROUP = "trainium-dev", "training", "trn1-32xl"
METRICS = """# TYPE neuroncore_utilization_ratio gauge
neuroncore_utilization_ratio{neuroncore="0"} 0.5
neuroncore_utilization_ratio{neuroncore="1"} 1.0
# TYPE neuron_runtime_memory_used_bytes gauge
neuron_runtime_memory_used_bytes{memory_location="neuron_device"} 1073741824
# TYPE execution_errors_total counter
execution_errors_total 2
"""


@pytest.fixture(scope="module")
def cluster(control_plane: ControlPlane, programs: Programs, _dev_nodes: list[str]) -> Iterator[Api]:
    """The dev stack's Kubernetes half: its objects, device plug-ins by contract charts, etcd, open queues."""
    api = control_plane.api()
    crds.remove_all(api)
    settled(api)
    recording = record_stack(dev_configuration(), stack="dev")
    deployed = Deployed(api, recording)
    assert deployed.up() == []
    helm = Helm(control_plane, programs("helm")["helm"])
    charts = [contracts()[name] for name in ("neuron-helm-chart", "aws-efa-k8s-device-plugin")]
    for contract in charts:
        helm.install(release_of(recording, contract.chart), contract_charts.write(contract, control_plane.folder / "charts"))
    for queue in api.items("/apis/scheduling.volcano.sh/v1beta1/queues"):
        item = {**queue, "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
        # Volcano's controller does it where Volcano runs.
        api.merge(item, {"status": {"state": "Open"}}, status=True).ok()
    claim = f"/api/v1/namespaces/{NAMESPACE}/persistentvolumeclaims/fsx-claim"
    wait(lambda: api.call("GET", claim).ok()["status"]["phase"] == "Bound", "the file system's claim is bound")
    (store,) = pods(api, NAMESPACE, **{"app.kubernetes.io/name": "etcd"})
    (container,) = store["spec"]["containers"]
    environment = as_here({entry["name"]: entry["value"] for entry in container["env"]}, store["status"]["podIP"])
    start(control_plane, "etcd-of-dev", container["command"], environment | {"ETCD_DATA_DIR": str(control_plane.folder / "etcd-of-dev")})
    yield api
    control_plane.processes.stop("etcd-of-dev")
    for contract in charts:
        helm.uninstall(release_of(recording, contract.chart))
    deployed.down()
    crds.remove_all(api)


@pytest.fixture
def trn(cluster: Api, control_plane: ControlPlane, practised: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Trn]:
    """A copy of the account, whose cluster is the control plane."""
    with trn_on(control_plane, practised, tmp_path, monkeypatch) as made:
        yield made


def job(name: str, *, workers: int = 1) -> Object:
    """A Kubernetes Job of a user's that runs until it is deleted, each worker with all devices of a node."""
    limits = {"aws.amazon.com/neuron": "16"}
    container = {"name": "main", "image": IMAGE, "resources": {"limits": limits}}
    template = {
        "metadata": {"annotations": {"trn.example/stays": "true"}},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }
    spec = {"parallelism": workers, "completions": workers, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec}


@pytest.fixture
def bert(cluster: Api) -> Iterator[Object]:
    """A job of two workers, running."""
    item = job("bert", workers=2)
    cluster.create(item).ok()
    pods(cluster, NAMESPACE, **{"batch.kubernetes.io/job-name": "bert"})
    yield item
    cluster.delete(item, foreground=False)
    wait(lambda: not cluster.names(f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector=job-name%3Dbert"), "its pods are gone")


def test_status_finds_everything_well(trn: Trn):
    """Nodes, devices, plug-ins, interfaces, queues, etcd and the claim, each asked of the real thing."""
    text = trn("status dev", code=None)
    assert [line for line in text.splitlines() if "failed" in line.lower()] == [], text
    trn("status dev")


def test_logs_of_a_job(trn: Trn, bert: Object):
    """Of each worker, with its node; and which jobs there are, where there is no such job."""
    text = trn("logs dev bert --tail 1")
    assert text.count(POD_LOG[-1]) == 2
    assert POD_LOG[0] not in text
    assert "jobs with pods there: bert" in trn("logs dev nobert", code=2)


@pytest.fixture
def exporters(cluster: Api) -> Iterator[int]:
    """Pods of the monitor that answer; gives their number."""
    found = pods(cluster, "neuron-monitor", **{"app.kubernetes.io/name": "neuron-monitor"})
    servers = [serve(item["status"]["podIP"], 8000, METRICS) for item in found]
    yield len(servers)
    for server in servers:
        server.shutdown()
        server.server_close()


def test_top_shows_what_the_exporter_says(trn: Trn, bert: Object, exporters: int):
    """Asked through the API server, at the exporter's own pods."""
    text = trn("top dev --once")
    assert text.count("bert-") == exporters == 2
    assert text.count("2 of 32") == 2, text


def serve(address: str, port: int, text: str) -> ThreadingHTTPServer:
    """Answer every GET at a pod's address with a text."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127." + address.removeprefix("10."), port), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    return server


AWS = """#!/bin/sh
echo '{"apiVersion": "client.authentication.k8s.io/v1beta1", "kind": "ExecCredential", "status": {"token": "%s"}}'
"""


@pytest.fixture
def aws_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Lets the AWS CLI, which kubectl asks for a token, give this one."""
    aws = tmp_path / "bin/aws"
    aws.parent.mkdir()
    monkeypatch.setenv("PATH", os.pathsep.join([str(aws.parent), os.environ["PATH"]]))

    def give(token: str) -> None:
        aws.write_text(AWS % token)
        aws.chmod(0o755)

    return give


SHELL = f"shell dev --node-group {GROUP} -- echo hello-from-the-pod"


def test_shell_runs_a_command_in_a_pod_and_deletes_it(
    trn: Trn, cluster: Api, control_plane: ControlPlane, aws_is: Callable[[str], None], capfd: pytest.CaptureFixture[str]
):
    """kubectl itself opens the stream, with the kubeconfig that the command wrote for it and no secret in it."""
    aws_is(control_plane.token("caller", [ADMINISTRATORS]))
    trn(SHELL, code=None)
    said = capfd.readouterr()
    assert "hello-from-the-pod" in said.out, said.err
    path = f"/api/v1/namespaces/{NAMESPACE}/pods"
    wait(lambda: not [name for name in cluster.names(path) if "shell" in name], "its pod is gone")


@pytest.mark.parametrize("check", ["driver", "throughput"])
def test_verify_starts_its_pods_where_they_belong_and_removes_them(trn: Trn, cluster: Api, check: str, monkeypatch: pytest.MonkeyPatch):
    """No device is here, so that its answers are none; the objects that it makes are accepted, scheduled and deleted again."""
    monkeypatch.setattr("trn.practice.access.Practice.is_practice", False)
    text = trn(f"verify dev --only {check}", code=1)
    assert check in text
    assert "403" not in text
    assert "is invalid" not in text
    wait(lambda: not cluster.names(f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"), "its jobs are gone")


def test_scale_to_zero_and_the_job_that_is_left_waits(trn: Trn):
    """The account's half of it; what EKS then does to nodes is the account's own model."""
    assert "is set to 0 nodes" in trn(f"scale dev {GROUP} 0")


Right = tuple[str, str]
RAY_CLUSTERS: Right = ("rayclusters.ray.io", "list")
"""Of a kind whose add-on is off here: it is asked for, and answered with 404 by those who may ask."""
LEASE: set[Right] = {("leases.coordination.k8s.io", verb) for verb in ("create", "delete", "get")}
"""The lock."""
OF_JOBS: set[Right] = {
    ("pods", "list"),
    ("jobs.batch.volcano.sh", "list"),
    *(("jobs.batch", verb) for verb in ("create", "delete", "list")),
}
USED: Mapping[str, set[Right]] = {
    "status dev": {
        ("nodes", "list"),
        ("daemonsets.apps", "list"),
        ("queues.scheduling.volcano.sh", "list"),
        ("persistentvolumeclaims", "get"),
        ("services/proxy", "get"),
    },
    "logs dev bert": {("pods", "list"), ("pods/log", "get"), RAY_CLUSTERS},
    "top dev bert --once": {("nodes", "list"), ("pods", "list"), ("pods/proxy", "get"), RAY_CLUSTERS},
    SHELL: {*LEASE, ("nodes", "list"), *(("pods", verb) for verb in ("create", "delete", "get", "list")), ("pods/exec", "create")},
    "verify dev --only driver": {*LEASE, ("nodes", "list"), ("pods/log", "get"), *OF_JOBS},
}
"""Rights that these commands use on the dev stack."""
NOT_USED: Mapping[str, set[Right]] = {
    # kubectl before 1.35 opens the stream by `get`.
    "shell": {("pods/exec", "get")},
    # Of its other checks: what status looks at, and the gang, which Volcano makes.
    "verify": {*USED["status dev"] - {("nodes", "list")}, ("jobs.batch.volcano.sh", "create"), ("jobs.batch.volcano.sh", "delete")},
}
"""Documented rights by command that no case above needs."""


@pytest.mark.parametrize("command", USED)
def test_a_command_works_with_the_documented_rights_and_each_is_needed(
    trn: Trn,
    cluster: Api,
    bert: Object,
    exporters: int,
    aws_is: Callable[[str], None],
    control_plane: ControlPlane,
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
):
    """Both ways: enough, and nothing more."""
    monkeypatch.setattr("trn.practice.access.Practice.is_practice", False)
    name = command.split()[0]
    rules = {resource: set(verbs) for resource, verbs in RIGHTS[name].items()}
    documented = {(resource, verb) for resource, verbs in rules.items() for verb in verbs}
    assert documented == USED[command] | NOT_USED.get(name, set())
    trn.be(User("reader"))
    aws_is(control_plane.token("reader"))

    def said() -> str:
        text = trn(command, code=None)
        by_kubectl = capfd.readouterr()
        return text + by_kubectl.out + by_kubectl.err

    with granted(control_plane, "reader", rules):
        allowed = said()
    assert "403" not in allowed
    assert "orbidden" not in allowed
    for resource, verb in sorted(USED[command]):
        fewer = {other: verbs - ({verb} if other == resource else set()) for other, verbs in rules.items()}
        with granted(control_plane, "reader", fewer):
            refused = said()
            assert "403 Forbidden" in refused or "Error from server (Forbidden)" in refused, f"{verb} {resource} is not needed: {refused}"
        for path in ("/api/v1/{}/pods", "/apis/batch/v1/{}/jobs", "/apis/coordination.k8s.io/v1/{}/leases"):
            place = path.format(f"namespaces/{NAMESPACE}")
            for left in (found for found in cluster.names(place) if found.startswith("trn-")):
                # What it was not allowed to delete.
                cluster.call("DELETE", f"{place}/{left}", {"propagationPolicy": "Background"})


def test_drain_and_destroy(trn: Trn, cluster: Api, bert: Object):
    """A destroy drains first: the user's job is gone from the real cluster before the stack's own engine takes the account down."""
    plan = trn("drain dev", code=None)
    assert "bert" in plan
    text = trn(f"destroy dev --yes --name {CLUSTER}", code=None)
    assert not cluster.exists(bert), text
    assert leftovers() == [], text
