"""The stack's own etcd: its objects run, its probes and Services lead to it, and etcd itself answers what TorchX's v2 client asks."""

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Timer
from typing import Any

import pytest

from addons.etcd.manifests import CLIENT, PORT, SERVER
from gang_id import agree
from local_kubernetes.api import Api, Object, wait
from local_kubernetes.control_plane import ControlPlane
from local_kubernetes.half import manifest
from tests.addons.test_kubernetes_objects import objects

pytestmark = pytest.mark.kubernetes
NAMESPACE = "training"
KINDS = ("Namespace", "Service", "StatefulSet")
KEYS = "/v2/keys/torchelastic/p2p"


@pytest.fixture(scope="module")
def pod(control_plane: ControlPlane, _dev_nodes: list[str]) -> Iterator[Object]:
    """etcd's pod, of the recorded StatefulSet, placed and said to run; nothing runs in it yet."""
    api = control_plane.api()
    items = [manifest(item) for item in objects("dev")]
    items = [item for item in items if item["metadata"]["name"] in (NAMESPACE, SERVER, CLIENT) and item["kind"] in KINDS]
    assert len(items) == 4
    for item in sorted(items, key=lambda item: item["kind"] != "Namespace"):
        api.apply(item).ok()
    path = f"/api/v1/namespaces/{NAMESPACE}/pods/{SERVER}-0"
    yield wait(lambda: (found := api.call("GET", path)).status == 200 and runs(found.body) and found.body, "etcd's pod runs")
    for item in items:
        api.delete(item)
    wait(lambda: NAMESPACE not in api.names("/api/v1/namespaces"), "the namespace is gone")


def runs(pod: Object) -> bool:
    """Placed and started."""
    return pod.get("status", {}).get("phase") == "Running"


@pytest.fixture(scope="module")
def etcd(control_plane: ControlPlane, pod: Object) -> Iterator[Mapping[str, str]]:
    """etcd as the pod's container starts it: the same command and environment, at the pod's address on loopback."""
    (container,) = pod["spec"]["containers"]
    environment = as_here({entry["name"]: entry["value"] for entry in container["env"]}, pod["status"]["podIP"])
    environment["ETCD_DATA_DIR"] = str(control_plane.folder / "own-etcd")
    start(control_plane, "own-etcd", container["command"], environment)
    yield environment
    control_plane.processes.stop("own-etcd")


def as_here(environment: Mapping[str, str], address: str) -> dict[str, str]:
    """The container's environment where no name server and no network of its own is: its Service's name is its address."""
    here = "127." + address.removeprefix("10.")
    return {name: value.replace("0.0.0.0", here).replace(f"//{SERVER}:", f"//{here}:") for name, value in environment.items()}


def start(control_plane: ControlPlane, name: str, command: list[str], environment: Mapping[str, str]) -> None:
    """Start etcd, and wait until it is healthy."""
    program, *arguments = command
    control_plane.processes.start(name, [control_plane.tools[program], *arguments], environment)
    url = environment["ETCD_LISTEN_CLIENT_URLS"]
    control_plane.processes.wait(lambda: is_healthy(url), name)


def is_healthy(url: str) -> bool:
    """What the probes ask."""
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=2) as answer:
            return json.load(answer)["health"] == "true"
    except OSError:
        return False


class V2:
    """As much of python-etcd 0.4.5's protocol as TorchX's rendezvous uses (torch/distributed/elastic/rendezvous/etcd_rendezvous.py)."""

    def __init__(self, url: str) -> None:
        self._url = url

    def call(self, method: str, key: str, **given: Any) -> tuple[int, dict[str, Any]]:
        """Status and body; what python-etcd sends as a form for PUT and POST goes in the query of the others."""
        form = urllib.parse.urlencode(given)
        in_body = method in ("PUT", "POST")
        url = f"{self._url}{KEYS}{key}" + ("" if in_body or not form else f"?{form}")
        request = urllib.request.Request(url, form.encode() if in_body else None, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)


@pytest.fixture
def store(etcd: Mapping[str, str]) -> Iterator[V2]:
    """An empty store."""
    made = V2(etcd["ETCD_LISTEN_CLIENT_URLS"])
    yield made
    made.call("DELETE", "", recursive="true")


def test_its_pod_lands_on_a_core_node(pod: Object, api: Api):
    """A node with Neuron devices is for training."""
    labels = api.call("GET", f"/api/v1/nodes/{pod['spec']['nodeName']}").ok()["metadata"]["labels"]
    assert labels["eks.amazonaws.com/nodegroup"] == "core"


def test_its_probes_ask_what_it_answers(etcd: Mapping[str, str], pod: Object, api: Api):
    """A probe of the wrong path or port restarts a healthy etcd for ever."""
    (container,) = pod["spec"]["containers"]
    for probe in (container["readinessProbe"], container["livenessProbe"]):
        asked = probe["httpGet"]
        path = f"/api/v1/namespaces/{NAMESPACE}/pods/{SERVER}-0:{asked['port']}/proxy{asked['path']}"
        assert api.call("GET", path).ok()["health"] == "true"


@pytest.mark.parametrize("service", [SERVER, CLIENT])
def test_both_services_lead_to_it(etcd: Mapping[str, str], api: Api, service: str):
    """The names that TorchX looks for; `trn status` asks by one of them."""
    path = f"/api/v1/namespaces/{NAMESPACE}/services/{service}:{PORT}/proxy/v2/keys/"
    assert wait(lambda: (answer := api.call("GET", path)).status == 200 and answer.body, "the service leads to it")["action"] == "get"


def test_without_the_switch_there_is_no_v2_api(control_plane: ControlPlane, pod: Object):
    """The one line that TorchX's etcd backend hangs on, and that 3.6 has no more."""
    (container,) = pod["spec"]["containers"]
    given = {entry["name"]: entry["value"] for entry in container["env"] if entry["name"] != "ETCD_ENABLE_V2"}
    environment = as_here(given, f"10.{control_plane.ranges.number}.254.9") | {"ETCD_DATA_DIR": str(control_plane.folder / "etcd-without")}
    start(control_plane, "etcd-without", container["command"], environment)
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(environment["ETCD_LISTEN_CLIENT_URLS"] + KEYS, timeout=5)
    control_plane.processes.stop("etcd-without")


def test_only_one_worker_makes_the_rendezvous(store: V2):
    """`write(prevExist=False)`: the second gets etcd's own code for an existing key, which TorchX takes for "somebody was first"."""
    assert store.call("PUT", "/run_1/active_version", value="setup", prevExist="false")[0] == 201
    status, answer = store.call("PUT", "/run_1/active_version", value="setup", prevExist="false")
    assert (status, answer["errorCode"]) == (412, 105)


def test_workers_join_by_compare_and_swap(store: V2):
    """`test_and_set`: the one whose view is old is refused and reads again."""
    store.call("PUT", "/run_1/active_version", value="0 workers")
    assert store.call("PUT", "/run_1/active_version", value="1 worker", prevValue="0 workers")[0] == 200
    status, answer = store.call("PUT", "/run_1/active_version", value="1 worker", prevValue="0 workers")
    assert (status, answer["errorCode"]) == (412, 101)
    assert store.call("GET", "/run_1/active_version")[1]["node"]["value"] == "1 worker"


def test_a_worker_waits_for_the_next_change(store: V2):
    """`watch(index)`: answered when it happens, also when it has happened already."""
    first = store.call("PUT", "/run_1/active_version", value="setup")[1]["node"]["modifiedIndex"]
    Timer(0.3, lambda: store.call("PUT", "/run_1/active_version", value="frozen")).start()
    status, answer = store.call("GET", "/run_1/active_version", wait="true", waitIndex=first + 1)
    assert (status, answer["node"]["value"]) == (200, "frozen")


def test_a_worker_that_dies_is_forgotten(store: V2):
    """Keep-alive keys have a time to live, and are renewed by a refresh of which watchers see nothing."""
    store.call("PUT", "/run_1/rdzv/v_1/rank_0", value="", ttl=1)
    assert store.call("PUT", "/run_1/rdzv/v_1/rank_0", refresh="true", prevExist="true", ttl=1)[0] == 200
    status = wait(lambda: (code := store.call("GET", "/run_1/rdzv/v_1/rank_0")[0]) == 404 and code, "the key expires")
    assert status == 404


def test_each_start_of_a_gang_agrees_on_an_id_of_its_own(etcd: Mapping[str, str]):
    """What the entry script asks; torchrun closes the one that a gang has used."""
    endpoint = etcd["ETCD_LISTEN_CLIENT_URLS"].removeprefix("http://")
    with ThreadPoolExecutor(2) as nodes:
        starts = [list(nodes.map(lambda rank: agree(endpoint, "bert", rank, 2), range(2))) for _ in range(2)]
    assert [len(set(ids)) for ids in starts] == [1, 1]
    assert starts[0] != starts[1]


def test_ranks_are_kept_in_folders_and_in_order(store: V2):
    """`write(append=True)` and a recursive, sorted read."""
    assert store.call("PUT", "/run_1/rdzv", dir="true")[0] == 201
    for value in ("a", "b"):
        assert store.call("POST", "/run_1/rdzv", value=value)[0] == 201
    found = store.call("GET", "/run_1/rdzv", recursive="true", sorted="true")[1]["node"]["nodes"]
    assert [node["value"] for node in found] == ["a", "b"]
