"""The very files that run in the guard's pod, against an API server and the simulated account."""

import http.client
import io
import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotoCredentials

from addons.idle_guard.pod import guard
from addons.idle_guard.pod.aws import Aws, AwsError, Credentials, signed
from addons.idle_guard.pod.kubernetes import ApiError, Kubernetes
from addons.idle_guard.values import PACKAGE, SETTINGS
from tests.addons.idle_guard.servers import MEMORY, Cluster, served
from tests.stacks.test_addons import recorded
from tests.trn.aws.cloud import Cloud

DAY_S, NAME, GROUP = 86_400, "trainium-dev", "trn1-32xl"
NODES, PODS = "/api/v1/nodes", "/api/v1/pods"
POD_GROUPS, WORKLOADS = "/apis/scheduling.volcano.sh/v1beta1/podgroups", "/apis/kueue.x-k8s.io/v1beta2/workloads"
OLD_WORKLOADS, JOBS = "/apis/kueue.x-k8s.io/v1beta1/workloads", "/apis/batch/v1/jobs"
JOB_SETS, SETS = "/apis/jobset.x-k8s.io/v1alpha2/jobsets", "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets"
VOLCANO_JOBS = "/apis/batch.volcano.sh/v1alpha1/jobs"
WANTS = {"containers": [{"name": "main", "resources": {"limits": {"aws.amazon.com/neuron": "16"}}}]}


def stamp(seconds: float) -> str:
    """A time as the API server writes it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def node(name: str, **spec: Any) -> dict[str, Any]:
    """A node of the group that joined two days ago."""
    metadata = {"name": name, "labels": {"trn/node-group": GROUP}, "creationTimestamp": stamp(time.time() - 2 * DAY_S)}
    return {"metadata": metadata, "spec": spec, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}


def pod(name: str, phase: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """A pod that was made two days ago."""
    made = {"name": name, "namespace": "training", "creationTimestamp": stamp(time.time() - 2 * DAY_S), **metadata}
    return {"metadata": made, "spec": spec, "status": {"phase": phase}}


def sample(spec: dict[str, Any], **status: Any) -> dict[str, Any]:
    """An object of any kind."""
    return {"metadata": {"name": "bert", "namespace": "training"}, "spec": spec, "status": status}


ASKS, PLAIN = {"template": {"spec": WANTS}}, {"template": {"spec": {"containers": [{}]}}}
DRIVER_FIRST = {"replicatedJobs": [{"name": "driver", "template": {"spec": PLAIN}}, {"name": "workers", "template": {"spec": ASKS}}]}
LEADER_FIRST = {"leaderWorkerTemplate": {"leaderTemplate": {"spec": {}}, "workerTemplate": {"spec": WANTS}}}
OVER = {"conditions": [{"type": "Completed", "status": "True"}]}


class Site:
    """A folder as the pod has it, an API server and an account."""

    def __init__(self, folder: Path) -> None:
        self.cloud, self.folder = Cloud(), folder
        data = next(
            item.inputs["data"]
            for item in recorded("everything").resources()
            if item.type == "kubernetes:core/v1:ConfigMap" and item.name == "idle-guard"
        )
        self.package = folder / PACKAGE
        self.package.mkdir()
        for name, text in data.items():
            (self.package / name).write_text(text)
        (folder / "token").write_text("pod-token\n")
        self.topic = json.loads(data[SETTINGS])["topic"]
        self.cloud.put("topic", self.topic, {"attributes": {}})
        self.group = {"minSize": 0, "maxSize": 2, "desiredSize": 2}
        entry = {"clusterName": NAME, "nodegroupName": GROUP, "status": "ACTIVE", "scalingConfig": self.group}
        self.cloud.put("node group", GROUP, entry)
        self.cluster = Cluster({NODES: [node("a"), node("b")], PODS: []})
        self.remembers(time.time() - DAY_S)

    def remembers(self, used: float) -> None:
        """What the guard has kept of the group."""
        kept = json.dumps({GROUP: {"used": used, "told": None, "desired": 2}})
        self.cluster.memory = {"metadata": {"name": "idle-guard-memory", "resourceVersion": "7"}, "data": {"groups": kept}}

    def environment(self, url: str) -> dict[str, str]:
        """What Pod Identity and the tests set."""
        return {
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{url}/aws/credentials",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": str(self.folder / "token"),
            "AWS_ENDPOINT_URL_EKS": f"{url}/aws",
            "AWS_ENDPOINT_URL_SNS": f"{url}/aws",
        }

    def arguments(self, url: str) -> list[str]:
        """As the program has them, and what the tests need."""
        return ["--settings", str(self.package / SETTINGS), "--api", f"{url}/k8s", "--account", str(self.folder), "--once"]

    @property
    def size(self) -> int:
        """Nodes that EKS wants."""
        return self.cloud.of("node group")[GROUP]["scalingConfig"]["desiredSize"]

    @property
    def messages(self) -> list[dict[str, str]]:
        """What was published."""
        return list(self.cloud.of("message").values())


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Two nodes that have been idle for a day."""
    return Site(tmp_path)


@pytest.fixture
def look(site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Any]:
    """One look: exit code and log."""
    with served(site.cluster, site.cloud) as url:
        for key, value in site.environment(url).items():
            monkeypatch.setenv(key, value)

        def once() -> tuple[int, str]:
            return guard.main(site.arguments(url)), capsys.readouterr().out

        yield once


def test_the_files_of_the_config_map_run_as_in_the_pod(site: Site):
    """With the command of the Deployment, in a Python that knows nothing of this project."""
    with served(site.cluster, site.cloud) as url:
        code = f"import runpy, sys; sys.path.insert(0, {str(site.folder)!r}); runpy.run_module('{PACKAGE}.guard', run_name='__main__')"
        command = [sys.executable, "-I", "-B", "-c", code, *site.arguments(url)]
        done = subprocess.run(command, env=site.environment(url), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{GROUP} was set to zero nodes" in done.stdout
    assert site.size == 0
    (message,) = site.messages
    assert (message["TopicArn"], message["Subject"]) == (site.topic, f"{NAME}: 2 Neuron nodes idle")


def test_a_second_look_says_nothing_more(site: Site, look: Any):
    """The nodes take minutes to go."""
    assert look()[0] == 0
    assert look() == (0, f"{GROUP} last used 1440 min ago\n")
    assert len(site.messages) == 1


USED: dict[str, tuple[str, dict[str, Any]]] = {
    "a pending pod": (PODS, pod("p", "Pending", WANTS)),
    "a running pod": (PODS, pod("p", "Running", {**WANTS, "nodeName": "a"})),
    "a pod that is being deleted": (PODS, pod("p", "Running", {**WANTS, "nodeName": "a"}, deletionTimestamp=stamp(time.time()))),
    "cores in an init container": (
        PODS,
        pod("p", "Pending", {"initContainers": [{"resources": {"requests": {"aws.amazon.com/neuroncore": "1"}}}], "containers": [{}]}),
    ),
    "a claim of DRA": (PODS, pod("p", "Pending", {"containers": [{}], "resourceClaims": [{"name": "neuron"}]})),
    "a gang without pods": (POD_GROUPS, {"metadata": {"name": "bert"}, "status": {"phase": "Pending"}}),
    "a gang that nothing has looked at": (POD_GROUPS, {"metadata": {"name": "bert"}}),
    "a workload in Kueue's queue": (WORKLOADS, {"metadata": {"name": "bert"}, "status": {}}),
    "a workload of a Kueue before v1beta2": (OLD_WORKLOADS, {"metadata": {"name": "bert"}, "status": {}}),
    "a job whose pods a quota keeps away": (JOBS, sample(ASKS)),
    "a set of jobs whose driver comes first": (JOB_SETS, sample(DRIVER_FIRST, replicatedJobsStatus=[{"name": "driver", "active": 1}])),
    "a set of jobs that nothing has looked at": (JOB_SETS, sample(DRIVER_FIRST)),
    "workers that wait for their leader": (SETS, sample({**LEADER_FIRST, "replicas": 2}, readyReplicas=1)),
    "a set of workers without a count": (SETS, sample(LEADER_FIRST)),
    "a job of Volcano without a gang": (VOLCANO_JOBS, sample({"tasks": [PLAIN, ASKS]})),
}


@pytest.mark.parametrize("case", USED)
def test_nothing_is_done_while_anything_wants_the_nodes(site: Site, look: Any, case: str):
    """Each as the API server lists it."""
    path, item = USED[case]
    site.cluster.lists.setdefault(path, []).append(item)
    assert look() == (0, f"{GROUP} last used 0 min ago\n")
    assert (site.size, site.messages) == (2, [])


IDLE: dict[str, tuple[str, dict[str, Any]]] = {
    "a pod of a plug-in": (PODS, pod("p", "Running", {"containers": [{}], "nodeName": "a"}, ownerReferences=[{"kind": "DaemonSet"}])),
    "a pod that ended long ago": (PODS, pod("p", "Succeeded", {**WANTS, "nodeName": "a"})),
    "a pod elsewhere": (PODS, pod("p", "Running", {"containers": [{}], "nodeName": "core"})),
    "a gang that has ended": (POD_GROUPS, {"metadata": {"name": "bert"}, "status": {"phase": "Completed"}}),
    "a workload that has ended": (
        WORKLOADS,
        {"metadata": {"name": "bert"}, "status": {"conditions": [{"type": "Finished", "status": "True"}]}},
    ),
    "a workload that is switched off": (WORKLOADS, {"metadata": {"name": "bert"}, "spec": {"active": False}}),
    "a job that is over": (JOBS, sample(ASKS, conditions=[{"type": "Complete", "status": "True"}])),
    "a job that is suspended": (JOBS, sample({**ASKS, "suspend": True})),
    "a job that asks for no device": (JOBS, sample(PLAIN)),
    "a set of jobs that is over": (JOB_SETS, sample(DRIVER_FIRST, **OVER)),
    "a set of jobs that is suspended": (JOB_SETS, sample({**DRIVER_FIRST, "suspend": True})),
    "a set of workers of no size": (SETS, sample({**LEADER_FIRST, "replicas": 0})),
    "a job of Volcano that has ended": (VOLCANO_JOBS, sample({"tasks": [ASKS]}, state={"phase": "Completed"})),
}


@pytest.mark.parametrize("case", IDLE)
def test_what_wants_no_node_keeps_none(site: Site, look: Any, case: str):
    """Otherwise no cluster would ever be idle."""
    path, item = IDLE[case]
    site.cluster.lists.setdefault(path, []).append(item)
    assert look()[0] == 0
    assert site.size == 0


@pytest.mark.parametrize(
    "path",
    [
        NODES,
        PODS,
        POD_GROUPS,
        WORKLOADS,
        "/apis",
        "/apis/kueue.x-k8s.io/v1beta2",
        "/api/v1/namespaces/idle-guard/configmaps/idle-guard-memory",
    ],
)
def test_a_list_that_is_refused_ends_the_look(site: Site, look: Any, path: str):
    """What was not seen may be a job."""
    site.cluster.lists |= {POD_GROUPS: [], WORKLOADS: []}
    site.cluster.refused[path] = 403
    code, said = look()
    assert (code, "nothing was changed" in said, site.size, site.messages) == (1, True, 2, [])


def test_a_kind_is_listed_in_a_version_that_has_it(site: Site, look: Any):
    """The preferred one of a group need not have all of its kinds."""
    site.cluster.lists |= {"/apis/kueue.x-k8s.io/v1/clusterqueues": [], OLD_WORKLOADS: [{"metadata": {"name": "bert"}}]}
    assert look() == (0, f"{GROUP} last used 0 min ago\n")


@pytest.mark.parametrize("path", [NODES, PODS, "/apis", "/apis/kueue.x-k8s.io/v1beta2", WORKLOADS])
def test_kinds_that_the_cluster_has_are_not_missing(site: Site, look: Any, path: str):
    """A proxy that finds no server says 404 too: that is not a cluster without pods, and none without a queue."""
    site.cluster.lists[WORKLOADS] = []
    site.cluster.refused[path] = 404
    code, said = look()
    assert (code, "404" in said, site.size, site.messages) == (1, True, 2, [])


@pytest.mark.parametrize("answer", [b"{}", b"[]", b'{"kind": "Status", "status": "Failure"}'])
def test_an_answer_that_is_no_list_is_not_an_empty_one(tmp_path: Path, answer: bytes):
    """Whatever its status says."""
    (tmp_path / "token").write_text("pod-token")
    api = Kubernetes("http://api", tmp_path, lambda *_, **__: io.BytesIO(answer))
    with pytest.raises(ApiError, match="the answer is no list"):
        list(api.listed(PODS))


def test_a_page_that_is_gone_is_not_the_end(tmp_path: Path):
    """Workloads of the pages after it may wait."""
    (tmp_path / "token").write_text("pod-token")

    def open_url(request: urllib.request.Request, **_: Any) -> Any:
        if "continue=" in request.full_url:
            raise urllib.error.HTTPError(request.full_url, 404, "gone", Message(), io.BytesIO(b"gone"))
        return io.BytesIO(b'{"items": [], "metadata": {"continue": "more"}}')

    with pytest.raises(ApiError, match="404"):
        list(Kubernetes("http://api", tmp_path, open_url).listed(WORKLOADS))


def test_an_answer_that_is_cut_off_ends_the_look(tmp_path: Path):
    """http.client's error is none of the system's; it ended the guard."""

    class Cut(io.BytesIO):
        def read(self, *_: Any) -> bytes:
            raise http.client.IncompleteRead(b'{"items": [', 1000)

    (tmp_path / "token").write_text("pod-token")
    with pytest.raises(ApiError, match="IncompleteRead"):
        Kubernetes("http://api", tmp_path, lambda *_, **__: Cut()).call(PODS)
    environment = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://here", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": str(tmp_path / "token")}
    with pytest.raises(AwsError, match="IncompleteRead"):
        Aws("us-west-2", "amazonaws.com", environment, lambda *_, **__: Cut()).scaling(NAME, GROUP)


def test_a_group_of_which_eks_says_nothing_is_left_alone(site: Site, look: Any):
    """Its size may have been changed a minute ago."""
    site.cloud.wire.denied.add("eks.DescribeNodegroup")
    code, said = look()
    assert (code, "AccessDenied" in said, site.messages) == (1, True, [])


def test_a_pod_that_comes_between_two_looks_is_seen(site: Site, look: Any):
    """A job is submitted in the very second."""
    site.cluster.after_lists.append(lambda: site.cluster.lists[PODS].append(pod("p", "Pending", WANTS)))
    assert look() == (0, "the nodes came into use between two looks: nothing was changed\n")
    assert (site.size, site.messages) == (2, [])
    site.cluster.lists[PODS].clear()
    assert (look()[0], site.size, site.messages) == (0, 2, []), "its use counts, though it is deleted before the next look"


def test_of_two_guards_one_does_nothing(site: Site, look: Any):
    """The second finds that its memory was written by the first."""

    def other() -> None:
        assert site.cluster.memory is not None
        site.cluster.memory["metadata"] = {**site.cluster.memory["metadata"], "resourceVersion": "8"}

    site.cluster.after_lists.append(other)
    code, said = look()
    assert (code, "409" in said, site.size, site.messages) == (1, True, 2, [])


def test_a_group_that_eks_does_not_empty_is_told_of(site: Site, look: Any):
    """Another update is under way, say."""
    site.cloud.wire.denied.add("eks.UpdateNodegroupConfig")
    code, _ = look()
    assert (code, site.size) == (1, 2)
    assert "It could not be set to zero nodes: POST" in site.messages[0]["Message"]
    code, said = look()
    assert (code, "was not set to zero nodes" in said, len(site.messages)) == (1, True, 1), "a message every five minutes"
    site.cloud.wire.denied.clear()
    assert (look()[0], site.size, len(site.messages)) == (0, 0, 2)


def test_a_message_that_was_not_sent_is_sent_at_the_next_look(site: Site, look: Any):
    """Without it a group would be empty without a word."""
    settings = json.loads((site.package / SETTINGS).read_text())
    (site.package / SETTINGS).write_text(json.dumps({**settings, "empties": False}))
    site.cloud.wire.denied.add("sns.Publish")
    assert look()[0] == 1
    site.cloud.wire.denied.clear()
    assert (look()[0], len(site.messages)) == (0, 1)
    assert site.size == 2


def test_credentials_that_go_after_a_group_was_emptied_are_no_quiet_end(site: Site, look: Any, monkeypatch: pytest.MonkeyPatch):
    """The log says what was done, and that the message was not sent."""
    empty = Aws.empty

    def emptied(self: Aws, cluster: str, group: str) -> None:
        empty(self, cluster, group)
        monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", str(site.folder / "gone"))

    monkeypatch.setattr(Aws, "empty", emptied)
    code, said = look()
    assert (code, site.size, "nothing was changed" in said) == (1, 0, False)
    assert "the message was not sent: no credentials from Pod Identity: FileNotFoundError" in said


def test_the_message_of_an_emptied_group_is_sent_later(site: Site, look: Any):
    """SNS refuses, the nodes go, and with them all that the guard kept of the group."""
    site.cloud.wire.denied.add("sns.Publish")
    assert (look()[0], site.size) == (1, 0)
    site.cluster.lists[NODES].clear()
    code, said = look()
    assert (code, "the message was not sent" in said, site.messages) == (1, True, [])
    site.cloud.wire.denied.clear()
    assert look()[0] == 0
    (message,) = site.messages
    assert (message["Subject"], "It was set to zero nodes." in message["Message"]) == (f"{NAME}: 2 Neuron nodes idle", True)
    assert look() == (0, "no Neuron node is up\n")
    assert len(site.messages) == 1


def test_a_guard_that_ends_between_the_call_and_the_message_says_so_later(site: Site, look: Any, monkeypatch: pytest.MonkeyPatch):
    """Its pod is evicted in that second."""

    def killed(*_: Any) -> None:
        raise SystemError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(Aws, "publish", killed)
        with pytest.raises(SystemError):
            look()
    site.cluster.lists[NODES].clear()
    assert (look()[0], site.size) == (0, 0)
    (message,) = site.messages
    assert "It was about to be set to zero nodes when the guard stopped" in message["Message"]


def test_a_memory_that_is_refused_after_a_group_was_emptied_is_no_quiet_end(site: Site, look: Any, monkeypatch: pytest.MonkeyPatch):
    """The log does not say that nothing was changed."""
    publish = Aws.publish

    def published(self: Aws, *message: str) -> None:
        publish(self, *message)
        site.cluster.refused[MEMORY] = 503

    monkeypatch.setattr(Aws, "publish", published)
    code, said = look()
    assert (code, site.size, len(site.messages), "nothing was changed" in said) == (1, 0, 1, False)
    assert "the memory was not written, so that the message may come twice" in said


def test_a_kept_message_that_cannot_be_read_is_dropped(site: Site, look: Any):
    """What no guard has written ends no guard."""
    assert site.cluster.memory is not None
    for kept in ("[", "{}", '[{"subject": "x"}]', "[1]", "null"):
        site.cluster.memory["data"]["unsent"] = kept
        site.cluster.lists[PODS] = [pod("p", "Pending", WANTS)]
        assert look() == (0, f"{GROUP} last used 0 min ago\n"), kept


def test_a_memory_that_cannot_be_read_begins_anew(site: Site, look: Any):
    """The clock starts at this look."""
    assert site.cluster.memory is not None
    for kept in ('{"used": ', '{"used": NaN}', '{"used": null}', '{"used": "0"}', '{"used": 0, "told": "0"}', "[]"):
        site.cluster.memory["data"] = {"groups": f'{{"trn1-32xl": {kept}}}'}
        assert look() == (0, f"{GROUP} last used 0 min ago\n"), kept
    assert look() == (0, f"{GROUP} last used 0 min ago\n")
    site.cluster.memory = None
    assert look() == (0, f"{GROUP} last used 0 min ago\n")
    assert (site.size, site.messages) == (2, [])


@pytest.mark.parametrize(
    ("service", "method", "path", "body", "kind"),
    [
        ("eks", "GET", "/clusters/trainium-dev/node-groups/trn1-32xl", b"", ""),
        ("eks", "POST", "/clusters/trainium-dev/node-groups/trn1-32xl/update-config", b'{"scalingConfig": {}}', "application/json"),
        ("sns", "POST", "/", b"Action=Publish&Message=a+b%0A", "application/x-www-form-urlencoded; charset=utf-8"),
    ],
)
def test_requests_are_signed_as_botocore_signs_them(service: str, method: str, path: str, body: bytes, kind: str):
    """A wrong signature is refused with one sentence for all mistakes."""
    url, now = f"https://{service}.us-west-2.amazonaws.com{path}", datetime(2026, 11, 22, 21, 15, tzinfo=UTC)
    headers = {"accept": "application/json", **({"content-type": kind} if kind else {})}
    ours = signed(Credentials("AKIAEXAMPLE", "secret", "token"), service, "us-west-2", method, url, body, now, headers)
    theirs = AWSRequest(method, url, headers, body)
    signer = SigV4Auth(BotoCredentials("AKIAEXAMPLE", "secret", "token"), service, "us-west-2")
    theirs.context["timestamp"] = now.strftime("%Y%m%dT%H%M%SZ")
    theirs.headers["X-Amz-Date"] = theirs.context["timestamp"]
    theirs.headers["X-Amz-Security-Token"] = "token"
    canonical = signer.canonical_request(theirs)
    signature = signer.signature(signer.string_to_sign(theirs, canonical), theirs)
    assert ours["Authorization"].endswith(f"Signature={signature}")
