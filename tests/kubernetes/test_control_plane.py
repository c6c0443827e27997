"""The control plane itself: quick to start, like EKS's in what matters here, and gone with the test run."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from facts.names import EFA_RESOURCE, GROUP_LABEL, NEURON_RESOURCE, NEURON_TAINT
from local_kubernetes.api import Api, wait
from local_kubernetes.control_plane import ControlPlane
from local_kubernetes.nodes import of_account
from simulator.account import kinds
from simulator.account.view import desired_size
from tests.kubernetes.conftest import first_start
from tests.kubernetes.pods import is_unschedulable, pod
from tests.simulator.account.standing import standing
from tests.support import ROOT

pytestmark = pytest.mark.kubernetes

WHOLE_NODE = {NEURON_RESOURCE: "16", EFA_RESOURCE: "8"}
CRASH = """
import os
from local_kubernetes import build
from local_kubernetes.control_plane import ControlPlane
made = ControlPlane.start(build.tools("kubernetes", "etcd", "kwok"))
print(made.folder, flush=True)
os.kill(os.getpid(), {number})
"""


@pytest.mark.usefixtures("control_plane")
def test_it_starts_within_ten_seconds(tmp_path_factory: pytest.TempPathFactory):
    """Every run of the tier pays for it. A machine that has more to do than it can says nothing about it."""
    seconds = json.loads(first_start(tmp_path_factory).read_text())
    if os.getloadavg()[0] > (os.cpu_count() or 1):
        pytest.skip(f"the machine is busy: it took {seconds['all']:.1f} s")
    assert seconds["all"] < 10, seconds


def test_it_says_the_version_that_is_pinned(control_plane: ControlPlane):
    """Charts and clients look at it."""
    version = control_plane.api().call("GET", "/version").ok()
    assert (version["gitVersion"], version["major"], version["minor"]) == ("v1.35.4", "1", "35")


def test_nothing_of_it_outlives_a_crash(control_plane: ControlPlane):
    """No process and no file, when the test run is killed outright."""
    command = [sys.executable, "-c", CRASH.format(number=int(signal.SIGKILL))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    folder = done.stdout.strip()
    assert folder
    wait(lambda: not Path(folder).exists(), "the folder is deleted")
    assert _working_in(folder) == []


def _working_in(folder: str) -> list[str]:
    """Command lines that name a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_text()
        except OSError:
            continue
        if folder in text:
            found.append(text.replace("\0", " "))
    return found


def test_nodes_are_those_of_the_node_groups(dev_nodes: list[str], api: Api):
    """As many of each group as it asks for, with the group's labels and taints, and the devices that its type has."""
    items = api.items("/api/v1/nodes")
    groups = {item.registration.inputs["nodeGroupName"]: item.registration for item in standing().state.existing(kinds.NODE_GROUP)}
    counted = Counter(item["metadata"]["labels"]["eks.amazonaws.com/nodegroup"] for item in items)
    assert counted == Counter({name: desired_size(group) for name, group in groups.items()})
    for item in items:
        labels = item["metadata"]["labels"]
        group = groups[labels["eks.amazonaws.com/nodegroup"]].inputs
        assert group["labels"].items() <= labels.items()
        assert {taint["key"] for taint in item["spec"].get("taints", ())} == {taint["key"] for taint in group.get("taints") or ()}


def test_a_pod_that_asks_for_devices_is_given_the_toleration(dev_nodes: list[str], api: Api, namespace: str):
    """ExtendedResourceToleration, which EKS has on: TorchX's pods have no toleration of their own."""
    item = pod("worker", namespace, resources=WHOLE_NODE)
    api.create(item).ok()
    made = wait(lambda: (found := api.get(item).ok())["status"]["phase"] == "Running" and found, "it runs")
    assert {"key": NEURON_TAINT, "operator": "Exists", "effect": "NoSchedule"} in made["spec"]["tolerations"]
    node = api.call("GET", f"/api/v1/nodes/{made['spec']['nodeName']}").ok()
    assert node["metadata"]["labels"][GROUP_LABEL] == "trn1-32xl"


def test_a_pod_without_devices_stays_off_neuron_nodes(dev_nodes: list[str], api: Api, namespace: str):
    """Their taint keeps the scarce nodes free."""
    item = pod("plain", namespace, selector={GROUP_LABEL: "trn1-32xl"})
    api.create(item).ok()
    assert "untolerated taint" in wait(lambda: is_unschedulable(api, item), "it finds no node")


def test_a_third_pod_waits_for_a_whole_node(dev_nodes: list[str], api: Api, namespace: str):
    """Two nodes have room for two; the third starts when one of them ends."""
    items = [pod(f"worker-{number}", namespace, resources=WHOLE_NODE) for number in range(3)]
    for item in items[:2]:
        api.create(item).ok()
        wait(lambda item=item: api.get(item).ok()["status"]["phase"] == "Running", "it runs")
    api.create(items[2]).ok()
    said = wait(lambda: is_unschedulable(api, items[2]), "it waits")
    assert f"Insufficient {NEURON_RESOURCE}" in said
    assert f"Insufficient {EFA_RESOURCE}" in said
    api.delete(items[0])
    wait(lambda: api.get(items[2]).ok()["status"]["phase"] == "Running", "it runs")


def test_the_api_server_reaches_a_pod_by_its_address(dev_nodes: list[str], api: Api, namespace: str):
    """`services/proxy` and webhooks find a pod at 10.a.b.c, whose process listens at 127.a.b.c: as on EKS, with nothing in between."""
    item = pod("web", namespace, labels={"app": "web"})
    api.create(item).ok()
    made = wait(lambda: (found := api.get(item).ok())["status"]["phase"] == "Running" and found, "it runs")
    address = made["status"]["podIP"]
    assert address.startswith("10.")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"path": self.path}).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = HTTPServer(("127." + address.removeprefix("10."), 0), Handler)
    port = server.server_address[1]
    Thread(target=server.serve_forever, daemon=True).start()
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": port}]},
    }
    api.create(service).ok()
    path = f"/api/v1/namespaces/{namespace}/services/web:80/proxy/hello"
    found = wait(lambda: (answer := api.call("GET", path)).status == 200 and answer.body, "the service answers")
    assert found == {"path": "/hello"}
    assert api.call("GET", f"/api/v1/namespaces/{namespace}/pods/web:{port}/proxy/other").ok() == {"path": "/other"}
    server.shutdown()
    server.server_close()


def test_a_token_is_a_user(control_plane: ControlPlane):
    """What tests of rights rest on: this user, these groups, and none for a token that was not given."""
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    found = control_plane.api("alice", ["team-a"]).call("POST", path, review).ok()["status"]["userInfo"]
    assert (found["username"], found["groups"]) == ("alice", ["team-a", "system:authenticated"])
    stranger = control_plane.client("bob")
    stranger.default_headers["Authorization"] = "Bearer made-up"
    assert Api(stranger).call("POST", path, review).status == 401


def test_nodes_left_to_another_kubelet_are_not_kwoks(api: Api):
    """Without its annotation kwok leaves a node alone: it is not ready until somebody says so."""
    assert {tuple(item["metadata"]["annotations"].items()) for item in of_account(standing().state, annotations={})} == {()}
