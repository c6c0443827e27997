"""Volcano itself, at the pinned version: what its webhook refuses, which queues cannot be closed, and gangs on whole nodes."""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from addons.prometheus.values import SERVICE_MONITORS
from addons.volcano import QUEUES as QUEUE_KIND
from facts.names import EFA_RESOURCE, NEURON_RESOURCE
from facts.volcano_queues import OWN_QUEUES
from local_kubernetes import volcano_webhook
from local_kubernetes.api import Answer, Api, NotInTime, Object, Refused, wait
from local_kubernetes.control_plane import ControlPlane
from local_kubernetes.nodes import csi_node
from tests.kubernetes.charts import nodes_of, pods
from tests.kubernetes.client import client_of
from tests.kubernetes.conftest import Programs
from tests.kubernetes.kubelet.session import bound_claim
from tests.kubernetes.pods import IMAGE, is_unschedulable
from tests.kubernetes.stack import objects
from tests.kubernetes.volcano import PROGRAMS, QUEUE, QUEUES, Volcano, queue_state, volcano_of
from tests.stacks.test_addons import recorded
from tests.stacks.test_queue_rules import hierarchies, is_accepted
from tests.training.sites import SITE
from tests.training.sites import job as training_job
from tests.trn.ending.draining import drain
from training.launchers import launcher
from training.site import JobQueue
from trn.kubernetes.causes.rules import cause
from trn.kubernetes.jobs.look import look
from trn.kubernetes.kinds import KINDS
from trn.kubernetes.situation import Cause

pytestmark = pytest.mark.kubernetes
SEEN_S = (0.15, 0.5, 2, 8)
"""How long the webhook's own copy of the queues may lag behind: mostly, and on a busy machine."""
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def volcano(control_plane: ControlPlane, programs: Programs, _dev_nodes: list[str]) -> Iterator[Volcano]:
    """The dev stack's Volcano."""
    with volcano_of(control_plane, programs) as made:
        yield made


def queue(name: str, **spec: Any) -> Object:
    """A queue."""
    return {**QUEUE, "metadata": {"name": name}, "spec": {"weight": 1, **spec}}


def test_its_pods_land_on_core_nodes(volcano: Volcano):
    """Neuron nodes are for training."""
    found = [pod for app in PROGRAMS for pod in pods(volcano.api, volcano.namespace, app=app)]
    assert nodes_of(volcano.api, found) == {"core"}


def test_practices_webhook_is_asked_what_the_charts_is(volcano: Volcano):
    """A practice cluster has no chart: its configurations are a table, which must be the pinned chart's."""
    ours = list(volcano_webhook.configurations(volcano.namespace, 1, b"", answers=True))
    paths = {item["kind"]: volcano.api.path(item) for item in ours}
    theirs = {item["metadata"]["name"]: item for path in paths.values() for item in volcano.api.items(path)}
    assert {item["metadata"]["name"] for item in ours} == {name for name in theirs if name.startswith("volcano-")}
    for item in ours:
        (hook,), (own,) = item["webhooks"], theirs[item["metadata"]["name"]]["webhooks"]
        assert own["failurePolicy"] == hook["failurePolicy"]
        assert own["clientConfig"]["service"]["path"] == hook["clientConfig"]["url"].partition(":1")[2]
        assert [rule.items() <= found.items() for rule, found in zip(hook["rules"], own["rules"], strict=True)] == [True]


def admitted(api: Api, queues: dict[str, dict[str, Any]], seen_s: float = SEEN_S[0]) -> Answer | None:
    """Make queues, parents first, under names of their own; the first refusal, or None. They are deleted again."""
    prefix = f"q{next(_numbers)}-"
    made: list[Object] = []
    refusal = None
    for name, spec in queues.items():
        parent = spec.get("parent", "root")
        item = queue(prefix + name, **{**spec, "parent": parent if parent == "root" else prefix + parent})
        answer = api.create(item)
        if answer.status >= 300:
            refusal = answer
            break
        made.append(item)
        time.sleep(seen_s)
    for item in reversed(made):
        # Its webhook lets no queue go before its children are gone, by its own copy too.
        wait(lambda item=item: api.delete(item, foreground=False).status in (200, 404), f"{item['metadata']['name']} may go")
    wait(lambda: not any(name.startswith(prefix) for name in api.names(QUEUES)), "the queues are gone")
    time.sleep(seen_s)
    return refusal


def answer_to(api: Api, queues: dict[str, dict[str, Any]], *, is_refused: bool) -> Answer | None:
    """The webhook's answer, asked again more slowly where it is not the expected one: its copy may have lagged behind."""
    refusal = None
    for seen_s in SEEN_S:
        refusal = admitted(api, queues, seen_s)
        if (refusal is not None) is is_refused:
            break
    return refusal


@settings(max_examples=20, deadline=None)
@given(hierarchies())
def _agree(queues: dict[str, dict[str, Any]]) -> None:
    assert _AGREEING
    refusal = answer_to(_AGREEING[0], queues, is_refused=not is_accepted(queues))
    assert is_accepted(queues) == (refusal is None), refusal


_AGREEING: list[Api] = []


def test_rules_and_volcano_agree(volcano: Volcano):
    """A hierarchy that only our rules accept stops an `up` half-way; the fast test of the same law trusts our reading of the webhook."""
    _AGREEING.append(volcano.api)
    try:
        _agree()
    finally:
        _AGREEING.clear()


def test_a_parent_that_deserves_less_than_its_children_is_refused(volcano: Volcano):
    """By our rules before anything is made, since Volcano does it in the middle of an `up`."""
    child = {"parent": "team", "deserved": {NEURON_RESOURCE: 16}}
    poor: dict[str, dict[str, Any]] = {"team": {"parent": "root"}, "nlp": child}
    rich = {"team": {"parent": "root", "deserved": {NEURON_RESOURCE: 16}}, "nlp": child}
    refusal = answer_to(volcano.api, poor, is_refused=True)
    assert refusal is not None
    assert "sum of children's deserved" in refusal.message
    assert not is_accepted(poor)
    assert answer_to(volcano.api, rich, is_refused=False) is None
    assert is_accepted(rich)


def test_the_queues_of_the_fullest_set_are_admitted(volcano: Volcano):
    """In the graph's order, parents first."""
    items = [item for item in objects(recorded("everything")) if item["kind"] == "Queue"]
    assert len(items) > 2
    assert answer_to(volcano.api, {item["metadata"]["name"]: dict(item["spec"]) for item in items}, is_refused=False) is None


@pytest.fixture
def busy(volcano: Volcano) -> Iterator[Api]:
    """A queue of a user's, open."""
    item = queue("users")
    volcano.api.create(item).ok()
    wait(lambda: queue_state(volcano.api, "users") == "Open", "it is open")
    yield volcano.api
    volcano.api.delete(item, foreground=False)


def drained(control_plane: ControlPlane) -> list[str]:
    """What a drain leaves that waits a tenth of a second a round, as long as the real one waits 10."""
    return drain(client_of(control_plane), pause=lambda _: time.sleep(0.1))


def test_a_drain_closes_users_queues_and_ends(control_plane: ControlPlane, busy: Api):
    """Volcano's scheduler always makes `root` and `default`, and its controller closes neither: a drain that asks never ends."""
    assert drained(control_plane) == []
    assert (queue_state(busy, "users"), queue_state(busy, "root"), queue_state(busy, "default")) == ("Closed", "Open", "Open")


def test_a_drain_that_asked_for_the_root_queue_would_not_end(control_plane: ControlPlane, busy: Api, monkeypatch: pytest.MonkeyPatch):
    """The test above is worth something."""
    assert set(OWN_QUEUES) == {"default", "root"}
    monkeypatch.setattr("trn.kubernetes.kinds.OWN_QUEUES", ("default",))
    assert drained(control_plane) == ["Queue root"]


def job(name: str, namespace: str, workers: int) -> Object:
    """A gang of workers, each with all devices of a node."""
    limits = {NEURON_RESOURCE: "16", EFA_RESOURCE: "8"}
    container = {"name": "main", "image": IMAGE, "resources": {"limits": limits}}
    stays = {"annotations": {"trn.example/stays": "true"}}
    template = {"metadata": stays, "spec": {"restartPolicy": "Never", "containers": [container]}}
    spec = {
        "schedulerName": "volcano",
        "queue": "default",
        "minAvailable": workers,
        "tasks": [{"name": "worker", "replicas": workers, "template": template}],
    }
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def test_a_gang_runs_whole_or_not_at_all(volcano: Volcano, namespace: str):
    """Two nodes take a gang of two; of three not one pod is bound, where plain Kubernetes would bind two and hold their nodes for ever."""
    api, path = volcano.api, f"/api/v1/namespaces/{namespace}/pods"
    small, large = job("small", namespace, 2), job("large", namespace, 3)
    api.create(small).ok()
    wait(lambda: [pod["status"]["phase"] for pod in api.items(path)] == ["Running"] * 2, "both run")
    assert nodes_of(api, api.items(path)) == {"trn1-32xl"}
    api.delete(small, foreground=False)
    wait(lambda: not api.items(path), "its pods are gone")
    api.create(large).ok()
    wait(
        lambda: "Unschedulable" in str(api.items(f"/apis/scheduling.volcano.sh/v1beta1/namespaces/{namespace}/podgroups")),
        "it is said to wait",
    )
    assert [pod["spec"].get("nodeName") for pod in api.items(path) if pod["spec"].get("nodeName")] == []
    api.delete(large, foreground=False)


@pytest.mark.parametrize("name", [name for name in SERVICE_MONITORS if name.startswith("volcano")])
def test_a_monitor_finds_volcanos_metrics(volcano: Volcano, name: str):
    """By the labels and the port name of the Services that the chart makes: a monitor that finds nothing says nothing."""
    spec = SERVICE_MONITORS[name]
    (place,) = spec["namespaceSelector"]["matchNames"]
    wanted, port = spec["selector"]["matchLabels"].items(), spec["endpoints"][0]["port"]
    services = volcano.api.items(f"/api/v1/namespaces/{place}/services")
    found = [item for item in services if wanted <= item["metadata"].get("labels", {}).items()]
    assert [port in {entry.get("name") for entry in item["spec"]["ports"]} for item in found] == [True]


def test_a_job_with_the_file_system_runs_where_its_driver_is(volcano: Volcano, namespace: str):
    """Volcano places a pod with a CSI volume only on a node whose CSINode lists the driver, as FSx's does on EKS: without one it waits."""
    api, path = volcano.api, f"/api/v1/namespaces/{namespace}/pods"
    nodes = [item for item in api.items("/api/v1/nodes") if NEURON_RESOURCE in item["status"]["allocatable"]]
    items = bound_claim(api, namespace, "data")
    mounting = job("mounting", namespace, 1)
    mounting["spec"]["tasks"][0]["template"]["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    for node in nodes:
        api.delete(csi_node(node)).ok()
    try:
        api.create(mounting).ok()
        said = wait(
            lambda: [pod for pod in api.items(path) if is_unschedulable(api, {"apiVersion": "v1", "kind": "Pod", **pod})], "it waits"
        )
        assert [pod["spec"].get("nodeName") for pod in said] == [None]
    finally:
        for node in nodes:
            api.create(csi_node(node)).ok()
    wait(lambda: [pod["status"]["phase"] for pod in api.items(path)] == ["Running"], "it runs")
    api.delete(mounting, foreground=False)
    wait(lambda: not api.items(path), "its pod is gone")
    for item in reversed(items):
        api.delete(item, foreground=False)


@pytest.fixture
def users(volcano: Volcano) -> Iterator[Api]:
    """Open queues: `users`, and `small`, whose jobs may have the devices of one node together."""
    items = [queue("users"), queue("small", capability={NEURON_RESOURCE: 16})]
    for item in items:
        volcano.api.create(item).ok()
    wait(lambda: {queue_state(volcano.api, item["metadata"]["name"]) for item in items} == {"Open"}, "they are open")
    yield volcano.api
    for item in items:
        wait(lambda item=item: volcano.api.delete(item, foreground=False).status in (200, 404), "a queue may go when its jobs are gone")


def submitted(api: Api, namespace: str, name: str, nodes: int, queue: str) -> Object:
    """A job as `trn submit` makes it, whose pods run until they are deleted."""
    on = replace(SITE, namespace=namespace, claim=None, queues={queue: JobQueue(queue)})
    rendered = launcher("volcano").render(training_job(name=name, nodes=nodes, launcher="volcano", queue=queue), on)
    rendered[-1]["spec"]["tasks"][0]["template"]["metadata"]["annotations"] = {"trn.example/stays": "true"}
    for item in rendered:
        api.create(item).ok()
    return rendered[-1]


def cause_of(control_plane: ControlPlane, namespace: str, name: str, is_so: Callable[[Cause], bool]) -> Cause:
    """What `trn why` says of a job, when it is the word that is waited for; what it said last, where it never is."""
    last: list[Cause | None] = [None]

    def found() -> Cause | None:
        view = look(client_of(control_plane), namespace, SITE)
        last[0] = cause(view.situation(view.named(name, namespace)))
        return last[0] if last[0] is not None and is_so(last[0]) else None

    try:
        return wait(found, f"{name} has its cause")
    except NotInTime as error:
        raise AssertionError(f"{error}: {last[0]}") from None


def running(api: Api, namespace: str, count: int) -> bool:
    """Whether so many pods run."""
    return [pod["status"]["phase"] for pod in api.items(f"/api/v1/namespaces/{namespace}/pods")].count("Running") == count


def test_why_a_gang_is_too_large(control_plane: ControlPlane, users: Api, namespace: str):
    """For its group, which may have 4 nodes; and for the 2 that are there, where the group may have more."""
    made = [submitted(users, namespace, "huge", 5, "users"), submitted(users, namespace, "large", 3, "users")]
    found = cause_of(control_plane, namespace, "huge", lambda it: it.name == "gang")
    assert found.what == "it wants 5 nodes at once, and trn1-32xl may have 4"
    assert found.do.startswith("submit it with `nodes: 4`")
    found = cause_of(control_plane, namespace, "large", lambda it: it.name == "capacity")
    assert found == Cause(
        "capacity",
        "it wants 3 nodes, and 2 of trn1-32xl are ready: the stack asks for 2",
        "`trn scale dev trn1-32xl 3`",
    )
    assert running(users, namespace, 0)
    for item in made:
        users.delete(item, foreground=False)


def test_why_in_a_queue_that_is_closed(control_plane: ControlPlane, users: Api, namespace: str):
    """A job that waits when its queue is closed never starts; one that comes later is refused at once, in Volcano's words."""
    first = submitted(users, namespace, "first", 2, "default")
    wait(lambda: running(users, namespace, 2), "it runs")
    second = submitted(users, namespace, "second", 2, "users")
    found = cause_of(control_plane, namespace, "second", lambda it: it.name == "busy")
    assert found.what == "0 of the 2 nodes that it wants are free: other pods hold the rest"
    client = client_of(control_plane)
    closing = next(kind for kind in KINDS if kind.resource == QUEUE_KIND)
    closing.act(client, users.get(queue("users")).ok())
    found = cause_of(control_plane, namespace, "second", lambda it: it.name == "queue")
    assert found.what in [f"the queue users is {word}: it starts no jobs" for word in ("Closing", "Closed")]
    assert found.do == "`vcctl queue operate -a open -n users`"
    with pytest.raises(Refused, match="can only submit job to queue with state `Open`"):
        submitted(users, namespace, "third", 1, "users")
    for item in (first, second):
        users.delete(item, foreground=False)


def test_why_in_a_queue_that_is_full(control_plane: ControlPlane, users: Api, namespace: str):
    """What its jobs may have together is in use; and a job that asks for more than that never starts in it."""
    first = submitted(users, namespace, "first", 1, "small")
    wait(lambda: running(users, namespace, 1), "it runs")
    second, large = submitted(users, namespace, "second", 1, "small"), submitted(users, namespace, "large", 2, "small")
    found = cause_of(control_plane, namespace, "second", lambda it: it.name == "quota")
    assert found.what == f"it asks for 16 {NEURON_RESOURCE}, and the queue small has 0 of 16 left"
    assert found.do == "`trn jobs dev` shows what runs: it starts when others end"
    found = cause_of(control_plane, namespace, "large", lambda it: it.name == "quota")
    assert found.what == f"it asks for 32 {NEURON_RESOURCE}, and the queue small may have 16 in all"
    assert "`addons.volcano.queues.small.capability`" in found.do
    for item in (first, second, large):
        users.delete(item, foreground=False)
