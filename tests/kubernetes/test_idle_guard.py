"""The idle guard on a real API server: its files run with the rights of its own service account, and with no others."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from local_kubernetes.api import Api, Object, settled, wait
from local_kubernetes.control_plane import ControlPlane
from local_kubernetes.half import manifest
from tests.addons.idle_guard.servers import Cluster, served
from tests.addons.idle_guard.test_pod import GROUP, Site
from tests.kubernetes.pods import is_unschedulable, pod
from tests.stacks.test_addons import recorded

pytestmark = pytest.mark.kubernetes
NAMESPACE, NAME = "idle-guard", "idle-guard"
FIRST = ("Namespace", "ServiceAccount", "ClusterRole", "Role")
KINDS = (*FIRST, "ClusterRoleBinding", "RoleBinding", "ConfigMap")


class Guard:
    """The pod's files and token, an API server, and a simulated account with a group of two nodes."""

    def __init__(self, control_plane: ControlPlane, folder: Path) -> None:
        self.control_plane, self.site = control_plane, Site(folder)
        # Two seconds in place of hours: nodes of this control plane are some seconds old.
        settings = self.site.package / "settings.json"
        settings.write_text(json.dumps({**json.loads(settings.read_text()), "idle_hours": 0.0005}))
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        answer = control_plane.api().call("POST", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{NAME}/token", asked).ok()
        (folder / "account").mkdir()
        (folder / "account" / "token").write_text(answer["status"]["token"])
        (folder / "account" / "ca.crt").write_bytes(control_plane.authority)

    def look(self) -> str:
        """One look of the pod's own program; what it prints."""
        with served(Cluster(), self.site.cloud) as url:
            given = [
                "--settings", str(self.site.package / "settings.json"), "--api", self.control_plane.server,
                "--account", str(self.site.folder / "account"), "--once",
            ]  # fmt: skip
            code = f"import runpy, sys; sys.path.insert(0, {str(self.site.folder)!r}); runpy.run_module('idle_guard.guard', run_name='__main__')"
            # The token of the account of AWS is another file than that of Kubernetes.
            done = subprocess.run(
                [sys.executable, "-I", "-B", "-c", code, *given],
                env=self.site.environment(url),
                capture_output=True,
                text=True,
                timeout=120,
            )
        assert done.stderr == ""
        return done.stdout


@pytest.fixture(scope="module")
def installed(control_plane: ControlPlane, _dev_nodes: list[str]) -> Iterator[Api]:
    """The recorded objects of the guard, without its Deployment: its program is started here."""
    api = control_plane.api()
    items = [
        manifest(item) for item in recorded("everything").resources() if item.type.startswith("kubernetes:") and "idle-guard" in item.name
    ]
    items = sorted((item for item in items if item["kind"] in KINDS), key=lambda item: item["kind"] not in FIRST[:2])
    items.sort(key=lambda item: item["kind"] != "Namespace")
    assert len(items) == len(KINDS)
    for item in items:
        api.apply(item).ok()
    yield api
    for item in items:
        api.delete(item, foreground=False)
    settled(api, NAMESPACE)


@pytest.fixture
def guard(control_plane: ControlPlane, installed: Api, tmp_path: Path) -> Guard:
    """A fresh account and no memory."""
    installed.call("DELETE", f"/api/v1/namespaces/{NAMESPACE}/configmaps/idle-guard-memory")
    return Guard(control_plane, tmp_path)


@pytest.fixture
def waiting(installed: Api) -> Iterator[Object]:
    """A pod that asks for more devices than any node has."""
    made = pod("wants", "default", resources={"aws.amazon.com/neuron": "64"})
    installed.create({"apiVersion": "v1", "kind": "Pod", **made} if "kind" not in made else made).ok()
    wait(lambda: is_unschedulable(installed, made), "the scheduler finds no node")
    yield made
    installed.delete(made, grace_s=0)
    wait(lambda: not installed.exists(made), "it is gone")


def test_idle_nodes_are_found_and_their_group_is_emptied(guard: Guard):
    """The first look begins to count, the second finds them idle; the memory is in the cluster."""
    assert f"{GROUP} last used 0 min ago" in guard.look()
    wait(lambda: f"{GROUP} was set to zero nodes" in guard.look(), "the nodes count as idle")
    assert guard.site.size == 0
    assert len(guard.site.messages) == 1


def test_a_pending_pod_keeps_the_group(guard: Guard, waiting: Object):
    """Wherever it is, and however long it waits."""
    for _ in range(2):
        assert f"{GROUP} last used 0 min ago" in guard.look()
    assert (guard.site.size, guard.site.messages) == (2, [])


def test_it_may_do_nothing_else(control_plane: ControlPlane, installed: Api):
    """Neither with nodes and pods, nor with secrets, nor with the memory of others."""
    theirs = control_plane.api(f"system:serviceaccount:{NAMESPACE}:{NAME}")
    assert theirs.call("GET", "/api/v1/pods").status == 200
    for method, path in (
        ("GET", "/api/v1/secrets"), ("GET", "/api/v1/namespaces/kube-system/configmaps"), ("DELETE", f"/api/v1/namespaces/{NAMESPACE}/pods/x"),
        ("DELETE", f"/api/v1/namespaces/{NAMESPACE}/configmaps/x"), ("PATCH", "/api/v1/nodes/x"), ("GET", "/apis/apps/v1/deployments"),
    ):  # fmt: skip
        assert theirs.call(method, path, {} if method == "PATCH" else None, "application/merge-patch+json").status == 403, (method, path)
