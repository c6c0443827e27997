"""`trn drain`: what users started goes, in an order in which it can; what Pulumi made stays Pulumi's."""

import json
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from kubernetes.client import ApiClient, Configuration
from typer.testing import CliRunner

from addons import (
    karpenter,
    kuberay,
    kueue,
    leader_worker_set,
    load_balancer_controller,
    mpi_operator,
    slurm,
    trainer,
    training_operator,
    volcano,
)
from addons.contract import load
from addons.registry import REGISTRY
from addons.training_operator import kinds as training_operator_kinds
from simulator.aws_endpoint.wire import Wire
from tests.support import ROOT
from tests.trn.aws.cloud import ACCOUNT, Cloud
from tests.trn.aws.leftovers import leave_control_plane
from tests.trn.change.owned import stack_of
from tests.trn.ending.draining import Drained, drain
from tests.trn.given import Given
from tests.trn.kubernetes.fake_kubernetes import FakeCluster, busy
from tests.trn.kubernetes.kubernetes_cloud import KubernetesCloud
from tests.trn.stops import stop_after
from trn.app import app
from trn.aws.api import BotoApi
from trn.change.ownership import Consent
from trn.cli.errors import CommandError
from trn.ending.drain.plan import plan_drain
from trn.kubernetes import kinds
from trn.kubernetes.client import Bearer, Forbidden, KubernetesClient, Unreachable, connect, token
from trn.kubernetes.lease import LEASES


def test_queues_close_first_then_jobs_balancers_claims_and_nodes_go():
    """A job that starts while others are deleted would hold its claim; nodes go last, for controllers run on them."""
    cluster = busy()
    assert drain(cluster) == []
    assert cluster.log == [
        "CloseQueue training", "CloseQueue test", "delete Volcano Job bert", "delete Kubernetes Job prepare", "delete Ingress grafana",
        "delete Service tensorboard", "delete PersistentVolumeClaim scratch", "delete NodePool trn",
    ]  # fmt: skip


def test_what_pulumi_or_an_owner_looks_after_is_left_to_them():
    """The stack's claim, its StatefulSet's, system namespaces, and what a controller would only make again."""
    names = {step.target.name for step in plan_drain(busy()).steps if step.kind.verb == "delete"}
    assert not names & {"fsx-claim", "data-etcd-0", "volcano-admission-init", "of-a-cron-job", "etcd-server", "default", "root"}


def test_a_claim_that_a_stateful_set_mounts_stays_with_it():
    """Slurm's queue lies in one that Pulumi made, of a storage class: deleted under its controller it would hang, and its jobs with it."""
    cluster = FakeCluster()
    cluster.put(kinds.CLAIMS, "slurm-state", spec={"storageClassName": "gp3"})
    volumes = [{"name": "state", "persistentVolumeClaim": {"claimName": "slurm-state"}}, {"name": "key", "secret": {}}]
    cluster.put(kinds.STATEFUL_SETS, "slurm-controller", spec={"template": {"spec": {"volumes": volumes}}})
    assert plan_drain(cluster).steps == ()


def test_add_ons_that_are_not_installed_are_named_and_left_out():
    """A cluster without Volcano or Karpenter is drained all the same."""
    cluster = busy()
    for kind in kinds.KINDS:
        if kind.addon in ("Volcano", "Karpenter"):
            del cluster.objects[kind.resource]
    assert plan_drain(cluster).missing == ("Volcano", "Karpenter")
    assert drain(cluster) == []


def test_a_kind_that_an_installed_add_on_lacks_is_left_out_without_a_word():
    """Gateways have CRDs of their own, and an older KubeRay no RayCronJobs."""
    cluster = busy()
    for resource in (load_balancer_controller.GATEWAYS, kuberay.CRON_JOBS):
        del cluster.objects[resource]
    assert plan_drain(cluster).missing == ()


def test_karpenters_instances_are_waited_for():
    """A NodePool is gone before its instances are."""
    cluster = busy()
    assert [str(step.target) for step in plan_drain(cluster).steps if step.kind.verb == "wait for"] == ["NodeClaim trn-abc"]
    cluster.stuck.add("trn")
    assert drain(cluster) == ["NodePool trn", "NodeClaim trn-abc"]


def test_each_object_is_deleted_once_however_long_it_takes():
    """What a finalizer holds is listed at the end, with the finalizer; the nodes go all the same after a while."""
    cluster = busy()
    cluster.stuck.add("scratch")
    cluster.objects[kinds.CLAIMS][0]["metadata"]["finalizers"] = ["kubernetes.io/pvc-protection"]
    (left,) = Drained(cluster).run().report["left"]
    assert (left["object"], left["finalizers"]) == ("PersistentVolumeClaim training/scratch", ["kubernetes.io/pvc-protection"])
    assert cluster.log.count("delete PersistentVolumeClaim scratch") == 1
    assert cluster.log[-1] == "delete NodePool trn"


@pytest.mark.parametrize("kind", [kind for kind in kinds.KINDS if kind.verb == "delete"], ids=lambda kind: kind.resource.kind)
def test_every_kind_that_holds_something_goes(kind: kinds.Kind):
    """And what is an add-on's own, or an owner's, stays with them."""
    cluster, spec = FakeCluster(), {"type": "LoadBalancer", "storageClassName": "gp3"}
    cluster.put(kind.resource, "theirs", spec=spec)
    assert drain(cluster) == []
    assert cluster.log == [f"delete {kind.resource.kind} theirs"]


JOB_KINDS = [kind for kind in kinds.KINDS if kind.verb == "delete" and kind.why.startswith(("makes", "its pods"))]


@pytest.mark.parametrize("kind", JOB_KINDS, ids=lambda kind: kind.resource.kind)
def test_jobs_of_an_add_on_or_of_an_owner_are_theirs(kind: kinds.Kind):
    """A hook of a release is Pulumi's; what has an owner goes with it, and comes back without."""
    cluster = FakeCluster()
    cluster.put(kind.resource, "hook", "kubeflow-system")
    cluster.put(kind.resource, "child", metadata={"ownerReferences": [{"kind": "Workflow"}]})
    assert plan_drain(cluster).steps == ()


def owned(cluster: FakeCluster, *chain: tuple[Any, str]) -> None:
    """Each object owned by the one before."""
    for number, (resource, name) in enumerate(chain):
        references = [{"uid": f"uid-{chain[number - 1][1]}"}] if number else []
        cluster.put(resource, name, metadata={"ownerReferences": references})


@pytest.mark.parametrize(
    "chain",
    [
        ((trainer.TRAIN_JOBS, "bert"), (trainer.JOB_SETS, "bert-set"), (kinds.JOBS, "bert-node-0")),
        ((kuberay.CRON_JOBS, "nightly"), (kuberay.JOBS, "night-1"), (kuberay.CLUSTERS, "night-1-x")),
        ((kuberay.SERVICES, "serve"), (kuberay.CLUSTERS, "serve-x")),
        ((mpi_operator.JOBS, "nccom"), (kinds.JOBS, "nccom-launcher")),
        ((kinds.CRON_JOBS, "nightly"), (kinds.JOBS, "nightly-1")),
        ((volcano.JOB_FLOWS, "flow"), (volcano.JOBS, "flow-first")),
        ((leader_worker_set.DISAGGREGATED_SETS, "split"), (leader_worker_set.LEADER_WORKER_SETS, "split-decode")),
    ],
)
def test_only_the_owner_is_deleted_and_its_children_with_it(chain: tuple[tuple[Any, str], ...]):
    """A child that is deleted alone is made anew by its parent."""
    cluster = FakeCluster()
    owned(cluster, *chain)
    assert drain(cluster) == []
    assert cluster.log == [f"delete {chain[0][0].kind} {chain[0][1]}"]
    assert not any(cluster.objects.values())


def test_kueues_queues_are_held_before_any_job_goes():
    """Quota that a deleted job frees would admit the next one."""
    cluster = FakeCluster()
    cluster.put(kueue.CLUSTER_QUEUES, "training", "")
    cluster.put(kueue.LOCAL_QUEUES, "training")
    cluster.put(kueue.LOCAL_QUEUES, "held", spec={"stopPolicy": "HoldAndDrain"})
    cluster.put(training_operator.PYTORCH_JOBS, "bert")
    assert drain(cluster) == []
    hold = "{'stopPolicy': 'HoldAndDrain'}"
    assert cluster.log == [f"patch ClusterQueue training {hold}", f"patch LocalQueue training {hold}", "delete PyTorchJob bert"]


def test_slurms_node_sets_are_emptied_and_waited_for():
    """They are Pulumi's to delete. A Slurm job that goes on holds its node, and is listed."""
    cluster = FakeCluster()
    for name, replicas in (("trn1", 2), ("empty", 0)):
        cluster.put(slurm.NODE_SETS, name, spec={"replicas": replicas}, status={"replicas": replicas})
    assert drain(cluster) == []
    assert cluster.log == ["patch NodeSet trn1 {'replicas': 0}"]
    cluster = FakeCluster()
    cluster.put(slurm.NODE_SETS, "trn1", status={"replicas": 1})
    cluster.stuck.add("trn1")
    assert drain(cluster) == ["NodeSet training/trn1"]


def test_bindings_that_the_controller_made_go_with_what_it_made_them_for():
    """Deleted alone they would be made anew."""
    cluster = FakeCluster()
    for name, label in (("k8s-a", "service.k8s.aws/stack-name"), ("k8s-b", "ingress.k8s.aws/stack"), ("mine", "team")):
        cluster.put(load_balancer_controller.TARGET_GROUP_BINDINGS, name, metadata={"labels": {label: "x"}})
    assert [step.target.name for step in plan_drain(cluster).steps if step.kind.verb == "delete"] == ["mine"]


def test_what_the_server_refuses_for_now_is_tried_again_and_reported_once():
    """A webhook without a pod, say, or too many requests: the rest goes on meanwhile."""
    cluster, said = busy(), list[str]()
    cluster.refusals = {"bert": [CommandError("500: failed calling webhook")] * 2, "test": [CommandError("429: too many requests")]}
    assert drain(cluster, tell=said.append) == []
    assert [line for line in said if line.startswith("cannot")] == [
        "cannot close Queue test yet: 429: too many requests", "cannot delete Volcano Job training/bert yet: 500: failed calling webhook",
    ]  # fmt: skip
    assert (cluster.log[0], cluster.log.count("delete Volcano Job bert")) == ("CloseQueue training", 1)
    cluster = busy()
    cluster.refusals = {"bert": [CommandError("422: a policy forbids it")] * 100}
    assert drain(cluster) == ["Volcano Job training/bert"]


def test_a_server_that_is_gone_ends_the_drain():
    """It is no refusal of one object."""
    cluster = busy()
    cluster.refusals = {"bert": [Unreachable("does not answer")]}
    with pytest.raises(Unreachable):
        drain(cluster)


class Submitter:
    """A user's script that submits one more job, of another name or the same, while the drain deletes the first."""

    def __init__(self, name: str) -> None:
        self.cluster, self.said, self._name = busy(), list[str](), name
        self._has_submitted = False

    def tell(self, line: str) -> None:
        """Take a line of the drain's."""
        self.said.append(line)
        if line == "deleting Volcano Job training/bert" and not self._has_submitted:
            self._has_submitted = True
            if self._name == "bert":
                self.cluster.objects[volcano.JOBS].clear()
            self.cluster.put(volcano.JOBS, self._name, metadata={"uid": "uid-second"})


@pytest.mark.parametrize("name", ["bert", "gpt"])
def test_a_job_that_appears_while_the_drain_runs_is_left_alone(name: str):
    """It was not in the plan that was confirmed, also where it has the name of one that was; nor do the nodes go that it may run on."""
    made, pauses = Submitter(name), list[float]()
    drained = Drained(made.cluster, pause=pauses.append, tell=made.tell).run()
    assert (drained.new, drained.left) == (
        [f"Volcano Job training/{name}"],
        [f"Volcano Job training/{name}", "NodePool trn", "NodeClaim trn-abc"],
    )
    assert f"deleting Volcano Job training/{name}" not in made.said[made.said.index("deleting Volcano Job training/bert") + 1 :]
    assert made.cluster.objects[volcano.JOBS][0]["metadata"]["uid"] == "uid-second"
    assert len(pauses) < 5, "it waits for what it does not delete"


@pytest.mark.parametrize("name", ["bert", "gpt"])
def test_a_job_that_appears_and_is_agreed_to_goes_too(name: str):
    """It is shown and asked about once."""
    made, asked = Submitter(name), list[str]()
    assert drain(made.cluster, tell=made.tell, consent=Consent(ask=lambda question: asked.append(question) or True)) == []
    assert asked == ["Do these 1 too?"]
    assert made.cluster.log[-1] == "delete NodePool trn"


def test_what_belongs_to_an_object_that_was_confirmed_is_not_asked_about():
    """A controller makes one more Service for the Ray service that is being deleted."""
    cluster, asked = busy(), list[str]()
    cluster.put(kuberay.SERVICES, "serve", metadata={"uid": "uid-of-serve"})

    def tell(line: str) -> None:
        if line.startswith("deleting RayService"):
            owner = {"ownerReferences": [{"uid": "uid-of-serve"}]}
            cluster.put(kinds.SERVICES, "serve-head", spec={"type": "LoadBalancer"}, metadata=owner)

    assert drain(cluster, tell=tell, consent=Consent(ask=lambda question: bool(asked.append(question)))) == []
    assert asked == []


def test_another_object_of_the_name_is_not_deleted_between_a_look_and_the_request():
    """The request names the object by its UID too."""
    cluster = busy()

    def again(line: str) -> None:
        if line == "closing Queue test":
            cluster.objects[volcano.JOBS].clear()
            cluster.put(volcano.JOBS, "bert", metadata={"uid": "uid-second"})

    assert Drained(cluster, tell=again).run().new == ["Volcano Job training/bert"]
    assert "delete Volcano Job bert" not in cluster.log


def test_another_node_set_of_the_name_is_not_emptied():
    """The patch names it by its UID too."""
    cluster = FakeCluster()
    cluster.put(kueue.CLUSTER_QUEUES, "training", "")
    cluster.put(slurm.NODE_SETS, "trn1", spec={"replicas": 2}, status={"replicas": 2})

    def again(line: str) -> None:
        if line.startswith("closing ClusterQueue"):
            cluster.objects[slurm.NODE_SETS].clear()
            cluster.put(slurm.NODE_SETS, "trn1", spec={"replicas": 2}, status={"replicas": 2}, metadata={"uid": "uid-second"})

    assert Drained(cluster, tell=again).run().new == ["NodeSet training/trn1"]
    assert len(cluster.log) == 1


def test_a_job_that_starts_while_the_question_stands_is_seen_before_anything_is_done():
    """There was none, so that the nodes would have gone at once."""
    cluster = busy()
    for resource in cluster.objects:
        if resource not in (karpenter.NODE_POOLS, karpenter.NODE_CLAIMS):
            cluster.objects[resource] = []
    drained = Drained(cluster, Consent(confirm=lambda question: cluster.put(volcano.JOBS, "late"))).run()
    assert cluster.log == []
    assert drained.new == ["Volcano Job training/late"]


def test_what_may_not_be_deleted_stays_and_the_rest_goes(capsys: pytest.CaptureFixture[str]):
    """A 403 is about one kind of object; the API server that knows nobody ends the drain."""
    cluster = busy()
    cluster.refusals["bert"] = [Forbidden("403 Forbidden")] * 99
    assert drain(cluster) == ["Volcano Job training/bert"]


def crowded() -> FakeCluster:
    """One object of every kind, and owners with their children."""
    cluster = busy()
    for kind in kinds.KINDS:
        if not cluster.objects[kind.resource]:
            cluster.put(kind.resource, f"a-{kind.resource.kind.lower()}", spec={"replicas": 1})
    return cluster


@pytest.mark.parametrize("stop_at", range(len(plan_drain(crowded()).steps) - 1))
def test_a_drain_that_was_stopped_is_ended_by_the_next(stop_at: int):
    """After any step."""
    cluster = crowded()
    with pytest.raises(KeyboardInterrupt):
        drain(cluster, tell=stop_after(stop_at))
    assert drain(cluster) == []
    assert plan_drain(cluster).steps == ()


def test_how_far_it_is_is_shown():
    """Ten minutes without a sign would be stopped by hand."""
    shown = list[tuple[int, int]]()
    cluster = busy()
    drain(cluster, show=lambda gone, seen: shown.append((gone, seen)))
    assert shown[0] == (0, 9)
    assert shown == sorted(shown)
    assert shown[-1][0] > 0


def test_the_kinds_are_those_of_the_pinned_add_ons():
    """A group or version that is no longer served is a kind that is silently left out; a namespace too few, a release's own Job gone."""
    served = {crd["name"]: declaration.title for declaration in REGISTRY for chart in declaration.charts for crd in load(chart).crds}
    served |= {f"{kind.plural}.kubeflow.org": "Kubeflow training-operator" for kind in training_operator_kinds.KINDS}
    served["mpijobs.kubeflow.org"] = "MPI operator"
    served["gateways.gateway.networking.k8s.io"] = "AWS Load Balancer Controller"
    for kind in kinds.KINDS:
        if kind.addon:
            assert served[f"{kind.resource.plural}.{kind.resource.path.split('/')[2]}"] == kind.addon
    # The node problem detector's is one that its add-on has by a switch only.
    assert {"kube-system", "volcano-system", "kubeflow", "neuron-healthcheck-system"} < kinds.SYSTEM


def test_versions_are_those_that_the_add_ons_make_their_own_objects_with():
    """They are raised together."""
    versions = {group: kind.split()[0] for declaration in REGISTRY for kind in declaration.kinds for group in [kind.split("/")[0]]}
    same_group = [resource for resource in (kind.resource for kind in kinds.KINDS) if resource.group in versions]
    assert {resource.kind for resource in same_group} == {"Queue", "ClusterQueue", "LocalQueue", "TrainJob", "NodePool", "NodeClaim"}
    assert [resource for resource in same_group if resource.path != f"/apis/{versions[resource.group]}"] == []


def test_the_order_of_the_kinds():
    """Queues, owners before what they own, load balancers, volumes, nodes; a kind declared at the wrong stage fails here."""
    assert [kind.resource.kind for kind in kinds.KINDS] == [
        "Queue", "ClusterQueue", "LocalQueue", "NodeSet",
        "CronJob", "Volcano CronJob", "JobFlow", "RayCronJob", "RayJob", "RayService", "RayCluster",
        "TrainJob", "JobSet", "PyTorchJob", "TFJob", "MPIJob", "DisaggregatedSet", "LeaderWorkerSet", "Volcano Job", "Kubernetes Job",
        "Ingress", "Gateway", "Service", "TargetGroupBinding", "GlobalAccelerator", "PersistentVolumeClaim", "NodePool", "NodeClaim",
    ]  # fmt: skip


def test_every_kind_that_is_not_waited_for_says_how_it_is_acted_on():
    """One that is closed by nothing would be closed for ever."""
    for kind in kinds.KINDS:
        ways = [kind.verb in ("delete", "wait for"), bool(kind.drained.spec), kind.drained.command is not None]
        assert sum(ways) == 1, kind.resource.kind


# The client


class ApiServer(BaseHTTPRequestHandler):
    """Answers by path, and keeps what it was sent."""

    seen: ClassVar[list[tuple[str, str, str, Any]]] = []
    busy: ClassVar[list[int]] = []
    """One entry for each answer that is put off."""

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.seen.append((self.command, self.path, self.headers["Authorization"], json.loads(body) if body else None))
        status = {"/api/v1/services": 200, "/apis/batch/v1/jobs": 403, "/apis/apps/v1/statefulsets": 500}.get(self.path.partition("?")[0])
        if self.busy:
            status = self.busy.pop()
        elif status is None:
            status = 404 if "karpenter" in self.path else 201
        text = json.dumps({"items": [{"metadata": {"name": "a"}}]}).encode()
        self.send_response(status)
        self.send_header("Retry-After", "600")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def do_PATCH(self) -> None:
        self.seen.append(("type", self.headers["Content-Type"], "", None))
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
    assert client.list(karpenter.NODE_POOLS) is None
    assert client.list(kinds.SERVICES, label="trn/verify=train") == [{"metadata": {"name": "a"}}]
    assert client.list(kinds.JOBS, namespace="training") == [{"metadata": {"name": "a"}}]
    paths = [path for _, path, _, _ in ApiServer.seen[-2:]]
    assert paths == ["/api/v1/services?labelSelector=trn%2Fverify%3Dtrain", "/apis/batch/v1/namespaces/training/jobs"]
    assert client.read("/api/v1/services") == {"items": [{"metadata": {"name": "a"}}]}
    assert client.text("/api/v1/services") == '{"items": [{"metadata": {"name": "a"}}]}'
    assert (client.read("/apis/karpenter"), client.text("/apis/karpenter")) == (None, None)
    client.delete(karpenter.NODE_POOLS, "gone")
    client.delete(kinds.CLAIMS, "other", "training", uid="u-1")
    assert ApiServer.seen[-1][-1] == {"propagationPolicy": "Foreground", "preconditions": {"uid": "u-1"}}
    client.delete(LEASES, "trn-bert", "training", uid="u-2")
    assert ApiServer.seen[-1][-1] == {"propagationPolicy": "Background", "preconditions": {"uid": "u-2"}}
    client.delete(kinds.CLAIMS, "scratch", "training")
    client.create(volcano.COMMANDS, "default", {"action": "CloseQueue"})
    client.patch(kueue.CLUSTER_QUEUES, "training", "", {"spec": {}})
    assert ApiServer.seen[-4:] == [
        ("DELETE", "/api/v1/namespaces/training/persistentvolumeclaims/scratch", "Bearer secret", {"propagationPolicy": "Foreground"}),
        ("POST", "/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands", "Bearer secret", {"action": "CloseQueue"}),
        ("type", "application/merge-patch+json", "", None),
        ("PATCH", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/training", "Bearer secret", {"spec": {}}),
    ]
    with pytest.raises(CommandError, match="the cluster knows no NodePool, or no namespace training"):
        client.create(karpenter.NODE_POOLS, "training", {})
    with pytest.raises(Unreachable, match="403"):
        client.list(kinds.JOBS)
    with pytest.raises(CommandError, match="500"):
        client.list(kinds.STATEFUL_SETS)


def test_the_simulated_server_deletes_no_other_object_of_the_name():
    """As the real one, where the request names the object by its UID."""
    cloud = KubernetesCloud()
    cloud.put(kinds.CLAIMS, "scratch", "training", spec={"storageClassName": "gp3"})
    with pytest.raises(CommandError, match="409 Conflict"):
        cloud.client.delete(kinds.CLAIMS, "scratch", "training", uid="of-another")
    (step,) = plan_drain(cloud.client).steps
    cloud.client.delete(kinds.CLAIMS, "scratch", "training", uid=step.uid)
    assert cloud.names(kinds.CLAIMS) == set()


def test_the_simulated_server_changes_no_other_object_of_the_name():
    """Nor where a patch names it so."""
    cloud = KubernetesCloud()
    cloud.put(kinds.CLAIMS, "scratch", "training", spec={"storageClassName": "gp3"})
    (step,) = plan_drain(cloud.client).steps
    for uid in ("of-another", step.uid):
        patch = {"metadata": {"uid": uid}, "spec": {"storageClassName": uid}}
        with pytest.raises(CommandError, match="409 Conflict") if uid == "of-another" else nullcontext():
            cloud.client.patch(kinds.CLAIMS, "scratch", "training", patch)
    assert [item["spec"]["storageClassName"] for item in cloud.client.list(kinds.CLAIMS) or ()] == [step.uid]


def test_what_the_server_puts_off_is_asked_again(server: str, monkeypatch: pytest.MonkeyPatch):
    """With longer pauses, and not for ever; the client's own library would sleep for as long as the server says."""
    pauses = list[float]()
    monkeypatch.setattr("time.sleep", pauses.append)
    entry = {"name": "train", "endpoint": server, "certificateAuthority": {"data": "Q0E="}}
    client = connect(BotoApi("us-west-2", Wire().session()), entry)
    client._client.configuration.ssl_ca_cert = None
    client = KubernetesClient(ApiClient(client._client.configuration), lambda: "secret")
    ApiServer.busy[:] = [429, 429]
    assert client.list(kinds.SERVICES) == [{"metadata": {"name": "a"}}]
    assert pauses == [1, 2]
    ApiServer.busy[:] = [429] * 5
    with pytest.raises(CommandError, match="429"):
        client.list(kinds.SERVICES)
    assert pauses[2:] == [1, 2, 4, 8]


def test_a_server_that_is_gone_is_reported():
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
    assert client._bearer is not None
    assert client._bearer().startswith("k8s-aws-v1.")


# The command


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, given: Given) -> FakeCluster:
    """The shipped stack's cluster, at work."""
    monkeypatch.chdir(ROOT)
    made, cloud = busy(), Cloud()
    leave_control_plane(cloud, "trainium-dev")
    cloud.of("cluster")["trainium-dev"]["endpoint"] = "https://example"
    given.api, given.cluster, given.engine = cloud.api, made, stack_of("trainium-dev")
    monkeypatch.setattr("time.sleep", lambda _: None)
    return made


def trn(*arguments: str, answer: str = "") -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(app, ["drain", *arguments], input=answer)
    return result.exit_code, result.stdout, result.stderr


def test_the_command_shows_asks_and_drains(cluster: FakeCluster, tmp_path: Path):
    """No means no; a second run finds nothing to do."""
    code, _, err = trn("dev", answer="n\n")
    assert (code, cluster.log) == (1, [])
    listed, _, asked = err.partition(f"Go on in trainium-dev in us-west-2, account {ACCOUNT}: close 2, delete 6?")
    assert ("  close Queue test: a job in it would start again" in listed, "  delete NodePool trn" in listed, "[y/N]" in asked) == (
        True,
    ) * 3
    code, out, _ = trn("dev", "--yes", "--json", str(tmp_path / "drain.json"))
    assert (code, out) == (0, "drained: the cluster is idle\n")
    data = json.loads((tmp_path / "drain.json").read_text())
    assert (data["closed"], data["emptied"], data["left"]) == (["Queue training", "Queue test"], [], [])
    assert len(data["deleted"]) == 6
    assert trn("dev")[0] == 0


@pytest.mark.parametrize(("answer", "code"), [("y\ny\n", 0), ("y\nn\n", 1), ("", 1)])
def test_what_appears_meanwhile_is_asked_about_or_reported(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch, answer: str, code: int):
    """With --yes, here without an answer, it stays, is reported, and the exit code says so."""
    really, submitted = cluster.delete, list[str]()

    def delete(resource: Any, name: str, namespace: str = "", *, uid: str = "") -> None:
        really(resource, name, namespace, uid=uid)
        if name == "bert" and not submitted:
            submitted.append(name)
            cluster.put(volcano.JOBS, "late")

    monkeypatch.setattr(cluster, "delete", delete)
    ended, out, err = trn("dev", *([] if answer else ["--yes"]), answer=answer)
    assert ended == code
    for said in ("not confirmed yet: delete Volcano Job training/late", "Do these 1 too?"):
        assert (said in err) == bool(answer)
    assert [item["metadata"]["name"] for item in cluster.objects[volcano.JOBS]] == ([] if code == 0 else ["late"])
    if code:
        assert "left Volcano Job training/late: it appeared after the plan was confirmed, and was left alone" in out
        assert "left NodePool trn: what appeared after the plan was confirmed may run on its nodes" in out
        assert trn("dev", "--yes")[0] == 0


def test_a_cluster_of_which_a_part_was_not_seen_is_not_called_idle(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch):
    """Whoever typed the name went on without it; it is not known to be empty."""
    really = cluster.list

    def listed(resource: Any, *given: Any, **named: Any) -> Any:
        if resource == kinds.JOBS:
            raise Forbidden("403 Forbidden")
        return really(resource, *given, **named)

    monkeypatch.setattr(cluster, "list", listed)
    code, out, _ = trn("dev", answer="trainium-dev\ny\n")
    assert (code, "idle" in out) == (0, False)
    assert out.endswith("which Kubernetes Jobs there are is not known: 403 Forbidden\ndrained as far as it was seen\n")


def test_what_stays_makes_the_exit_code_1(cluster: FakeCluster):
    """And is named."""
    cluster.stuck |= {"bert", "scratch"}
    cluster.objects[kinds.CLAIMS][0]["metadata"]["finalizers"] = ["kubernetes.io/pvc-protection"]
    for kind in (kind for kind in kinds.KINDS if kind.addon == "Karpenter"):
        del cluster.objects[kind.resource]
    code, out, err = trn("dev", "--yes", "--json", "-")
    assert (code, "not installed in trainium-dev, going on without: Karpenter\n" in err) == (1, True)
    assert "left Volcano Job training/bert: its controller has not answered" in err
    assert "left PersistentVolumeClaim training/scratch: finalizer kubernetes.io/pvc-protection" in err
    assert json.loads(out)["left"][1]["finalizers"] == ["kubernetes.io/pvc-protection"]


def test_no_cluster_is_misuse(monkeypatch: pytest.MonkeyPatch, given: Given):
    """One line, and where to look."""
    monkeypatch.chdir(ROOT)
    given.api, given.engine = Cloud().api, stack_of("trainium-dev")
    code, _, err = trn("dev")
    assert (code, "error: there is no cluster `trainium-dev` in us-west-2" in err) == (2, True)
