"""`trn verify`: a good cluster passes, each fault fails its own test, and whatever happens nothing of it stays."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from addons import volcano
from facts.device_claims import counted
from facts.kubernetes_kinds import Resource
from tests.support import ROOT
from tests.trn.change.owned import FakePulumi, hold, state, subject
from tests.trn.given import Given
from tests.trn.kubernetes.healthy_cluster import CLAIM, ETCD, GROUP, LOGS, NAME, Healthy
from tests.trn.running.test_status import by_claims, of
from trn.app import app
from trn.change.consent import Person
from trn.change.executor import carry_out
from trn.change.ownership import Consent
from trn.change.whose import Site
from trn.cli.findings import Finding, failed, passed, skipped, warned
from trn.kubernetes import kinds
from trn.kubernetes.client import Unreachable
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.kinds import NODES
from trn.rights import WITH_CLAIMS
from trn.running.status.checks import CHECKS
from trn.running.verify.change import CLEARING_S, TRIALS, Verify, verdict
from trn.running.verify.jobs import CLUSTER_LABEL, TEST_LABEL


class Time:
    """Passes while somebody sleeps, and at no other time."""

    def __init__(self) -> None:
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def tried(healthy: Healthy, names: list[str], *, time: Time | None = None, image: str | None = "train:1") -> list[Finding]:
    """Findings of some tests."""
    clock = time or Time()
    change = Verify("dev", healthy.settings, "small:1", image, [], names, clock=lambda: clock.now)
    pulumi, about, said = FakePulumi(state(NAME)), subject(NAME), list[Any]()
    site = Site(healthy.cloud.api, pulumi, about, lambda: healthy.cluster, clock.sleep, said.append, said.append)
    carry_out(change, site, Person(Consent(), said.append))
    return change.findings


def trial(healthy: Healthy, name: str) -> list[Finding]:
    """Findings of one test; nothing of it may be left."""
    found = tried(healthy, [name])
    assert left(healthy) == []
    return found


def log(healthy: Healthy) -> list[str]:
    """What was made and deleted, but for the lock."""
    return [line for line in healthy.cluster.log if "Lease" not in line]


def left(healthy: Healthy) -> list[str]:
    """Everything that carries a label of ours, after what goes by itself."""
    for resource in (kinds.JOBS, volcano.JOBS, PODS) * 2:
        healthy.cluster.list(resource)
    return [
        item["metadata"]["name"]
        for resource in (kinds.JOBS, volcano.JOBS, PODS)
        for item in healthy.cluster.objects.get(resource, ())
        if item["metadata"].get("labels", {}).keys() & {CLUSTER_LABEL, TEST_LABEL}
    ]


def test_a_healthy_cluster_is_ready():
    """Two nodes of the first group, and none of the second."""
    healthy = Healthy()
    found = tried(healthy, list(TRIALS))
    assert found == [
        passed("driver", "node-1, node-2: driver 2.27.4.0 runs images of xla-2.30, runtime 2.32.31"),
        passed("throughput", "one pod wrote 240 and read 612 MB/s; 1200 GiB at 125 MB/s per TiB give 146"),
        passed("gang", "2 pods ran at once on 2 x trn1.32xlarge, each with all devices of its node (queue training)"),
        passed(
            "collectives",
            "trn1-32xl, 2 x trn1.32xlarge, 64 ranks: all-reduce of 1 GiB at 25.7 GB/s (algorithm bandwidth); AWS's example of two such nodes"
            " shows 25.7, the interfaces carry 100 at most (a bound, not a promise)",
        ),
    ]
    assert left(healthy) == []
    names = ["Kubernetes Job trn-verify-driver", "Kubernetes Job trn-verify-throughput"]
    names += ["Volcano Job trn-verify-gang", "Volcano Job trn-verify-collectives-0"]
    assert log(healthy) == [f"{verb} {name}" for name in names for verb in ("create", "delete")]


def _without_room(it: Healthy) -> None:
    it.nodes[1]["status"]["allocatable"]["aws.amazon.com/neuron"] = "15"


def _partly(it: Healthy) -> None:
    it.cluster.never_starts["trn-verify-gang-group-0-1"] = "ContainerCreating"


def _second_fails(it: Healthy) -> None:
    it.cluster.fails.add("trn-verify-collectives-0-worker-1")
    it.cluster.stays.add("trn-verify-collectives-0-worker-0")


def _slow(write: float, read: float) -> str:
    return json.dumps({"type": "lustre", "write_mb_per_s": write, "read_mb_per_s": read})


FAULTS: list[tuple[str, str, Callable[[Healthy], Any], str]] = [
    ("driver", "fail", lambda it: it.cluster.logs.update({"trn-verify-driver": "2.29.0.0"}), "need runtime 2.33 or later"),
    ("driver", "fail", lambda it: it.cluster.logs.update({"trn-verify-driver": "2.25.4.0"}), "need a driver newer than 2.26"),
    ("driver", "fail", lambda it: it.cluster.logs.update({"trn-verify-driver-1": "cat: no such file"}), "node-2: the Neuron driver is not loaded"),
    (
        "driver", "fail", lambda it: it.cluster.never_starts.update({"trn-verify-driver-1": "ImagePullBackOff"}),
        "could not check node-2 within 180 s: trn-verify-driver-0 Succeeded; trn-verify-driver-1 Pending: ImagePullBackOff",
    ),
    ("driver", "fail", lambda it: it.cluster.fails.add("trn-verify-driver-0"), "trn-verify-driver-0 Failed: exit code 1"),
    ("driver", "fail", lambda it: setattr(it.cluster, "refuses", "403 Forbidden"), "could not check: 403 Forbidden"),
    ("throughput", "warn", lambda it: it.cluster.logs.update({"trn-verify-throughput": _slow(70, 600)}), "wrote 70 and read 600 MB/s"),
    ("throughput", "warn", lambda it: it.cluster.logs.update({"trn-verify-throughput": _slow(600, 70)}), "give 146: less than 50% of it"),
    ("throughput", "fail", lambda it: it.cluster.logs.update({"trn-verify-throughput": _slow(1, 1).replace("lustre", "xfs")}), "mounts xfs, not"),
    ("throughput", "fail", lambda it: it.cluster.logs.update({"trn-verify-throughput": "nonsense"}), "could not check: the answer makes no sense"),
    (
        "throughput", "fail", lambda it: it.cluster.fails.add("trn-verify-throughput"),
        "a pod could not write and read: trn-verify-throughput-0 Failed: exit code 1: ",
    ),
    (
        "throughput", "fail", lambda it: it.cluster.never_starts.update({"trn-verify-throughput": "ContainerCreating"}),
        "no pod could write and read within 300 s: trn-verify-throughput-0 Pending: ContainerCreating",
    ),
    ("throughput", "fail", lambda it: it.cloud.of("fsx").clear(), "there is no Lustre file system with the cluster's tag"),
    ("gang", "fail", _without_room, "0 of 2 pods ran at once on 2 x trn1.32xlarge within 300 s (queue training): trn-verify-gang-group-0-0 Pending"),
    ("gang", "fail", _partly, "1 of 2 pods ran at once"),
    ("collectives", "fail", lambda it: it.cluster.fails.add("trn-verify-collectives-0-worker-0"), "nccom-test failed: trn-verify-collectives-0-worker-0"),
    ("collectives", "fail", _second_fails, "nccom-test failed: trn-verify-collectives-0-worker-1 Failed: exit code 1"),
    (
        "collectives", "fail",
        lambda it: it.cluster.logs.update({"trn-verify-collectives-0": "nrt_init failed\n 1073741824   Failure running neuron-bench\n1 errors found"}),
        "Succeeded: nrt_init failed | 1073741824   Failure running neuron-bench | 1 errors found",
    ),
    (
        "collectives", "warn",
        lambda it: it.cluster.logs.update({"trn-verify-collectives-0": LOGS["trn-verify-collectives-0"].replace("23.92", "13.88")}),
        "at 14.9 GB/s (algorithm bandwidth); AWS's example",
    ),
    (
        "collectives", "fail", lambda it: it.cluster.never_starts.update({"trn-verify-collectives-0": "ErrImagePull"}),
        "no end within 1800 s: trn-verify-collectives-0-worker-0 Pending: ErrImagePull",
    ),
    (
        "collectives", "fail", lambda it: it.cluster.stays.add("trn-verify-collectives-0-worker-0"),
        "trn-verify-collectives-0-worker-1 Running; the first said: size(B)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("check", "word", "broken", "says"), FAULTS, ids=[f"{check} {says[:40]}" for check, _, _, says in FAULTS])
def test_each_fault_is_reported_by_its_own_test(check: str, word: str, broken: Callable[[Healthy], Any], says: str):
    """One finding for one fault, with what to do; the others still pass."""
    healthy = Healthy()
    broken(healthy)
    found = [finding for finding in trial(healthy, check) if finding.verdict != "pass"]
    assert [(finding.check, finding.verdict) for finding in found] == [(check, word)]
    assert says in found[0].what
    assert found[0].do


@pytest.mark.parametrize(
    ("changes", "check", "says"),
    [
        ({"addons": {"volcano": {"enabled": False}}}, "gang", "Volcano is off"),
        ({"addons": {"volcano": {"enabled": False}}}, "collectives", "Volcano is off"),
        ({"addons": {"efa": {"enabled": False}}}, "collectives", "the add-ons of Neuron or EFA are off"),
        ({"storage": {"lustre": {"enabled": False}}}, "throughput", "the file system is off"),
        (
            {"addons": {"slurm": {"enabled": True, "nodeGroups": ["trn1-32xl"]}, "certManager": {"enabled": True}}},
            "gang",
            "no Neuron node is up for",
        ),
    ],
)
def test_what_is_not_there_is_said_and_skipped(changes: dict[str, Any], check: str, says: str):
    """A cluster without an add-on is no broken cluster, and nothing is started in it."""
    healthy = of(**changes)
    (finding,) = trial(healthy, check)
    assert (finding.verdict, says in finding.what) == ("skip", True)
    assert healthy.cluster.log == []


def test_a_gang_by_claims_claims_every_device_of_every_node():
    """Its template is the Job's, and goes with it; the pods ask no plug-in for anything."""
    healthy = by_claims()
    assert {finding.verdict for finding in trial(healthy, "gang")} == {"pass"}
    (started,) = healthy.cluster.started
    (task,) = started["spec"]["tasks"]
    (claim,) = task["template"]["spec"]["resourceClaims"]
    place = "/apis/resource.k8s.io/v1/namespaces/training/resourceclaimtemplates/" + claim["resourceClaimTemplateName"]
    template = healthy.cluster.served[place]
    assert counted(template["spec"]["spec"]) == {"deviceclass/neuron.aws.com": 16, "deviceclass/efa.networking.k8s.aws": 8}
    assert template["metadata"]["ownerReferences"][0]["name"] == started["metadata"]["name"]
    assert "/" not in "".join(task["template"]["spec"]["containers"][0]["resources"]["limits"])
    assert WITH_CLAIMS["verify"].keys() >= {"resourceclaimtemplates.resource.k8s.io"}


def test_a_cluster_scaled_to_nothing_still_tries_its_file_system():
    """On any node: there is no Neuron node to try anything else on."""
    healthy = Healthy()
    healthy.cluster.objects[NODES] = [{"metadata": {"name": "core", "labels": {}}}]
    found = {name: trial(healthy, name)[0].verdict for name in TRIALS}
    assert found == {"driver": "skip", "throughput": "pass", "gang": "skip", "collectives": "skip"}


def test_devices_that_a_job_holds_are_not_waited_for():
    """A gang of everything would queue behind the job, or take its nodes when it ends."""
    healthy = Healthy()
    resources = {"limits": {"aws.amazon.com/neuron": "16"}}
    for name, phase in (("done-0", "Succeeded"), ("bert-0", "Running")):
        spec = {"nodeName": "node-1", "containers": [{"resources": resources}]}
        healthy.cluster.put(PODS, name, "research", spec=spec, status={"phase": phase})
    healthy.cluster.put(PODS, "log-0", "research", spec={"nodeName": "node-1", "containers": [{}]}, status={"phase": "Running"})
    healthy.cluster.put(
        PODS, "far-0", "research", spec={"nodeName": "core", "containers": [{"resources": resources}]}, status={"phase": "Running"}
    )
    for check in ("gang", "collectives"):
        (finding,) = trial(healthy, check)
        assert (finding.verdict, finding.what) == ("fail", "could not check: research/bert-0 hold Neuron devices")
    assert [trial(healthy, check)[0].verdict for check in ("driver", "throughput")] == ["pass", "pass"]


def test_without_an_image_there_is_no_collective_test():
    """Could not check is a failure, never a pass."""
    healthy = Healthy()
    (finding,) = tried(healthy, ["collectives"], image=None)
    assert (finding.verdict, "no image with nccom-test is known" in finding.what, "--image" in finding.do) == ("fail", True, True)


def test_a_toolchain_that_is_not_configured_is_not_guessed():
    """A warning, and each driver once."""
    healthy = of(training={"toolchain": None})
    healthy.cluster.logs["trn-verify-driver-1"] = "2.29.0.0"
    found = trial(healthy, "driver")
    assert [(item.verdict, item.what.partition(";")[0]) for item in found] == [
        ("warn", "node-1: driver 2.27.4.0"),
        ("warn", "node-2: driver 2.29.0.0"),
    ]


def test_one_node_is_tried_alone_and_compared_with_nothing():
    """No figure is published for one node."""
    healthy = Healthy()
    healthy.cluster.objects[NODES].pop(1)
    (finding,) = trial(healthy, "collectives")
    assert finding.what == (
        "trn1-32xl, 1 x trn1.32xlarge, 32 ranks: all-reduce of 1 GiB at 25.7 GB/s (algorithm bandwidth), within one node;"
        " no figure is published to compare with"
    )


def test_a_group_without_efa_is_tried_within_a_node():
    """trn1.2xlarge has none."""
    healthy = of(nodeGroups={GROUP: {"instanceType": "trn1.2xlarge", "size": 2}})
    for node in healthy.nodes:
        node["status"]["allocatable"] = {"aws.amazon.com/neuron": "1"}
    found = trial(healthy, "collectives")
    assert [(item.verdict, item.what[:40]) for item in found] == [
        ("skip", "trn1-32xl has no EFA: only within one of"),
        ("pass", "trn1-32xl, 1 x trn1.2xlarge, 2 ranks: al"),
    ]


# Nothing stays


def test_what_a_killed_run_left_goes_first_and_what_is_others_stays():
    """By the exact label, with the cluster's exact name."""
    healthy = Healthy()
    cluster = healthy.cluster
    for name, labels in (
        ("trn-verify-old", {CLUSTER_LABEL: NAME}),
        ("trn-verify-theirs", {CLUSTER_LABEL: f"{NAME}-2"}),
        ("trn-verify-mine", {}),
    ):
        cluster.put(volcano.JOBS, name, metadata={"labels": labels})
    cluster.put(
        PODS,
        "trn-verify-old-0",
        metadata={"labels": {CLUSTER_LABEL: NAME, TEST_LABEL: "trn-verify-old"}, "owner": "trn-verify-old"},
        status={},
        spec={"containers": []},
    )
    assert tried(healthy, ["driver"])[0].verdict == "pass"
    assert log(healthy)[0] == "delete Volcano Job trn-verify-old"
    assert [line for line in cluster.log if "theirs" in line or "mine" in line] == []
    assert left(healthy) == ["trn-verify-theirs"]


def test_what_does_not_go_is_reported_and_nothing_starts_beside_it():
    """Its pods may hold the devices."""
    healthy = Healthy()
    healthy.cluster.put(kinds.JOBS, "trn-verify-old", metadata={"labels": {CLUSTER_LABEL: NAME}})
    healthy.cluster.stuck.add("trn-verify-old")
    time = Time()
    first, second = tried(healthy, ["gang"], time=time)
    assert first == failed("gang", "could not check: what was started before is in the way", "see clean-up")
    assert second.what == "Kubernetes Job training/trn-verify-old is still there"
    assert log(healthy) == ["delete Kubernetes Job trn-verify-old"]
    assert CLEARING_S <= time.now < CLEARING_S + 10


def test_what_a_test_cannot_remove_is_a_failure_of_its_own():
    """The test itself has passed."""
    healthy = Healthy()
    healthy.cluster.stuck.add("trn-verify-gang")
    found = tried(healthy, ["gang", "collectives"])
    assert [(item.check, item.verdict) for item in found[:1] + found[2:3]] == [("gang", "pass"), ("clean-up", "fail")]


def test_a_pod_of_an_earlier_run_is_waited_for():
    """Its Job is gone, and it holds the devices of its node."""
    healthy, time = Healthy(), Time()
    labels = {CLUSTER_LABEL: NAME, TEST_LABEL: "trn-verify-gang"}
    healthy.cluster.put(
        PODS, "trn-verify-gang-group-0-0", metadata={"labels": labels}, spec={"containers": [{"command": ["sleep"]}], "nodeName": "node-1"}
    )
    found = tried(healthy, ["driver", "gang"], time=time)
    assert [item.verdict for item in found] == ["fail"] * 3
    assert (log(healthy), found[-1].what) == ([], "Pod training/trn-verify-gang-group-0-0 is still there")
    assert CLEARING_S <= time.now < CLEARING_S + 10


def test_a_job_of_the_name_that_is_anothers_stays():
    """Whoever made it after the look: it has no sign of this run."""
    healthy = Healthy()
    healthy.cluster.put(kinds.JOBS, "trn-verify-driver", spec={"parallelism": 1})
    healthy.cluster.objects[kinds.JOBS][-1]["metadata"]["labels"] = {CLUSTER_LABEL: "other"}
    (finding,) = tried(healthy, ["driver"])
    assert finding.what == "could not check: this run did not make Kubernetes Job training/trn-verify-driver"
    assert log(healthy) == []


def test_a_job_of_the_name_that_was_made_after_the_look_stays(monkeypatch: pytest.MonkeyPatch):
    """The label alone is no sign of this run: its own Jobs bear its token."""
    healthy = Healthy()
    really = healthy.cluster.make

    def make(resource: Resource, namespace: str, body: dict[str, Any]) -> Any:
        if resource == kinds.JOBS:
            healthy.cluster.put(kinds.JOBS, "trn-verify-driver", metadata={"labels": {CLUSTER_LABEL: NAME}})
            raise KeyboardInterrupt
        return really(resource, namespace, body)

    monkeypatch.setattr(healthy.cluster, "make", make)
    with pytest.raises(KeyboardInterrupt):
        tried(healthy, ["driver"])
    assert log(healthy) == []


def test_a_job_that_took_the_devices_meanwhile_is_not_waited_for(monkeypatch: pytest.MonkeyPatch):
    """It is looked for again right before: the tests before have taken their time."""
    healthy = Healthy()
    really = healthy.cluster.text

    def text(path: str, **given: Any) -> Any:
        if "bert-0" not in [pod["metadata"]["name"] for pod in healthy.cluster.objects[PODS]]:
            spec = {"nodeName": "node-1", "containers": [{"resources": {"limits": {"aws.amazon.com/neuron": "16"}}}]}
            healthy.cluster.put(PODS, "bert-0", "research", spec=spec, status={"phase": "Running"})
        return really(path, **given)

    monkeypatch.setattr(healthy.cluster, "text", text)
    found = tried(healthy, ["driver", "gang"])
    assert [item.what for item in found][1:] == ["could not check: research/bert-0 hold Neuron devices"]
    assert "create Volcano Job trn-verify-gang" not in log(healthy)


@pytest.mark.parametrize("look", range(1, 8))
@pytest.mark.parametrize("name", list(TRIALS))
def test_ctrl_c_removes_what_was_started(name: str, look: int):
    """Whenever it comes: before anything runs, while it runs, and while it is being removed."""
    healthy = Healthy()

    def interrupted(seen: int) -> None:
        if seen == look:
            raise KeyboardInterrupt

    healthy.cluster.on_look = interrupted
    with pytest.raises(KeyboardInterrupt):
        tried(healthy, [name])
    made, gone = ([line.split(" ", 1)[1] for line in log(healthy) if line.startswith(verb)] for verb in ("create", "delete"))
    assert made == gone


def test_ctrl_c_while_it_is_being_removed_asks_once_more(monkeypatch: pytest.MonkeyPatch):
    """The request may not have gone out."""
    healthy, tries = Healthy(), list[str]()
    really = healthy.cluster.delete

    def delete(resource: Resource, name: str, namespace: str = "", **given: Any) -> None:
        tries.append(name)
        if len(tries) == 1:
            raise KeyboardInterrupt
        really(resource, name, namespace, **given)

    monkeypatch.setattr(healthy.cluster, "delete", delete)
    with pytest.raises(KeyboardInterrupt):
        tried(healthy, ["driver"])
    assert log(healthy)[-1] == "delete Kubernetes Job trn-verify-driver"


def test_a_bug_removes_what_was_started_too(monkeypatch: pytest.MonkeyPatch):
    """And is not hidden."""
    healthy = Healthy()
    monkeypatch.setattr(healthy.cluster, "text", lambda path: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        tried(healthy, ["driver"])
    assert log(healthy)[-1] == "delete Kubernetes Job trn-verify-driver"


def test_a_server_that_is_gone_in_the_middle_is_a_failure_and_says_what_may_be_there(monkeypatch: pytest.MonkeyPatch):
    """Jobs end by themselves; the next run removes them."""
    healthy = Healthy()

    def gone(seen: int) -> None:
        if seen > 2:
            raise Unreachable("the API server does not answer")

    healthy.cluster.on_look = gone
    found = tried(healthy, ["driver"])
    assert [(item.check, item.what) for item in found] == [
        ("driver", "could not check: the API server does not answer"),
        ("clean-up", "could not check: the API server does not answer"),
    ]


# The verdict and the command


@pytest.mark.parametrize(
    ("findings", "says"),
    [
        ([passed("a", "x")], "c is ready for training"),
        ([passed("a", "x"), skipped("b", "x"), skipped("b", "x")], "c is ready for training; not tried: b"),
        ([warned("a", "x", "y"), skipped("b", "x")], "c is ready for training; look at a; not tried: b"),
        ([failed("a", "x", "y"), failed("d", "x", "y"), warned("b", "x", "y")], "c is not ready for training: a, d failed"),
    ],
)
def test_the_verdict_is_a_sentence(findings: list[Finding], says: str):
    """What was not tried is part of it."""
    assert verdict("c", findings) == says


@pytest.fixture
def healthy(monkeypatch: pytest.MonkeyPatch, given: Given) -> Iterator[Healthy]:
    """The shipped stack, up."""
    monkeypatch.chdir(ROOT)
    made = Healthy()
    given.api, given.cluster = made.cloud.api, made.cluster
    hold(given, "trainium-dev")
    monkeypatch.setattr("time.sleep", lambda _: None)
    yield made
    assert left(made) == []


def trn(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(app, ["verify", "dev", *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_the_command_looks_and_tries_and_writes_its_files(healthy: Healthy, tmp_path: Path):
    """Everything of `trn status`, then the tests."""
    files = tmp_path / "new" / "verify.xml", tmp_path / "verify.json"
    code, out, err = trn("--junit", str(files[0]), "--json", str(files[1]))
    assert (code, out.splitlines()[-1]) == (0, "trainium-dev is ready for training")
    suite = ElementTree.parse(files[0]).getroot()
    assert suite.attrib["name"] == "trn verify dev"
    assert list(dict.fromkeys(case.attrib["classname"] for case in suite)) == [*CHECKS, *TRIALS]
    result = json.loads(files[1].read_text())
    assert (result["healthy"], result["verdict"]) == (True, "trainium-dev is ready for training")
    assert "starting trn-verify-gang\ntrn-verify-gang: 2 Pending\nremoving" in err
    assert (result["command"], result["end"], len(result["done"])) == ("verify dev", "done", 2 * len(TRIALS))
    images = {pod["image"] for body in healthy.cluster.started for pod in _containers(body)}
    assert images == {
        "public.ecr.aws/docker/library/python:3.13.7-alpine3.22",
        "public.ecr.aws/neuron/pytorch-training-neuronx:2.9.0-neuronx-py312-sdk2.30.0-ubuntu24.04",
    }


def _containers(body: dict[str, Any]) -> list[dict[str, Any]]:
    tasks = body["spec"].get("tasks") or [body["spec"]]
    return [container for task in tasks for container in task["template"]["spec"]["containers"]]


def test_a_fault_of_either_kind_is_exit_code_1(healthy: Healthy):
    """One that status sees, and one that only shows when something runs."""
    del healthy.cluster.served[ETCD]
    healthy.cluster.logs["trn-verify-driver"] = "2.29.0.0"
    code, out, _ = trn()
    assert (code, out.splitlines()[-1]) == (1, "trainium-dev is not ready for training: etcd, driver failed")


def test_only_what_was_asked_for_is_done(healthy: Healthy):
    """With an image of one's own."""
    code, out, _ = trn("--only", "collectives", "--only", "queues", "--image", "mine:1", "--json", "-")
    assert {item["check"] for item in json.loads(out)["findings"]} == {"collectives", "queues"}
    assert code == 0
    (body,) = healthy.cluster.started
    assert _containers(body)[0]["image"] == "mine:1"
    healthy.cluster.log.clear()
    assert trn("--only", "queues")[0] == 0
    assert healthy.cluster.log == []


def test_a_check_that_is_not_there_is_misuse(healthy: Healthy):
    """With those that are."""
    code, _, err = trn("--only", "gangs")
    assert (code, "there is no check `gangs`" in err, "driver, throughput, gang, collectives" in err) == (2, True, True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_cancelled_pipeline_leaves_nothing(healthy: Healthy, number: signal.Signals):
    """It is taken for Ctrl-C while something runs, and for itself afterwards."""
    before = signal.getsignal(number)
    healthy.cluster.on_look = lambda look: os.kill(os.getpid(), number) if look == 6 else None
    code, _, err = trn("--only", "gang")
    assert (code, err.splitlines()[-1].partition(":")[0]) == (130, "interrupted")
    assert "create Volcano Job trn-verify-gang" in healthy.cluster.log
    assert signal.getsignal(number) is before


def test_no_cluster_is_misuse(healthy: Healthy):
    """As with every command."""
    healthy.cloud.of("cluster").clear()
    assert trn()[0] == 2


def test_a_claim_that_is_not_bound_is_reported_by_what_status_looks_at(healthy: Healthy):
    """Nothing is checked twice."""
    healthy.cluster.served[CLAIM]["status"]["phase"] = "Pending"
    code, out, _ = trn("--only", "file system")
    assert (code, "claim training/fsx-claim is Pending" in out) == (1, True)
