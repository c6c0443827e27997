"""What Kubernetes's own controllers make of processes: Jobs whose pods talk, StatefulSets with probes, services, a lost node."""

import pytest

from local_kubernetes.api import Api, Object, wait
from local_kubernetes.control_plane import ControlPlane
from tests.kubernetes.client import client_of
from tests.kubernetes.kubelet.handle import RunningKubelet, process_pod
from tests.kubernetes.kubelet.looking import container, log, over, phase, pods_of, status_of
from tests.kubernetes.kubelet.session import bring_back, lose
from trn.jobs.logs.workers import workers

pytestmark = [pytest.mark.kubernetes, pytest.mark.usefixtures("kubelet")]

ALL_REDUCE = """
import os, socket, time
rank, size = int(os.environ["JOB_COMPLETION_INDEX"]), 2
name, port = "pair-0.pair", 29500
def connected():
    while True:
        try:
            return socket.create_connection((name, port), 5)
        except OSError:
            time.sleep(0.1)
if rank == 0:
    with socket.create_server(("", port)) as server:
        total, peers = 1, []
        while len(peers) < size - 1:
            peer, _ = server.accept()
            total += int(peer.recv(16))
            peers.append(peer)
        for peer in peers:
            peer.sendall(str(total).encode())
else:
    with connected() as peer:
        peer.sendall(str(rank + 1).encode())
        total = int(peer.recv(16))
print(f"{socket.gethostname()} of {socket.gethostbyname(socket.gethostname())}: sum {total}")
"""


def service(name: str, namespace: str, port: int, *, headless: bool = True, **spec: object) -> Object:
    """A service of the pods with its name as their label `app`."""
    own = {"clusterIP": "None", "publishNotReadyAddresses": True} if headless else {}
    whole = {"selector": {"app": name}, "ports": [{"name": "main", "port": port}], **own, **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace}, "spec": whole}


def job(name: str, namespace: str, count: int, script: str, **spec: object) -> Object:
    """An indexed Job, each of whose pods has the name NAME-INDEX.NAME."""
    template = process_pod(name, namespace, script, image="python", subdomain=name, **spec)
    whole = {
        "completions": count,
        "parallelism": count,
        "completionMode": "Indexed",
        "backoffLimit": 3,
        "template": {"metadata": {"labels": {"app": name}}, "spec": template["spec"]},
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": namespace}, "spec": whole}


def succeeded(api: Api, item: Object) -> Object:
    """The Job's status when it is complete."""
    return wait(lambda: (found := api.get(item).ok()["status"]).get("completionTime") and found, f"{item['metadata']['name']} succeeds")


def test_a_job_of_two_pods_that_talk_over_their_names(api: Api, namespace: str):
    """Each finds the other by HOSTNAME.SUBDOMAIN; both bind the same port, since each has its own address."""
    api.create(service("pair", namespace, 29500)).ok()
    item = job("pair", namespace, 2, ALL_REDUCE)
    api.create(item).ok()
    assert succeeded(api, item)["succeeded"] == 2
    said = [log(api, pod) for pod in pods_of(api, namespace, "app=pair")]
    assert [each.split(" of ")[0] for each in said] == ["pair-0", "pair-1"]
    assert all(each.endswith("sum 3\n") for each in said), said


def test_trn_logs_shows_every_worker(control_plane: ControlPlane, api: Api, namespace: str):
    """What `trn logs` prints is made from this: pod, node, how it ended, and its lines."""
    item = job("talks", namespace, 2, "import os; print('rank', os.environ['JOB_COMPLETION_INDEX'])")
    api.create(item).ok()
    succeeded(api, item)
    found = list(workers(client_of(control_plane), "talks", namespace, tail=10))
    assert sorted(each.lines for each in found) == [("rank 0",), ("rank 1",)]
    assert {each.state for each in found} == {"terminated Completed"}
    assert {each.node for each in found} <= {"process-0", "process-1"}


def test_a_lost_nodes_pod_is_made_again_elsewhere(kubelet: RunningKubelet, api: Api, namespace: str):
    """Its processes are gone at once; the node controller taints the node, evicts the pod, and the Job makes another, which ends."""
    script = 'import os, time; print(os.environ["NODE"], flush=True); time.sleep(600)'
    gone = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}
    given = {"env": [{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}]}
    item = job("survivor", namespace, 1, script, tolerations=[gone], container=given)
    api.create(item).ok()
    first = wait(
        lambda: (found := pods_of(api, namespace, "app=survivor")) and found[0]["status"]["phase"] == "Running" and found[0], "it runs"
    )
    process = kubelet.process_of(first, "main")
    lose(api, node := first["spec"]["nodeName"])
    try:
        wait(lambda: not process.alive, "its process is gone")

        def second() -> Object | None:
            others = [each for each in pods_of(api, namespace, "app=survivor") if each["metadata"]["uid"] != first["metadata"]["uid"]]
            return others[0] if others and others[0]["status"]["phase"] == "Running" else None

        again = wait(second, "the Job has made another pod, which runs")
        assert again["spec"]["nodeName"] != node
        assert wait(lambda: log(api, again), "it says where it is") == f"{again['spec']['nodeName']}\n"
        assert api.get(first).ok()["metadata"]["deletionTimestamp"], "no kubelet is there to say that it ended"
    finally:
        bring_back(api, node)
    wait(lambda: not api.exists(first), "the node is back and says so")


SERVER = """
import http.server, os, threading, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        broken = self.path == "/live" and os.path.exists("/data/broken")
        self.send_response(500 if broken else 200); self.end_headers()
        self.wfile.write(os.uname().nodename.encode())
    def log_message(self, *_): pass
print("serving", flush=True)
http.server.ThreadingHTTPServer(("", 8080), Handler).serve_forever()
"""


def stateful_set(namespace: str) -> Object:
    """Two servers, one after the other: the second is made when the first is ready."""
    http = {"periodSeconds": 1, "failureThreshold": 1}
    probes = {
        "startupProbe": {"tcpSocket": {"port": "web"}, "periodSeconds": 1, "failureThreshold": 30},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": "web"}, **http},
        "livenessProbe": {"httpGet": {"path": "/live", "port": 8080}, **http},
        "ports": [{"name": "web", "containerPort": 8080}],
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        "lifecycle": {"postStart": {"exec": {"command": ["sh", "-c", "rm -f /data/broken"]}}},
    }
    template = process_pod(
        "store", namespace, SERVER, image="python", restartPolicy="Always", container=probes, volumes=[{"name": "data", "emptyDir": {}}],
        terminationGracePeriodSeconds=1,
    )  # fmt: skip
    spec = {
        "serviceName": "store",
        "replicas": 2,
        "selector": {"matchLabels": {"app": "store"}},
        "template": {"metadata": {"labels": {"app": "store"}}, "spec": template["spec"]},
    }
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "store", "namespace": namespace}, "spec": spec}


def test_a_stateful_set_with_probes(kubelet: RunningKubelet, api: Api, namespace: str):
    """The second pod comes when the first is ready; each has its stable name; one that is not alive is started again."""
    api.create(service("store", namespace, 8080)).ok()
    item = stateful_set(namespace)
    api.create(item).ok()
    wait(lambda: api.get(item).ok()["status"].get("readyReplicas") == 2, "both are ready")
    first, second = pods_of(api, namespace, "app=store")
    assert times(first)["Ready"] <= second["metadata"]["creationTimestamp"]
    ask = "import urllib.request as r; print(*(r.urlopen(f'http://store-{n}.store:8080/').read().decode() for n in (0, 1)))"
    client = process_pod("client", namespace, ask, image="python")
    api.create(client).ok()
    over(api, client)
    assert log(api, client) == "store-0 store-1\n"
    (kubelet.folder / "pods" / first["metadata"]["uid"] / "volumes/data/broken").touch()
    found = container(api, first, lambda each: each["restartCount"] == 1 and each["ready"], "it was started again and is ready")
    assert found["lastState"]["terminated"]["exitCode"] == 137
    assert any("Liveness probe failed: HTTP probe failed with statuscode: 500" in each for each in api.events(namespace))


def times(pod: Object) -> dict[str, str]:
    """Since when each condition is as it is."""
    return {each["type"]: each["lastTransitionTime"] for each in pod["status"]["conditions"]}


def test_a_service_with_an_address_of_its_own_leads_to_its_pods(api: Api, namespace: str):
    """By name and port, although the pod listens on another: as kube-proxy does it, one endpoint after the other."""
    pod = process_pod("web", namespace, SERVER, image="python", container={"ports": [{"name": "web", "containerPort": 8080}]})
    api.create(pod).ok()
    api.create(service("web", namespace, 80, headless=False, ports=[{"name": "main", "port": 80, "targetPort": "web"}])).ok()
    phase(api, pod, "Running")
    ask = """
import os, time, urllib.request
for _ in range(100):
    try:
        print(urllib.request.urlopen(f"http://web.{os.environ['HOME_SPACE']}.svc/").read().decode())
        break
    except OSError:
        time.sleep(0.1)
"""
    client = process_pod("client", namespace, ask, image="python", container={"env": [{"name": "HOME_SPACE", "value": namespace}]})
    api.create(client).ok()
    over(api, client)
    assert log(api, client) == "web\n"


def test_a_pod_reaches_the_api_server_as_its_service_account(api: Api, namespace: str):
    """By the address and token that every client library looks for inside a pod."""
    script = """
from kubernetes import client, config
config.load_incluster_config()
review = client.AuthenticationV1Api().create_self_subject_review({})
print(review.status.user_info.username)
"""
    pod = process_pod("inside", namespace, script, image="python")
    api.create(pod).ok()
    over(api, pod)
    assert log(api, pod) == f"system:serviceaccount:{namespace}:default\n"


def test_a_sidecar_starts_before_and_ends_after(api: Api, namespace: str):
    """It is ready before the main container starts, and gets SIGTERM when that has ended; the pod succeeds by the main one's exit code."""
    mount = {"volumeMounts": [{"name": "notes", "mountPath": "/notes"}]}
    side = {
        "name": "side",
        "image": "busybox",
        "restartPolicy": "Always",
        "command": ["sh", "-c", "trap 'echo side ended; exit 0' TERM; sleep 0.3; touch /notes/up; while :; do sleep 0.1; done"],
        "startupProbe": {"exec": {"command": ["test", "-f", "/notes/up"]}, "periodSeconds": 1},
        **mount,
    }
    pod = process_pod(
        "with-side",
        namespace,
        "ls /notes; touch /notes/done",
        container=mount,
        initContainers=[side],
        volumes=[{"name": "notes", "emptyDir": {}}],
    )
    api.create(pod).ok()
    assert over(api, pod)["status"]["phase"] == "Succeeded"
    assert log(api, pod, container="main") == "up\n"
    assert log(api, pod, container="side") == "side ended\n"
    assert status_of(api.get(pod).ok(), "side")["restartCount"] == 0
