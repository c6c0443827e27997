"""`trn data stage` from end to end: its pod is a process that reads from a bucket's server, is killed, and goes on where it was."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local_kubernetes.api import Object, wait
from local_kubernetes.authenticator import User
from local_kubernetes.control_plane import ControlPlane
from tests.kubernetes import bucket_server
from tests.kubernetes.bucket_server import HALF, PORT, SIZE, body, etag
from tests.kubernetes.job_cluster import NAMESPACE, JobCluster, job_cluster
from tests.kubernetes.kubelet.handle import process_pod
from tests.kubernetes.kubelet.looking import phase
from tests.kubernetes.kubelet.permission import why_not
from tests.kubernetes.rights import granted
from tests.kubernetes.trn import Trn, trn_on
from trn.rights import RIGHTS

pytestmark = pytest.mark.kubernetes
NAMES = ("part-0.npy", "part-1.npy")
STAGE = "data stage dev s3://the-bucket/tokens/ /fsx/data/tokens --yes"


@pytest.fixture(scope="module")
def cluster(control_plane: ControlPlane, _dev_nodes: list[str]) -> Iterator[JobCluster]:
    """Without Volcano, which has no part in it."""
    if reason := why_not():
        pytest.skip(reason)
    with job_cluster(control_plane) as made:
        yield made


@pytest.fixture
def trn(
    cluster: JobCluster, control_plane: ControlPlane, practised: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Trn]:
    """The command line. Its account's pods run, other than in practice."""
    with trn_on(control_plane, practised, tmp_path, monkeypatch) as made:
        monkeypatch.setattr("trn.practice.access.Practice.is_practice", False)
        yield made


@pytest.fixture
def bucket(cluster: JobCluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Object]:
    """A pod that serves two objects, and hangs in the middle of each the first time; gives the pod."""
    container = {"env": [{"name": "HANGS", "value": "1"}]}
    made = process_pod("bucket", NAMESPACE, Path(bucket_server.__file__).read_text(), image="python", container=container)
    cluster.api.create(made).ok()
    running = phase(cluster.api, made, "Running")
    server = f"http://{running['status']['podIP']}:{PORT}"
    listed = [{"Key": f"tokens/{name}", "Size": SIZE, "ETag": f'"{etag(f"tokens/{name}")}"'} for name in NAMES]
    monkeypatch.setattr("trn.jobs.data.source.objects", lambda _api, _bucket, _prefix: listed)
    monkeypatch.setattr("trn.jobs.data.source.address", lambda _api, _bucket, key, _life: f"{server}/{key}?X-Amz-Signature=0")
    yield running
    cluster.api.delete(made, grace_s=0)


@pytest.fixture
def folder(cluster: JobCluster) -> Path:
    """Where the set is on the file system: nothing yet."""
    place = cluster.shared / "data/tokens"
    for file in place.glob("*") if place.is_dir() else ():
        file.unlink()
    return place


def staging(cluster: JobCluster) -> list[Object]:
    """Pods of stagings that have not ended."""
    pods = cluster.pods("trn/stage=trainium-dev")
    return [pod for pod in pods if pod["status"]["phase"] not in ("Succeeded", "Failed")]


def killed_half_way(cluster: JobCluster, folder: Path) -> None:
    """Kill the pod's process when half of each file is there; returns when its Job has failed."""

    def half() -> list[Object]:
        parts = [folder / f"{name}.trn-stage.part" for name in NAMES]
        return staging(cluster) if all(part.exists() and part.stat().st_size == HALF for part in parts) else []

    (pod,) = wait(half, "half of each file is there")
    cluster.kubelet.process_of(pod, "work").kill()
    ended(cluster)


def ended(cluster: JobCluster) -> None:
    """Returns when no staging is at work."""
    jobs = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"

    def has_ended(item: Object) -> bool:
        return any(item.get("status", {}).get(key) for key in ("failed", "succeeded"))

    wait(lambda: not staging(cluster) and all(map(has_ended, cluster.api.items(jobs))), "its Job has ended")


def asked(cluster: JobCluster, bucket: Object) -> list[str]:
    """What the server was asked for."""
    return sorted(line for line in cluster.log(bucket).splitlines() if line.startswith("GET "))


def test_a_set_whose_pod_was_killed_goes_on_where_it_was(trn: Trn, cluster: JobCluster, bucket: Object, folder: Path):
    """Nothing has its name before it is whole; the second run reads the second half alone, and verifies the whole by S3's sum."""
    trn(f"{STAGE} --detach")
    killed_half_way(cluster, folder)
    assert not any((folder / name).exists() for name in NAMES)
    text = trn(STAGE)
    assert "2 of 2 files are in /fsx/data/tokens: 2 by md5" in text
    assert {name: (folder / name).read_bytes() for name in NAMES} == {name: body(f"tokens/{name}") for name in NAMES}
    rest = [f'GET tokens/{name} bytes={HALF}- "{etag(f"tokens/{name}")}"' for name in NAMES]
    assert asked(cluster, bucket) == sorted([*rest, *(f"GET tokens/{name} whole" for name in NAMES)])
    assert "2 of 2 files are in /fsx/data/tokens: 2 there already" in trn(STAGE)
    assert len(asked(cluster, bucket)) == 4


def test_a_file_with_another_sum_gets_no_name(trn: Trn, cluster: JobCluster, bucket: Object, folder: Path, tmp_path: Path):
    """Half of it came before a kill; the sum is of the whole, and the other file is brought."""
    (tmp_path / "sums").write_text(f"{'0' * 64}  {NAMES[0]}\n")
    trn(f"{STAGE} --detach --sha256 sums")
    killed_half_way(cluster, folder)
    text = trn(f"{STAGE} --sha256 sums", code=1)
    assert f"{NAMES[0]}: SHA-256 is " in text
    assert "1 of 2 files are in /fsx/data/tokens: 1 by md5" in text
    assert [path.name for path in folder.glob("*.npy*")] == [NAMES[1]]


def test_a_second_one_beside_it_is_refused(trn: Trn, cluster: JobCluster, bucket: Object, folder: Path):
    """Two would write into the same files."""
    trn(f"{STAGE} --detach")
    assert "a set is being staged to this folder already" in trn(STAGE, code=1)
    killed_half_way(cluster, folder)


USED = {
    ("pods", "list"),
    ("pods/log", "get"),
    *(("jobs.batch", verb) for verb in ("create", "delete", "get")),
    *((kind, verb) for kind in ("configmaps", "secrets") for verb in ("create", "patch")),
}
"""Rights that a staging uses which nothing refuses, after one that has ended."""


def test_it_works_with_the_documented_rights_and_each_is_needed(
    trn: Trn, cluster: JobCluster, bucket: Object, folder: Path, control_plane: ControlPlane
):
    """Both ways: what is listed is enough, and without one of those the API server refuses it."""
    trn(f"{STAGE} --detach")
    killed_half_way(cluster, folder)
    rules: dict[str, set[Any]] = {resource: set(verbs) for resource, verbs in RIGHTS["data stage"].items()}
    trn.be(User("reader"))
    # While there is an ended Job, which is deleted first.
    for resource, verb in sorted(USED, key=lambda right: (right[1] != "delete", right)):
        assert verb in rules[resource]
        fewer = {other: verbs - ({verb} if other == resource else set()) for other, verbs in rules.items()}
        with granted(control_plane, "reader", fewer):
            assert "403 Forbidden" in trn(STAGE, code=1), f"{verb} {resource} is not needed"
        ended(cluster)
    with granted(control_plane, "reader", rules):
        trn(STAGE)
