"""Ways through the API server into processes: exec and port-forward by kubectl, proxy, webhooks; what `trn shell` and MPI stand on."""

import os
import pty
import subprocess
import urllib.request

import pytest

from local_kubernetes.api import Api, wait
from local_kubernetes.control_plane import ControlPlane
from tests.kubernetes.kubelet.handle import process_pod
from tests.kubernetes.kubelet.looking import container, phase

pytestmark = [pytest.mark.kubernetes, pytest.mark.usefixtures("kubelet")]

SERVER = """
import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers()
        self.wfile.write(os.uname().nodename.encode())
    def log_message(self, *_): pass
http.server.HTTPServer(("", 8080), Handler).serve_forever()
"""


@pytest.fixture
def pod(api: Api, namespace: str) -> str:
    """A pod that runs; gives its name."""
    item = process_pod(
        "box", namespace, "cd /tmp; sleep 100 & wait", container={"env": [{"name": "RANK", "value": "3"}], "workingDir": "/data"}
    )
    item["spec"]["terminationGracePeriodSeconds"] = 0
    api.create(item).ok()
    phase(api, item, "Running")
    container(api, item, lambda each: each["ready"], "it is ready")
    return "box"


def test_a_command_runs_inside_with_the_containers_environment(control_plane: ControlPlane, namespace: str, pod: str):
    """Its host name, its variables, its processes."""
    said = control_plane.kubectl("exec", pod, "-n", namespace, "--", "sh", "-c", "hostname; echo $RANK; cat /proc/1/comm")
    assert said.split() == ["box", "3", "sh"]


def test_an_exit_code_comes_back(control_plane: ControlPlane, namespace: str, pod: str):
    """As kubectl's own."""
    said = control_plane.kubectl("exec", pod, "-n", namespace, "--", "sh", "-c", "echo broken >&2; exit 7", fails=True)
    assert "broken" in said
    assert "exit code 7" in said


def test_what_is_typed_reaches_the_command(control_plane: ControlPlane, namespace: str, pod: str):
    """Standard input, to its end."""
    assert control_plane.kubectl("exec", "-i", pod, "-n", namespace, "--", "tr", "a-z", "A-Z", stdin="chips\n") == "CHIPS\n"


def test_a_terminal_is_a_terminal(control_plane: ControlPlane, namespace: str, pod: str):
    """`kubectl exec -it` in a terminal of the test's own."""
    command = [
        str(control_plane.tools["kubectl"]),
        "exec",
        "-it",
        pod,
        "-n",
        namespace,
        "--",
        "sh",
        "-c",
        "test -t 0 && test -t 1 && echo yes",
    ]
    own, theirs = pty.openpty()
    done = subprocess.run(command, env=control_plane.environment(), stdin=theirs, stdout=theirs, stderr=theirs, check=False)
    os.close(theirs)
    with os.fdopen(own, "rb", buffering=0) as terminal:
        shown = terminal.read(1024)
    assert (done.returncode, shown) == (0, b"yes\r\n")


@pytest.fixture
def web(api: Api, namespace: str) -> str:
    """A pod that serves its name, and a service that leads to it; gives the name of both."""
    probe = {"readinessProbe": {"tcpSocket": {"port": 8080}, "periodSeconds": 1}}
    item = process_pod("web", namespace, SERVER, image="python", container=probe)
    api.create(item).ok()
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]},
    }
    api.create(service).ok()
    container(api, item, lambda each: each["ready"], "it is ready")
    return "web"


def test_a_port_is_forwarded(control_plane: ControlPlane, namespace: str, web: str):
    """To a server inside that the machine's own network does not reach."""
    (port,) = control_plane.ranges.ports(1)
    command = [str(control_plane.tools["kubectl"]), "port-forward", f"pod/{web}", f"{port}:8080", "-n", namespace]
    with subprocess.Popen(command, env=control_plane.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as forward:
        try:
            assert wait(lambda: _answer(port), "it answers") == "web"
        finally:
            forward.kill()


def test_the_api_servers_proxy_leads_to_pods_and_services(api: Api, namespace: str, web: str):
    """The way that webhooks take too: through the egress proxy into the pods' network."""
    pods = f"/api/v1/namespaces/{namespace}/pods/{web}:8080/proxy/"
    services = f"/api/v1/namespaces/{namespace}/services/{web}:80/proxy/"
    assert api.call("GET", pods).ok() == {"text": "web"}
    assert wait(lambda: (answer := api.call("GET", services)).status == 200 and answer.body, "the service has its endpoint") == {
        "text": "web"
    }


def _answer(port: int) -> str:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=2) as answer:
            return answer.read().decode()
    except OSError:
        return ""
