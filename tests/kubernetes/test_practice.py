"""`trn practice up --kubernetes` from end to end: kubectl sees the stack's nodes, jobs are scheduled, and nothing outlives `down`."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from facts.names import NEURON_RESOURCE
from local_kubernetes import running
from local_kubernetes.api import wait
from local_kubernetes.running import IDENTITY, PORT, Cluster
from tests.kubernetes.conftest import Programs
from tests.support import copy_project
from tests.trn.practice.commands import trn
from trn.practice.engine.project import EngineFolder, practice_folder

pytestmark = pytest.mark.kubernetes
UP = "practice up dev --kubernetes --engine rehearsal --quiet"


@pytest.fixture(scope="module")
def tools(programs: Programs) -> Mapping[str, Path]:
    """Of what a practice cluster is made."""
    return programs(*running.TOOLS, *running.OPTIONAL)


@pytest.fixture(scope="module")
def folder(tools: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineFolder]:
    """A project whose stack dev is up with a real API server. The working folder for this module's tests."""
    root = tmp_path_factory.mktemp("practice-kubernetes")
    copy_project(root)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(root)
        code, said, errors = trn(UP)
        assert code == 0, said + errors
        yield practice_folder("dev")
        running.stop(practice_folder("dev").kubernetes)


def cluster_in(folder: EngineFolder) -> Cluster:
    """The control plane, which must run."""
    found = running.find(folder.kubernetes)
    assert found is not None
    return found


def kubectl(folder: EngineFolder, tools: Mapping[str, Path], *words: str) -> list[dict[str, object]]:
    """What it lists, with the kubeconfig that practice wrote."""
    command = [str(tools["kubectl"]), "--kubeconfig", str(folder.kubernetes / running.KUBECONFIG), "get", *words, "--output", "json"]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["items"]


def test_kubectl_shows_the_nodes_of_the_stack(folder: EngineFolder, tools: Mapping[str, Path]):
    """Two trn1.32xlarge with all their devices, beside the core nodes."""
    items = kubectl(folder, tools, "nodes", "--selector", "node.kubernetes.io/instance-type=trn1.32xlarge")
    assert [item["status"]["allocatable"][NEURON_RESOURCE] for item in items] == ["16", "16"]  # type: ignore[index]


def test_a_job_runs_on_them_and_the_commands_see_it(folder: EngineFolder):
    """Volcano's own controller and scheduler place it, all workers or none; queues, etcd and claims are as they should be."""
    wait(lambda: trn("--practice status dev")[0] == 0, "all is well")
    assert trn("practice job dev bert")[0] == 0
    api = cluster_in(folder).api()
    path = "/api/v1/namespaces/training/pods"

    def workers() -> list[str]:
        found = api.items(path, labelSelector="volcano.sh/job-name=bert")
        return [item["status"]["phase"] for item in found]

    wait(lambda: workers() == ["Running", "Running"], "both workers run")
    code, said, errors = trn("--practice logs dev bert")
    assert code == 0, said + errors
    assert "no container runs" in said
    assert "bert" in "".join(trn("--practice drain dev")[1:])
    code, said, errors = trn("--practice cancel dev bert --yes")
    assert code == 0, said + errors


def test_volcanos_webhook_judges_what_is_made(folder: EngineFolder):
    """With its own words, as on EKS."""
    api = cluster_in(folder).api()
    configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    wait(lambda: {hook["failurePolicy"] for item in api.items(configurations) for hook in item["webhooks"]} == {"Fail"}, "it answers")
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "child"}}
    answer = api.create({**queue, "spec": {"weight": 1, "parent": "no-such-queue"}})
    assert answer.message.startswith('admission webhook "validatequeue.volcano.sh" denied the request'), answer.message


def test_verify_tries_a_gang(folder: EngineFolder):
    """As many pods as there are nodes, placed together by Volcano's own scheduler, and removed."""
    code, said, errors = trn("--practice verify dev --only gang")
    assert code == 0, said + errors
    assert "2 pods ran at once on 2 x trn1.32xlarge, each with all devices of its node" in said
    assert cluster_in(folder).api().items("/apis/batch.volcano.sh/v1alpha1/jobs") == []
    code, said, errors = trn("--practice verify dev --only driver")
    assert "no container runs in a practice account" in said


def test_scaling_in_the_account_is_seen_in_the_cluster(folder: EngineFolder, tools: Mapping[str, Path]):
    """Nodes follow node groups, whatever changes them."""
    selector = ("nodes", "--selector", "eks.amazonaws.com/nodegroup=trn1-32xl")
    for count in (3, 2):
        code, said, errors = trn(f"--practice scale dev trn1-32xl {count} --yes")
        assert code == 0, said + errors
        assert len(kubectl(folder, tools, *selector)) == count


def test_a_killed_control_plane_is_said_and_brought_back(folder: EngineFolder, tools: Mapping[str, Path]):
    """Every process of it is gone with the one that is killed; the next `up` has the same address, and all that the account holds."""
    before = cluster_in(folder)
    os.kill(before.record.process, signal.SIGKILL)
    wait(lambda: not Path(before.record.folder).exists(), "its processes are gone")
    code, _, errors = trn("--practice status dev")
    assert code == 1
    assert "the API server of stack `dev` has ended" in errors
    assert "trn practice up dev" in errors
    code, said, errors = trn("practice up dev --quiet")
    assert code == 0, said + errors
    assert "up       0 resources" in said
    assert cluster_in(folder).server == before.server
    assert len(kubectl(folder, tools, "nodes", "--selector", "eks.amazonaws.com/nodegroup=trn1-32xl")) == 2
    wait(lambda: trn("--practice status dev")[0] == 0, "all is well")


def test_a_component_that_ends_takes_all_with_it(folder: EngineFolder):
    """Half a control plane answers some requests and not others."""
    before = cluster_in(folder)
    (etcd,) = [path for path in Path("/proc").glob("[0-9]*") if f"{before.record.folder}/etcd\0" in _command(path)]
    os.kill(int(etcd.name), signal.SIGKILL)
    wait(lambda: not running.is_alive(folder.kubernetes), "it has ended")
    assert "etcd ended with -9" in (folder.kubernetes / running.LOG).read_text()
    assert not Path(before.record.folder).exists()


def _command(process: Path) -> str:
    try:
        return (process / "cmdline").read_text()
    except OSError:
        return ""


def test_a_port_that_another_program_took_is_named(folder: EngineFolder):
    """Kubeconfigs name it, so that it is not changed without a word."""
    import socket

    port = int((folder.kubernetes / IDENTITY / PORT).read_text())
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", port))
        other.listen()
        code, _, errors = trn("practice up dev --quiet")
    assert code == 1
    assert f"port {port}" in errors


def test_down_leaves_nothing(folder: EngineFolder):
    """Without a control plane that runs, too: the account alone is taken down, and the files are deleted."""
    code, said, errors = trn("practice down dev --quiet")
    assert code == 0, said + errors
    assert not folder.kubernetes.exists()
    assert trn("practice down dev")[0] == 2


def test_a_deleted_folder_ends_its_control_plane(tools: Mapping[str, Path], tmp_path: Path):
    """`rm -r build/practice/NAME` is the documented way to begin again."""
    cluster, is_new = running.start(tmp_path / "kubernetes")
    again, is_new_again = running.start(tmp_path / "kubernetes")
    assert (is_new, is_new_again) == (True, False)
    assert again.record == cluster.record
    shutil.rmtree(tmp_path / "kubernetes")
    wait(lambda: not Path(cluster.record.folder).exists(), "its processes are gone")
