"""Volumes on paper: what becomes a folder, memory, a claim's folder or files, and where a container sees it."""

from pathlib import Path

import pytest

from tests.kubernetes.kubelet.environment import MissingReference
from tests.kubernetes.kubelet.mounts import BadSubPath, container_mounts
from tests.kubernetes.kubelet.store import Store
from tests.kubernetes.kubelet.volumes import Claim, Files, Folder, Memory, Refused, Sources, plan_volumes

OBJECTS = {("configmap", "code"): {"a.py": b"1", "b.py": b"2"}, ("secret", "key"): {"id": b"x"}}


def pod(*volumes):
    """A pod with these volumes."""
    metadata = {"name": "worker-0", "namespace": "team", "uid": "u-1", "labels": {"rank": "0"}}
    return {"metadata": metadata, "spec": {"containers": [{"name": "main"}], "volumes": list(volumes)}}


def plan(*volumes):
    """What they become, by name."""
    sources = Sources(
        lambda kind, name: OBJECTS.get((kind, name)), lambda audience, life_s: f"token {audience} {life_s}", {"podIP": "1", "hostIP": "2"}
    )
    return plan_volumes(pod(*volumes), sources)


def test_an_empty_folder_memory_and_claims():
    """A generic ephemeral volume has a claim of the pod's own."""
    found = plan(
        {"name": "scratch", "emptyDir": {}},
        {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
        {"name": "fsx", "persistentVolumeClaim": {"claimName": "fsx-claim"}},
        {"name": "own", "ephemeral": {"volumeClaimTemplate": {}}},
    )
    assert found == {"scratch": Folder(), "shm": Memory(2**30), "fsx": Claim("fsx-claim"), "own": Claim("worker-0-own")}


def test_items_choose_keys_paths_and_modes():
    """Without items all keys are files."""
    chosen = {
        "name": "code",
        "configMap": {"name": "code", "defaultMode": 0o600, "items": [{"key": "a.py", "path": "lib/a.py", "mode": 0o755}]},
    }
    assert plan(chosen)["code"] == Files({"lib/a.py": (b"1", 0o755)})
    assert plan({"name": "code", "configMap": {"name": "code"}})["code"] == Files({"a.py": (b"1", 0o644), "b.py": (b"2", 0o644)})


def test_a_missing_object_is_waited_for_unless_it_is_optional():
    """The pod stays in ContainerCreating, with an event."""
    with pytest.raises(MissingReference, match='secret "none" not found'):
        plan({"name": "s", "secret": {"secretName": "none"}})
    assert plan({"name": "s", "secret": {"secretName": "none", "optional": True}})["s"] == Files({})


def test_the_service_accounts_volume():
    """Token, certificate and namespace, as every pod has them."""
    sources = [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
        {"configMap": {"name": "code", "items": [{"key": "a.py", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
    ]
    found = plan({"name": "access", "projected": {"sources": sources, "defaultMode": 0o444}})["access"]
    assert found == Files({"token": (b"token  3607", 0o444), "ca.crt": (b"1", 0o444), "namespace": (b"team", 0o444)})


@pytest.mark.parametrize("kind", ["hostPath", "nfs", "csi"])
def test_volumes_that_a_process_shall_not_have_are_refused(kind):
    """A pod that writes to a path of the developer's machine is no test."""
    with pytest.raises(Refused, match=f"volume v: the process kubelet has no {kind}"):
        plan({"name": "v", kind: {}})


def test_a_claims_folder_is_that_of_every_pod_that_names_it():
    """And of no other namespace's."""
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "fsx-claim"}}
    store = Store(Path("/state"))
    first, second = store.pod("1").places(pod(volume)), store.pod("2").places(pod(volume))
    assert first == second == {"data": Path("/state/claims/team/fsx-claim")}


def test_a_folder_is_the_pods_own():
    """Two pods of one template share nothing by it."""
    volume = {"name": "scratch", "emptyDir": {}}
    assert Store(Path("/state")).pod("1").places(pod(volume)) != Store(Path("/state")).pod("2").places(pod(volume))


def mounts(*wanted, values=None):
    """Where a container sees its volumes, by target."""
    places = {"data": Path("/state/data"), "shm": Path("/state/shm")}
    own = {"/etc/hosts": Path("/state/hosts"), "/dev/shm": Path("/state/pod-shm")}
    return {each.target: each for each in container_mounts({"volumeMounts": list(wanted)}, places, own, values or {})}


def test_outer_paths_are_mounted_before_inner_ones():
    """Otherwise the outer one would hide the inner."""
    found = mounts({"name": "data", "mountPath": "/data/inner"}, {"name": "data", "mountPath": "/data/"})
    assert [target for target in found if target.startswith("/data")] == ["/data", "/data/inner"]


def test_a_volume_wins_over_the_pods_own_file_at_its_path():
    """An emptyDir of medium Memory at /dev/shm is how jobs get enough of it."""
    assert mounts({"name": "shm", "mountPath": "/dev/shm"})["/dev/shm"].source == "/state/shm"


def test_a_sub_path_is_a_part_of_the_volume():
    """With variables in `subPathExpr`."""
    found = mounts({"name": "data", "mountPath": "/out", "subPathExpr": "run/$(POD)", "readOnly": True}, values={"POD": "worker-0"})["/out"]
    assert (found.source, found.read_only, found.make) == ("/state/data/run/worker-0", True, "folder")


@pytest.mark.parametrize("path", ["/etc", "../other", "a/../../b"])
def test_a_sub_path_never_leads_out_of_its_volume(path):
    """Nor does an expression that becomes one."""
    with pytest.raises(BadSubPath):
        mounts({"name": "data", "mountPath": "/out", "subPathExpr": "$(P)"}, values={"P": path})
