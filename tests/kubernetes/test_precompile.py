"""`trn precompile` from end to end: its job runs as processes on a real API server, its cache is the file system's, and the job starts warm."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from local_kubernetes.api import Object, wait
from local_kubernetes.authenticator import User
from local_kubernetes.control_plane import ControlPlane
from tests.kubernetes import compiling_worker
from tests.kubernetes.compiling_worker import VERSION
from tests.kubernetes.conftest import Programs
from tests.kubernetes.job_cluster import NAMESPACE, JobCluster, job_cluster
from tests.kubernetes.kubelet.permission import why_not
from tests.kubernetes.rights import granted
from tests.kubernetes.trn import Trn, trn_on
from tests.kubernetes.volcano import QUEUE, queue_state, volcano_of
from trn.rights import RIGHTS

pytestmark = pytest.mark.kubernetes
COMPILER = """#!{python}
# As AWS's: runs the command with graphs only collected, then compiles what is in the cache and is not compiled.
import os, subprocess, sys
from pathlib import Path
code = subprocess.run(sys.argv[1:], env={{**os.environ, "NEURON_EXTRACT_GRAPHS_ONLY": "1"}}).returncode
for place in sorted(Path(os.environ["NEURON_COMPILE_CACHE_URL"]).glob("neuronxcc-*/MODULE_*")):
    if not (place / "model.done").exists():
        (place / "model.neff").write_bytes(b"n" * 4096)
        (place / "model.done").touch()
sys.exit(code)
"""
CACHE = "/fsx/cache/warm"
ELSEWHERE = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "other",
    "contexts": [{"name": "other", "context": {"cluster": "other", "user": "other"}}],
    "clusters": [{"name": "other", "cluster": {"server": "https://127.0.0.1:9"}}],
    "users": [{"name": "other", "user": {"token": "none"}}],
}


@pytest.fixture(scope="module")
def cluster(
    control_plane: ControlPlane, programs: Programs, _dev_nodes: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JobCluster]:
    """With Volcano and the queue of the dev stack, and an image that has the compiler."""
    if reason := why_not():
        pytest.skip(reason)
    program = tmp_path_factory.mktemp("compiler") / "neuron_parallel_compile"
    program.write_text(COMPILER.format(python=sys.executable))
    program.chmod(0o755)
    image = {"path": [str(program.parent), str(Path(sys.executable).parent)], "environment": {"PYTHONUNBUFFERED": "1"}}
    queue = {**QUEUE, "metadata": {"name": "training"}, "spec": {"weight": 1}}
    with volcano_of(control_plane, programs), job_cluster(control_plane, **{"neuron/pytorch-training-neuronx": image}) as made:
        made.api.apply(queue).ok()
        wait(lambda: queue_state(made.api, "training") == "Open", "the queue takes jobs")
        yield made
        made.api.delete(queue, foreground=False)


@pytest.fixture
def trn(
    cluster: JobCluster, control_plane: ControlPlane, practised: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Trn]:
    """The command line, in whose folder the job file is."""
    with trn_on(control_plane, practised, tmp_path, monkeypatch) as made:
        # A kubeconfig of another cluster, which nothing here reads: the way into the cluster is the stack's own.
        (tmp_path / "kubeconfig").write_text(yaml.safe_dump(ELSEWHERE))
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
        keys = {
            "name": "warm",
            "toolchain": "xla-2.30",
            "start": "none",
            "nodes": 2,
            "command": ["python3", "-c", Path(compiling_worker.__file__).read_text()],
            "cache": {"path": CACHE},
        }
        (tmp_path / "job.yaml").write_text(yaml.safe_dump(keys))
        yield made


@pytest.fixture
def cold(cluster: JobCluster) -> Path:
    """A cache as an interrupted run leaves it: one graph compiled, one with a lock, one that failed; what is in it goes in the end."""
    place = cluster.shared / "cache/warm" / VERSION
    for graph, files in {
        "forward": {"model.hlo_module.pb": b"g", "model.neff": b"n" * 4096, "model.done": b""},
        "backward": {"model.hlo_module.pb": b"g", "model.hlo_module.pb.lock": b""},
        "update": {"model.hlo_module.pb": b"g", "model.log": b"ERROR"},
    }.items():
        (place / f"MODULE_{graph}+1").mkdir(parents=True, exist_ok=True)
        for file in (place / f"MODULE_{graph}+1").iterdir():
            file.unlink()
        for name, body in files.items():
            (place / f"MODULE_{graph}+1" / name).write_bytes(body)
    return place


def job(name: str) -> Object:
    """Volcano's Job, by its name."""
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name, "namespace": NAMESPACE}}


def succeeded(cluster: JobCluster, name: str) -> list[dict[str, Any]]:
    """Lines of all pods of a job, by the order of its nodes, when it has succeeded."""

    def over() -> bool:
        state = cluster.api.get(job(name)).ok().get("status", {}).get("state", {}).get("phase")
        assert state not in ("Failed", "Aborted", "Terminated"), [cluster.log(pod) for pod in cluster.pods(f"trn/job={name}")]
        return state == "Completed"

    wait(over, f"{name} succeeds")
    texts = [cluster.log(pod) for pod in cluster.pods(f"trn/job={name}")]
    return [json.loads(line) for text in texts for line in text.splitlines() if line.startswith("{")]


def gone(cluster: JobCluster, name: str) -> None:
    """Delete a job, and wait until nothing of it is left."""
    cluster.api.delete(job(name))
    left = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
    wait(lambda: not cluster.pods(f"trn/job={name}") and f"{name}-entry" not in cluster.api.names(left), f"{name} is gone")


def test_a_job_that_was_compiled_before_starts_warm(trn: Trn, cluster: JobCluster, cold: Path):
    """Its short run removes the lock and the failed entry, compiles what is not compiled, and the job then compiles nothing."""
    text = trn("precompile dev job.yaml --arg=--max_steps=10")
    assert "`trn submit dev job.yaml` starts warm" in text.replace("trn --practice", "trn")
    said = succeeded(cluster, "warm-precompile")
    repaired, done = (next(line for line in said if line.get("precompile") == event) for event in ("repaired", "done"))
    assert repaired == {"precompile": "repaired", "locks": 1, "failed": 1, "compiled": 1}
    assert {key: done[key] for key in ("compiled", "more", "failed", "collected")} == {
        "compiled": 3,
        "more": 2,
        "failed": 0,
        "collected": 0,
    }
    assert [line["steps"] for line in said if line.get("worker") == "done"] == [["--max_steps=10"]] * 2
    trn("submit dev job.yaml")
    warm = [line for line in succeeded(cluster, "warm") if line.get("worker") == "done"]
    assert warm == [{"worker": "done", "compiled": [], "steps": []}] * 2
    assert not list(cold.rglob("*.lock"))
    for name in ("warm", "warm-precompile"):
        gone(cluster, name)


def test_nothing_is_compiled_beside_a_pod_that_uses_the_cache(trn: Trn, cluster: JobCluster, cold: Path):
    """Its locks are no leftovers."""
    keys = yaml.safe_load(Path("job.yaml").read_text())
    keys["command"] = ["python3", "-c", "import time; time.sleep(600)"]
    Path("job.yaml").write_text(yaml.safe_dump(keys))
    trn("submit dev job.yaml")
    wait(lambda: [pod["status"]["phase"] for pod in cluster.pods("trn/job=warm")] == ["Running"] * 2, "the job runs")
    text = trn("precompile dev job.yaml --arg=--max_steps=10", code=1)
    assert f"uses the cache {CACHE}; nothing was submitted" in " ".join(text.split())
    assert not cluster.api.exists(job("warm-precompile"))
    assert list(cold.rglob("*.lock"))
    gone(cluster, "warm")


Right = tuple[str, str]
USED: set[Right] = {
    ("nodes", "list"),
    ("pods", "list"),
    ("persistentvolumeclaims", "get"),
    ("queues.scheduling.volcano.sh", "get"),
    *((kind, verb) for kind in ("configmaps", "jobs.batch.volcano.sh") for verb in ("create", "patch")),
    ("jobs.batch.volcano.sh", "get"),
    *(("leases.coordination.k8s.io", verb) for verb in ("create", "delete", "get")),
}
"""Rights that it uses for a Volcano Job without a priority, which nothing refuses."""


def test_it_works_with_the_documented_rights_and_each_is_needed(trn: Trn, cluster: JobCluster, cold: Path, control_plane: ControlPlane):
    """Both ways: what is listed is enough, and without one of those that this job uses the API server refuses it."""
    command = "precompile dev job.yaml --arg=--max_steps=10"
    rules = {resource: set(verbs) for resource, verbs in RIGHTS["precompile"].items()}
    trn.be(User("reader"))
    for resource, verb in sorted(USED):
        assert verb in rules[resource]
        fewer = {other: verbs - ({verb} if other == resource else set()) for other, verbs in rules.items()}
        with granted(control_plane, "reader", fewer):
            assert "403 Forbidden" in trn(command, code=1), f"{verb} {resource} is not needed"
        if cluster.api.exists(job("warm-precompile")):
            gone(cluster, "warm-precompile")
        # Who may not give it up leaves it.
        cluster.api.call("DELETE", f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/trn-warm-precompile")
    with granted(control_plane, "reader", rules):
        trn(command)
    succeeded(cluster, "warm-precompile")
    gone(cluster, "warm-precompile")
