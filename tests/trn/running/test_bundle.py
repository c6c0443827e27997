"""`trn bundle`: everything that can be read, no secret of it, and as far as it can where things are broken."""

import json
import os
import re
import shutil
import stat
import tarfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import NoCredentialsError
from typer.testing import CliRunner

from addons import volcano
from tests.support import copy_project
from tests.trn.aws.cloud import ACCOUNT
from tests.trn.change.owned import ROOT_URN, FakePulumi, cluster_arn
from tests.trn.given import Given
from tests.trn.kubernetes.healthy_cluster import NAME, Healthy
from trn.app import app
from trn.aws.identity import Caller
from trn.cli.errors import CommandError
from trn.cli.findings import passed
from trn.cli.parallel import in_time
from trn.engine.pulumi import PulumiCli
from trn.kubernetes.client import Unreachable
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.jobs.look import EVENTS, POD_GROUPS
from trn.rights import RIGHTS
from trn.running.bundle import writing
from trn.running.bundle.archive import write_new
from trn.running.bundle.cluster import OBJECTS
from trn.running.bundle.redact import Redactor

CANARIES = {
    "stack-file.yaml": ("stackSecure1", "stackPlain2", "AKIAIOSFODNN7STACK33"),
    "pulumi/resources.json": ("pendingUrn4",),
    "pulumi/outputs.json": ("outputCipher5", "kubeconfigToken6"),
    "aws/node-groups.json": ("groupLabel7",),
    "aws/caller.json": ("callerPass8",),
    "aws/quotas.txt": ("quotaUrl9",),
    "cluster/status.txt": ("statusToken10",),
    "cluster/events.json": ("eventPass11",),
    "cluster/pods.json": ("podEnv12", "podArg13", "podAnnotation14"),
    "cluster/objects/nodes.json": ("nodeNote15",),
    "cluster/objects/jobs.batch.volcano.sh.json": ("jobApplied16", "jobArg17"),
    "cluster/objects/queues.scheduling.volcano.sh.json": ("queueNote18",),
    "logs/failed/training/bert-0.work.log": ("failedPem19", "podEnv12", "fromShell20"),
    "logs/failed/training/bert-0.work.previous.log": ("previousToken21",),
    "logs/controllers/volcano-system/volcano-controllers-1.main.log": ("controllerUrl22",),
    "index.md": ("reasonPass23",),
}
"""What is hidden in each part of the bundle of `planted`."""


class Planted(Healthy):
    """The shipped stack, up, with a job that failed, and a secret in everything that is read."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.root = root
        file = root / "Pulumi.dev.yaml"
        file.write_text(
            file.read_text() + "  other:password:\n    secure: AAABstackSecure1\n  other:apiKey: stackPlain2\n  # AKIAIOSFODNN7STACK33\n"
        )
        kubeconfig = json.dumps({"users": [{"user": {"token": "kubeconfigToken6"}}]})
        outputs = {
            "clusterName": NAME, "region": "us-west-2", "clusterArn": cluster_arn(NAME), "kubeconfig": kubeconfig,
            "hidden": {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "outputCipher5"},
        }  # fmt: skip
        resource = {"urn": f"{ROOT_URN}-https://me:pendingUrn4@host", "type": "pulumi:pulumi:Stack", "outputs": outputs}
        self.pulumi = FakePulumi({"deployment": {"resources": [resource]}})
        self.group["labels"] = {"example.com/password": "groupLabel7"}
        self.cluster.objects |= {EVENTS: [], POD_GROUPS: []}
        self.cluster.put(EVENTS, "e", message="login password=eventPass11 failed", involvedObject={"name": "bert-0"}, reason="BackOff")
        self.nodes[0]["metadata"]["annotations"] = {"note": "export TOKEN=nodeNote15"}
        job = self.cluster.objects[volcano.JOBS][0]
        job["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": '{"x": "jobApplied16"}'}
        job["spec"] = {"tasks": [{"args": ["--password", "jobArg17", "--steps", "keptArgument"]}]}
        self.cluster.objects[volcano.QUEUES][0]["metadata"]["annotations"] = {"db-password": "queueNote18"}
        self._pods()

    def _pods(self) -> None:
        ended = {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": "2026-11-22T10:00:00Z"}}
        container = {
            "name": "work", "args": ["--api-key=podArg13"],
            "env": [{"name": "DB_PASSWORD", "value": "podEnv12"}, {"name": "NEURON_RT_LOG_LEVEL", "value": "keptVariable"}],
        }  # fmt: skip
        self.cluster.put(
            PODS, "bert-0", metadata={"annotations": {"token": "podAnnotation14"}}, spec={"containers": [container]},
            status={"phase": "Failed", "containerStatuses": [{"name": "work", "restartCount": 2, "state": ended}]},
        )  # fmt: skip
        self.cluster.put(
            PODS, "volcano-controllers-1", "volcano-system", spec={"containers": [{"name": "main"}]}, status={"phase": "Running"}
        )
        pem = "-----BEGIN PRIVATE KEY-----\nfailedPem19\n-----END PRIVATE KEY-----"
        self.log("training", "bert-0", "work", f"keptLine\n{pem}\nopened with podEnv12 as fromShell20\n")
        self.log("training", "bert-0", "work", "token=previousToken21\n", more="&previous=true")
        self.log("volcano-system", "volcano-controllers-1", "main", "GET https://me:controllerUrl22@host\n")

    def log(self, namespace: str, pod: str, container: str, text: str, more: str = "") -> None:
        """The log of a container."""
        self.cluster.texts[f"/api/v1/namespaces/{namespace}/pods/{pod}/log?container={container}&tailLines=300{more}"] = text


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Given) -> Planted:
    """In a folder of its own, whose tools answer nothing."""
    copy_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    made = Planted(tmp_path)
    given.api = made.cloud.api
    given.cluster = made.cluster
    given.engine = made.pulumi
    monkeypatch.setattr("trn.running.bundle.machine.TOOLS", {"pulumi": ("/no/such/tool", "version")})
    # The account in practice has quotas; this one has none.
    monkeypatch.setattr("trn.running.bundle.account.QUOTAS", [lambda _: [passed("quota", "enough")]])
    monkeypatch.setenv("MY_SECRET_TOKEN", "fromShell20")
    return made


@pytest.fixture
def hidden_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Canaries in what findings and errors say."""
    said = {"callerPass8": "trn.running.bundle.account.caller", "reasonPass23": "trn.running.bundle.machine.versions"}
    who = Caller(ACCOUNT, "arn:aws:sts::1:assumed-role/r/password=callerPass8")
    monkeypatch.setattr(said["callerPass8"], lambda api: who)

    def refuse(tools: Any) -> Any:
        raise CommandError("cannot read https://me:reasonPass23@host")

    monkeypatch.setattr(said["reasonPass23"], refuse)
    monkeypatch.setattr("trn.running.bundle.account.QUOTAS", [lambda _: [passed("quota", "https://a:quotaUrl9@b")]])
    monkeypatch.setattr("trn.running.bundle.cluster.findings_of", lambda *_: [passed("etcd", "Bearer statusToken10")])


def trn(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(app, ["bundle", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def files(root: Path) -> dict[str, str]:
    """Name to text of the only archive."""
    (path,) = (root / "build/bundle").iterdir()
    with tarfile.open(path) as archive:
        entries = {entry.name.partition("/")[2]: archive.extractfile(entry) for entry in archive.getmembers()}
        return {name: entry.read().decode() for name, entry in entries.items() if entry is not None}


def reasons(text: str) -> str:
    """What the index says could not be got."""
    return text.partition("## Could not be got")[2].partition("## Not there")[0]


def test_it_holds_all_parts_and_the_index_says_what_each_is(planted: Planted):
    """Also where each is from."""
    code, out, _ = trn("dev")
    assert (code, "wrote    build/bundle/dev-" in out) == (0, True)
    found = files(planted.root)
    assert set(CANARIES) <= set(found)
    assert next(iter(found)) == "index.md"
    assert all(f"| {name} | " in found["index.md"] for name in found if name != "index.md")
    assert "kubectl -n training logs bert-0 -c work --tail 300 --previous" in found["index.md"]
    assert reasons(found["index.md"]).strip() == "Nothing."
    assert "objects of the kind PodGroup" in found["index.md"].partition("## Not there")[2]
    assert "keptLine" in found["logs/failed/training/bert-0.work.log"]
    assert "keptArgument" in found["cluster/objects/jobs.batch.volcano.sh.json"]
    assert "keptVariable" in found["cluster/pods.json"]
    assert json.loads(found["pulumi/outputs.json"])["clusterArn"] == cluster_arn(NAME)
    assert json.loads(found["versions.json"])["tools"] == {
        "pulumi": "not known: cannot run `/no/such/tool version`: No such file or directory"
    }
    assert "MY_SECRET_TOKEN" not in found["versions.json"]
    assert "pass control plane: ACTIVE" in found["cluster/status.txt"]


def test_no_canary_leaves(planted: Planted, hidden_elsewhere: None):
    """In each part one is hidden, as keys, variables, arguments, annotations, URLs, keys, tokens and Pulumi's own."""
    assert trn("dev")[0] == 0
    found = files(planted.root)
    canaries = {canary for hidden in CANARIES.values() for canary in hidden}
    assert {(name, canary) for name, text in found.items() for canary in canaries if canary in text} == set()


def test_each_canary_would_leave_without_the_redaction(planted: Planted, hidden_elsewhere: None, monkeypatch: pytest.MonkeyPatch):
    """Otherwise the test above would say nothing of its part."""
    monkeypatch.setattr(Redactor, "text", lambda self, text, is_yaml=False: text)
    monkeypatch.setattr(Redactor, "value", lambda self, value, name="": value)
    monkeypatch.setattr(Redactor, "everywhere", lambda self, text: text)
    assert trn("dev")[0] == 0
    found = files(planted.root)
    assert {(name, canary) for name, hidden in CANARIES.items() for canary in hidden if canary not in found[name]} == set()


def test_objects_of_secrets_are_never_read(planted: Planted):
    """Nor ConfigMaps: users keep keys in them."""
    assert trn("dev")[0] == 0
    asked = {path for verb, path in planted.cluster.seen}
    assert [path for path in asked if "secrets" in path or "configmaps" in path] == []
    assert {verb for verb, _ in planted.cluster.seen} == {"list", "get"}
    assert [kind for kind in RIGHTS["bundle"] if "secret" in kind or "configmap" in kind] == []
    assert Redactor().value([{"kind": "Secret", "data": {"a": "b"}}]) == ["[redacted]"]


def test_its_owner_alone_can_read_it_and_it_replaces_none(planted: Planted, tmp_path: Path):
    """Two of the same second get two names."""
    _, out, _ = trn("dev", "--output", str(tmp_path / "there"))
    (path,) = (tmp_path / "there").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert out.splitlines()[-2] == f"wrote    {path}"
    with tarfile.open(path) as archive:
        assert {(entry.mode, entry.uname, entry.uid) for entry in archive} == {(0o600, "", 0)}
    first, second = (write_new(text, tmp_path / "two", "dev-1") for text in (b"first", b"second"))
    assert (first.read_bytes(), second.read_bytes(), second.name) == (b"first", b"second", "dev-1-2.tar.gz")


def _no_credentials(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise NoCredentialsError

    for name in ("call", "pages"):
        monkeypatch.setattr(type(planted.cloud.api), name, refuse)


def _silent_server(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise Unreachable("the API server does not answer: refused") from OSError()

    for name in ("list", "read", "text"):
        monkeypatch.setattr(planted.cluster, name, refuse)


def _no_rights(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = planted.cluster.list

    def refuse(resource: Any, **more: Any) -> Any:
        if resource == PODS:
            raise Unreachable("403 Forbidden (GET /api/v1/pods)")
        return listed(resource, **more)

    monkeypatch.setattr(planted.cluster, "list", refuse)


def _no_stack(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    planted.pulumi.export = None


def _no_cluster(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    planted.cloud.of("cluster").clear()


def _wrong_value(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    file = planted.root / "Pulumi.dev.yaml"
    file.write_text(file.read_text().replace("trn:region: us-west-2", "trn:region: us-wset-2"))


def _no_yaml(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    (planted.root / "Pulumi.dev.yaml").write_text("config: [\n  password: c4nary\n")


BROKEN: dict[str, tuple[Callable[[Planted, pytest.MonkeyPatch], None], set[str], str, str]] = {
    # What breaks, parts that are there all the same, a part that is not, and why.
    "no credentials": (
        _no_credentials,
        {"stack-file.yaml", "pulumi/outputs.json"},
        "aws/caller.json",
        "there are no usable AWS credentials",
    ),
    "silent server": (
        _silent_server,
        {"aws/cluster.json", "aws/quotas.txt"},
        "cluster/events.json",
        "not asked for, since `cluster/pods.json` could not be read",
    ),
    "no rights": (_no_rights, {"cluster/status.txt", "cluster/events.json"}, "cluster/pods.json", "403 Forbidden"),
    "no stack": (_no_stack, {"aws/cluster.json", "cluster/pods.json"}, "pulumi/resources.json", "Pulumi's backend has no stack `dev`"),
    "no cluster": (_no_cluster, {"aws/quotas.txt", "pulumi/outputs.json"}, "cluster/status.txt", "there is no cluster `trainium-dev`"),
    "wrong value": (_wrong_value, {"stack-file.yaml", "aws/cluster.json", "cluster/pods.json"}, "stack-file-check.txt", "us-wset-2"),
    "no YAML": (_no_yaml, {"stack-file.yaml", "aws/cluster.json", "cluster/pods.json"}, "cluster/status.txt", "Pulumi.dev.yaml"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_costs_its_own_parts_only(planted: Planted, monkeypatch: pytest.MonkeyPatch, name: str):
    """It is named with the reason, in the index and on the terminal; the archive is what was asked for, so it is no failure."""
    break_it, there, missing, why = BROKEN[name]
    break_it(planted, monkeypatch)
    code, out, _ = trn("dev")
    assert code == 0, out
    found = files(planted.root)
    assert there <= set(found)
    assert missing not in found
    (line,) = [line for line in reasons(found["index.md"]).splitlines() if f"({missing}, " in line]
    assert why in line
    assert f"missing  {missing}: " in out or ("not asked for" in line and "more of the cluster, which were not asked for after that" in out)
    assert "c4nary" not in "".join(found.values())


def test_a_wrong_account_is_said_first(planted: Planted, monkeypatch: pytest.MonkeyPatch):
    """What is read there may be another cluster of the same name."""
    outputs = planted.pulumi.export["deployment"]["resources"][0]["outputs"]  # type: ignore[index]
    outputs["clusterArn"] = cluster_arn(NAME, account="999900001111")
    code, out, _ = trn("dev")
    assert (code, f"these credentials are of account {ACCOUNT}, and the stack's outputs name 999900001111" in out) == (0, True)
    assert "name 999900001111" in files(planted.root)["index.md"].partition("| file |")[0]


def test_a_slip_in_the_stacks_name_makes_none(planted: Planted):
    """Misuse, as with every command."""
    code, _, err = trn("dve")
    assert (code, "there is no Pulumi.dve.yaml" in err) == (2, True)
    assert trn("../dev")[0] == 2
    assert not (planted.root / "build").exists()


def test_what_hangs_is_left_behind(planted: Planted, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: Given):
    """A cluster that says nothing is waited for once; a tool that hangs is ended with all that it started."""
    answers = threading.Event()
    monkeypatch.setattr(planted.cluster, "list", lambda *_, **__: answers.wait(30) and None)
    tool, pid = tmp_path / "pulumi", tmp_path / "pid"
    tool.write_text(f"#!/bin/sh\nsleep 30 & echo $! > {pid}\nwait\n")
    tool.chmod(0o700)
    given.engine = PulumiCli({**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    begun = time.monotonic()
    try:
        code, _, _ = trn("dev", "--patience", "1")
    finally:
        answers.set()
    assert (code, time.monotonic() - begun < 30) == (0, True)
    found = files(planted.root)
    said = reasons(found["index.md"])
    # Its own time is shorter; on a busy machine both are over before it is looked at.
    assert re.search(r"by pulumi stack export --stack dev\): .*no answer in (0\.8|1) s", said)
    assert "no answer in 1 s" in next(line for line in said.splitlines() if "cluster/status.txt" in line)
    assert "not asked for, since `cluster/status.txt` could not be read" in said
    assert "aws/cluster.json" in found
    with pytest.raises(ProcessLookupError):
        _wait_for_end(int(pid.read_text()))


def _wait_for_end(process: int) -> None:
    """Raises ProcessLookupError when a process is gone, or only waits for its parent."""
    for _ in range(1500):
        os.kill(process, 0)
        if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            raise ProcessLookupError
        time.sleep(0.02)


@pytest.mark.parametrize("where", ["trn.running.bundle.machine.versions", "trn.running.bundle.run._notes", "pathlib.Path.replace"])
def test_ctrl_c_leaves_nothing(planted: Planted, monkeypatch: pytest.MonkeyPatch, where: str):
    """While it reads, while it redacts, and between the whole file and its name."""

    def stop(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(where, stop)
    code, out, err = trn("dev")
    assert (code, out, err.splitlines()[-1][:11]) == (130, "", "interrupted")
    folder = planted.root / "build/bundle"
    assert not folder.exists() or list(folder.iterdir()) == []


def test_a_place_that_cannot_be_written_is_named(planted: Planted):
    """After all that was read; nothing else is left."""
    (planted.root / "file").write_text("")
    code, _, err = trn("dev", "--output", "file")
    assert (code, "cannot write in `file`" in err) == (1, True)


def test_a_bug_costs_one_part_and_brings_its_trace(planted: Planted, monkeypatch: pytest.MonkeyPatch):
    """That is what a bug report is for."""

    def fail(*_: Any) -> Any:
        raise ZeroDivisionError("password=c4nary")

    monkeypatch.setattr("trn.running.bundle.account.caller", fail)
    assert trn("dev")[0] == 0
    found = files(planted.root)
    assert "ZeroDivisionError" in reasons(found["index.md"])
    assert "Traceback" in found["errors/aws/caller.json.txt"]
    assert "c4nary" not in "".join(found.values())
    assert "aws/cluster.json" in found


def test_sizes_are_bounded(planted: Planted, monkeypatch: pytest.MonkeyPatch):
    """Of a log the end is kept, in whole lines; what is left out is said."""
    planted.log("training", "bert-0", "work", "".join(f"line {number}\n" for number in range(60_000)))
    for number in range(310):
        planted.cluster.put(volcano.JOBS, f"job-{number}")
    assert trn("dev")[0] == 0
    found = files(planted.root)
    log = found["logs/failed/training/bert-0.work.log"]
    assert len(log) <= writing.LOG_BYTES
    assert log.splitlines()[-1] == "line 59999"
    assert log.startswith("line ")
    assert "its last 64 of 256 KiB" in found["index.md"]
    jobs = json.loads(found["cluster/objects/jobs.batch.volcano.sh.json"])
    assert (jobs["count"], jobs["left out"], len(jobs["items"])) == (311, 11, 300)
    shutil.rmtree(planted.root / "build")
    monkeypatch.setattr("trn.running.bundle.run.TOTAL_BYTES", 8 << 10)
    assert trn("dev")[0] == 0
    found = files(planted.root)
    assert sum(len(text) for name, text in found.items() if name != "index.md") <= 8 << 10
    assert "left out: the bundle has 0 MiB already" in found["index.md"]


def test_a_secret_at_the_cut_is_seen_before_it_is_cut():
    """Half a key is still a secret, and has no mark any more."""
    key = "AKIAIOSFODNN7CANARY1"
    text = f"{'x' * 100}\n" * 100 + f"{key}{'y ' * (writing.LOG_BYTES // 2 - 5)}"
    made = writing.bounded(writing.written(text, "a.log", Redactor()), "a.log")
    assert "CANARY1" not in made.text


def test_names_of_the_cluster_lead_out_of_no_folder(planted: Planted):
    """Whoever unpacks it trusts it."""
    status = {"phase": "Failed", "containerStatuses": []}
    planted.cluster.put(PODS, "../../evil", "../x", spec={"containers": [{"name": "/etc/passwd"}]}, status=status)
    planted.log("../x", "../../evil", "/etc/passwd", "text")
    assert trn("dev")[0] == 0
    (path,) = (planted.root / "build/bundle").iterdir()
    with tarfile.open(path) as archive:
        names = archive.getnames()
    assert [name for name in names if name.startswith("/") or ".." in name.split("/")] == []
    assert any("evil" in name for name in names)


def test_the_last_failures_come_first_and_each_controller_has_a_few(planted: Planted):
    """A node's own pods are many, and say the same."""
    from trn.running.bundle.logs import controllers, failed

    ends = {number: {"terminated": {"exitCode": 1, "finishedAt": f"2026-11-22T10:{number:02}:00Z"}} for number in range(15)}
    pods = [
        {"metadata": {"name": f"p{n}", "namespace": "training"}, "status": {"containerStatuses": [{"name": "c", "lastState": end}]}}
        for n, end in ends.items()
    ]
    assert [pod["metadata"]["name"] for pod in failed(pods)] == [f"p{number}" for number in range(14, 4, -1)]
    owner = {"ownerReferences": [{"kind": "DaemonSet", "name": "aws-node"}]}
    nodes = [{"metadata": {"name": f"n{n}", "namespace": "kube-system", **owner}, "status": {"phase": "Running"}} for n in range(9)]
    nodes[7]["status"]["phase"] = "Pending"
    assert [pod["metadata"]["name"] for pod in controllers([*nodes, *pods])] == ["n7", "n0"]


def test_kinds_of_queues_and_jobs_are_all_read():
    """From the tables of drain and jobs, so that a new add-on's are among them."""
    names = {resource.qualified for resource in OBJECTS}
    assert {"queues.scheduling.volcano.sh", "clusterqueues.kueue.x-k8s.io", "jobs.batch", "rayjobs.ray.io", "nodes"} <= names
    assert {resource.qualified for resource in (*OBJECTS, PODS, EVENTS)} <= set(RIGHTS["bundle"])


def test_an_interrupted_wait_does_not_wait_for_the_work():
    """A call that hangs holds no one back."""
    answers = threading.Event()
    with pytest.raises(TimeoutError, match=r"no answer in 0\.05 s"):
        in_time(lambda: answers.wait(30), 0.05)
    answers.set()


def test_the_result_as_json_names_every_part(planted: Planted):
    """For a script that looks whether what it needs is in it."""
    code, out, _ = trn("dev", "--json", "-")
    parts = {part["file"]: part for part in json.loads(out)["parts"]}
    assert (code, parts["aws/cluster.json"]["got"], Path(json.loads(out)["path"]).is_file()) == (0, True, True)
    assert (parts["cluster/objects/podgroups.scheduling.volcano.sh.json"]["absent"], parts["versions.json"]["why"]) == (True, "")
