"""`trn shell`: a pod of one's own that goes with its shell, however that ends."""

import json
import os
import signal
import stat
from pathlib import Path

import kubernetes_validate
import pytest
from typer.testing import CliRunner

from facts.names import EFA_RESOURCE, NEURON_RESOURCE
from tests.documents import checked
from tests.support import ROOT
from tests.trn.change.owned import hold
from tests.trn.given import Given
from tests.trn.kubernetes.healthy_cluster import GROUP, NAME, Healthy
from tests.trn.running.test_status import of
from trn.app import app
from trn.kubernetes.client import Object
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.kinds import NODES
from trn.kubernetes.lease import LEASES
from trn.running.shell.change import Shell
from trn.running.shell.pod import SHELL, SHELL_LABEL, pod
from trn.running.verify.jobs import TEST_LABEL

KUBECTL = """#!/usr/bin/env python3
import json, os, sys
file = sys.argv[2]
record = {"arguments": sys.argv[1:], "mode": os.stat(file).st_mode & 0o777, "kubeconfig": json.load(open(file)), "input": sys.stdin.read()}
json.dump(record, open(os.environ["RECORD"], "w"))
sys.exit(7)
"""


@pytest.fixture
def healthy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: Given) -> Healthy:
    """The shipped stack, up, and a kubectl that writes down how it was called."""
    monkeypatch.chdir(ROOT)
    made = Healthy()
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, text in (("kubectl", KUBECTL), ("aws", "#!/bin/sh\n")):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("RECORD", str(tmp_path / "record"))
    given.api, given.cluster = made.cloud.api, made.cluster
    hold(given, "trainium-dev")
    monkeypatch.setattr("time.sleep", lambda _: None)
    return made


def trn(*arguments: str, given: str = "") -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(app, ["shell", *arguments], input=given)
    return result.exit_code, result.stdout, result.stderr


def deleted(healthy: Healthy) -> list[str]:
    """Pods that were asked to go."""
    return [line.removeprefix("delete Pod ") for line in healthy.cluster.log if line.startswith("delete Pod ")]


def test_a_shell_gets_its_pod_and_the_pod_goes_with_it(healthy: Healthy, tmp_path: Path):
    """The exit code is the shell's own."""
    code, out, err = trn("dev", "--json", str(tmp_path / "shell.json"))
    record, made = json.loads((tmp_path / "record").read_text()), checked((tmp_path / "shell.json").read_text())
    assert (code, out) == (7, "")
    assert f"{made['pod']} on node-1, the file system at /fsx; the pod is deleted when the shell ends" in err
    assert made.items() >= {
        "schema": "trn-shell",
        "namespace": "training", "node": "node-1", "image": "public.ecr.aws/docker/library/python:3.13.7-alpine3.22", "exitCode": 7,
        "command": "shell dev", "end": "done", "left": [],
    }.items()  # fmt: skip
    assert record["arguments"][2:] == ["--namespace", "training", "exec", "--stdin", made["pod"], "--", *SHELL]
    assert deleted(healthy) == [made["pod"]]


def test_kubectl_gets_a_kubeconfig_of_its_own(healthy: Healthy, tmp_path: Path):
    """That others cannot read, that holds no secret, and that is gone afterwards."""
    trn("dev", "--", "ls", "-l", "/fsx")
    record = json.loads((tmp_path / "record").read_text())
    assert record["mode"] == stat.S_IRUSR | stat.S_IWUSR
    assert record["kubeconfig"]["clusters"][0]["cluster"]["server"] == "https://example"
    assert record["kubeconfig"]["users"][0]["user"]["exec"]["command"] == "aws"
    assert record["arguments"][0] == "--kubeconfig"
    assert not Path(record["arguments"][1]).exists()
    assert record["arguments"][-4:] == ["--", "ls", "-l", "/fsx"]


def test_a_terminal_is_asked_for_where_there_is_one(healthy: Healthy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Without one, `trn shell dev < script` runs the script."""
    monkeypatch.setattr(
        "trn.running.shell.change.sys", type("System", (), {"stdin": type("Terminal", (), {"isatty": staticmethod(lambda: True)})})
    )
    trn("dev")
    assert "--tty" in json.loads((tmp_path / "record").read_text())["arguments"]


@pytest.mark.parametrize("tool", ["kubectl", "aws"])
def test_a_tool_that_is_missing_is_reported_before_anything_starts(healthy: Healthy, monkeypatch: pytest.MonkeyPatch, tool: str):
    """Both are needed: the kubeconfig calls the AWS CLI."""
    monkeypatch.setattr("shutil.which", lambda name: None if name == tool else name)
    code, _, err = trn("dev")
    assert (code, f"error: {tool} is not on PATH" in err) == (1, True)
    assert healthy.cluster.log == []


def test_a_pod_that_does_not_start_is_reported_and_goes(healthy: Healthy, monkeypatch: pytest.MonkeyPatch):
    """With Kubernetes' own reason."""
    healthy.cluster.objects[NODES].clear()
    now = iter(range(0, 100_000, 100))
    monkeypatch.setattr("time.monotonic", lambda: next(now))
    code, _, err = trn("dev")
    assert (code, "Pending: Unschedulable: 0/3 nodes are available" in err) == (1, True)
    assert len(deleted(healthy)) == 1


def test_a_pod_that_ends_at_once_is_not_waited_for(healthy: Healthy, monkeypatch: pytest.MonkeyPatch):
    """Its image has no `sleep`, or its node is gone."""
    monkeypatch.setattr(healthy.cluster, "_go_on", lambda pod: pod.update(status={"phase": "Failed", "reason": "Evicted"}))
    code, _, err = trn("dev")
    assert (code, "Failed: Evicted" in err, len(deleted(healthy))) == (1, True, 1)


def test_a_pod_of_the_name_that_is_anothers_stays(healthy: Healthy, monkeypatch: pytest.MonkeyPatch):
    """It has no sign of this run."""
    monkeypatch.setattr("secrets.token_hex", lambda _: "a")
    labels = {SHELL_LABEL: NAME, TEST_LABEL: "trn-shell-a"}
    healthy.cluster.put(PODS, "trn-shell-a", metadata={"labels": labels}, spec={"containers": [{"command": ["sleep"]}]}, status={})
    code, out, _ = trn("dev")
    assert (code, "there is a pod trn-shell-a already" in out, deleted(healthy)) == (1, True, [])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_shell_that_is_cut_off_leaves_no_pod(healthy: Healthy, monkeypatch: pytest.MonkeyPatch, number: signal.Signals):
    """The terminal was closed."""
    monkeypatch.setattr("subprocess.run", lambda *arguments, **more: os.kill(os.getpid(), number))
    code, _, err = trn("dev")
    assert (code, "interrupted: " in err) == (130, True)
    assert len(deleted(healthy)) == 1


def test_only_shells_whose_time_is_over_are_removed(healthy: Healthy):
    """By the exact label; one that runs has somebody in it."""
    for name, cluster, phase in (
        ("over", NAME, "Failed"),
        ("done", NAME, "Succeeded"),
        ("busy", NAME, "Running"),
        ("theirs", f"{NAME}-2", "Failed"),
    ):
        healthy.cluster.put(PODS, name, metadata={"labels": {SHELL_LABEL: cluster}}, status={"phase": phase}, spec={"containers": []})
    trn("dev")
    assert deleted(healthy)[:-1] == ["over", "done"]


def test_the_lock_of_a_shell_that_was_killed_goes_with_its_pod(healthy: Healthy):
    """Nobody else would take it, since no second shell has its name."""
    healthy.cluster.put(PODS, "over", metadata={"labels": {SHELL_LABEL: NAME}}, status={"phase": "Failed"}, spec={"containers": []})
    lease = {"metadata": {"name": "over", "namespace": "training", "uid": "u", "resourceVersion": "1"}}
    healthy.cluster.served[f"{LEASES.path}/namespaces/training/leases/over"] = lease
    trn("dev")
    assert [line for line in healthy.cluster.log if line.endswith(" over")] == ["delete Pod over", "delete Lease over"]


def container(body: Object) -> Object:
    """The pod's one container."""
    return body["spec"]["containers"][0]


def test_a_pod_with_devices_has_a_whole_node_and_neurons_tools():
    """And a schema that Kubernetes takes."""
    healthy = Healthy()
    body = pod(healthy.subject, "dev", "a", life_s=1800, neuron=True)
    assert container(body)["resources"]["limits"] == {NEURON_RESOURCE: "16", EFA_RESOURCE: "8"}
    assert "neuronx" in container(body)["image"]
    assert (body["spec"]["activeDeadlineSeconds"], container(body)["command"]) == (1800, ["sleep", "1800"])
    assert {mount["mountPath"] for mount in container(body)["volumeMounts"]} == {"/fsx", "/dev/shm"}
    assert healthy.cluster.misfits(body, healthy.nodes[0]) == []
    assert healthy.cluster.misfits(body, {"metadata": {"name": "core", "labels": {}}}) != []
    kubernetes_validate.validate(body, "1.35", strict=True)


def test_a_pod_without_devices_runs_beside_training():
    """Anywhere, or on a group's nodes."""
    healthy = Healthy()
    body = pod(healthy.subject, "dev", "a", life_s=60)
    assert (container(body)["resources"]["limits"], "affinity" in body["spec"]) == ({}, False)
    body = pod(healthy.subject, "dev", "a", life_s=60, node_group=GROUP, image="mine:1")
    assert (container(body)["image"], container(body)["resources"]["limits"]) == ("mine:1", {})
    assert healthy.cluster.misfits(body, healthy.nodes[1]) == []
    assert "trn/node-group" in healthy.cluster.misfits(body, {"metadata": {"name": "core", "labels": {}}})
    kubernetes_validate.validate(body, "1.35", strict=True)


def test_two_shells_have_two_names():
    """Of two people, or of two windows."""
    assert len({Shell("dev", Healthy().settings, SHELL, 60).pod for _ in range(3)}) == 3


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--node-group", "trn9"), 2, "groups of the stack: trn1-32xl, trn1n-32xl"),
        (("--node-group", "trn1n-32xl"), 1, "`trn scale dev trn1n-32xl 1` starts one"),
        (("--node-group", "trn1n-32xl", "--neuron"), 1, "no node of trn1n-32xl is up"),
        (("--hours", "0"), 2, "invalid value"),
    ],
)
def test_what_cannot_be_is_reported_before_anything_starts(healthy: Healthy, arguments: tuple[str, ...], code: int, says: str):
    """With the command that fixes it."""
    found, _, err = trn("dev", *arguments)
    assert (found, says in err) == (code, True)
    assert healthy.cluster.log == []


def test_devices_without_an_image_or_a_node_are_reported(monkeypatch: pytest.MonkeyPatch):
    """Which image a job would bring is not known."""
    from trn.cli.errors import CommandError

    healthy = of(training={"toolchain": None})
    with pytest.raises(CommandError, match="no image with Neuron's tools"):
        pod(healthy.subject, "dev", "a", life_s=60, neuron=True)
    assert container(pod(healthy.subject, "dev", "a", life_s=60, neuron=True, image="mine:1"))["image"] == "mine:1"
    healthy.cluster.objects[NODES].clear()
    with pytest.raises(CommandError, match="no node of a Neuron group is up"):
        pod(healthy.subject, "dev", "a", life_s=60, neuron=True)


def test_a_stack_without_a_file_system_has_a_shell_all_the_same(healthy: Healthy, monkeypatch: pytest.MonkeyPatch):
    """It says that nothing is mounted."""
    other = of(storage={"lustre": {"enabled": False}})
    assert pod(other.subject, "dev", "a", life_s=60)["spec"]["volumes"] == []
    monkeypatch.setattr("trn.engine.program.settings_of", lambda file: other.settings)
    assert "there is no file system in this stack" in trn("dev")[2]


def test_no_cluster_is_misuse(healthy: Healthy):
    """As with every command."""
    healthy.cloud.of("cluster").clear()
    assert trn("dev")[0] == 2
