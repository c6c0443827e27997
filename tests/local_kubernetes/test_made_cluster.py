"""A cluster that a tool makes is named before it is made, deleted by that name alone, and never taken for another's."""

import json
import os
import stat
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import pytest

from local_kubernetes import made_cluster
from local_kubernetes.clients import Administrator, Unusable, administrator_of, kubeconfig
from local_kubernetes.errors import LocalKubernetesError
from local_kubernetes.running import IDENTITY
from local_kubernetes.ways import GO, KIND, WAYS, Way, cluster_name
from tests.local_kubernetes.fake_tools import FakeTool

PARTS = {name: b64encode(name.encode()).decode() for name in ("client-certificate-data", "client-key-data")}
KUBECONFIG = json.dumps(kubeconfig("https://127.0.0.1:6443", b"authority", PARTS))
MADE_BY_TOOLS = pytest.mark.parametrize("way", [way for way in WAYS if way.makes_clusters], ids=lambda way: way.name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of a stack's control plane, not made yet."""
    return tmp_path / "kubernetes"


@pytest.fixture
def tool(way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeTool:
    """The way's tool."""
    fake = FakeTool(tmp_path, way.name, KUBECONFIG)
    monkeypatch.setenv("PATH", f"{fake.folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "users-own"))
    return fake


def make(folder: Path, way: Way) -> made_cluster.Made:
    """Make it, with nothing to settle in it."""
    return made_cluster.make(folder, way, "dev", lambda _: None, lambda _: None)


@MADE_BY_TOOLS
def test_one_is_made_found_again_and_deleted(way: Way, tool: FakeTool, folder: Path):
    """The second time nothing is made; others' clusters stay; the user's own kubeconfig is written by none of it."""
    tool.has("others")
    said: list[str] = []
    settled: list[Administrator] = []
    made = made_cluster.make(folder, way, "dev", said.append, settled.append)
    assert said == [f"making the cluster {made.name} with {way.name} v9.8.7"]
    assert settled == [Administrator("https://127.0.0.1:6443", b"authority", b"client-certificate-data", b"client-key-data")]
    assert tool.clusters == {"others", made.name}
    assert make(folder, way) == made
    assert [line for line in tool.asked if "create" in line] == [" ".join(way.command(way.create, made.name, own(folder))[1:])]
    assert stat.S_IMODE((folder / IDENTITY / made_cluster.KUBECONFIG).stat().st_mode) == 0o600
    assert made_cluster.way_of(folder) == way
    made_cluster.delete(folder, said.append)
    assert tool.clusters == {"others"}
    assert tool.kubeconfigs <= {str(own(folder)), str(folder.parent / "users-own")}
    assert [line for line in tool.asked if "delete" in line] == [" ".join(way.command(way.delete, made.name, own(folder))[1:])]
    assert made_cluster.way_of(folder) is None


def own(folder: Path) -> Path:
    """The file that a tool may write."""
    return folder / IDENTITY / made_cluster.OWN


@MADE_BY_TOOLS
def test_a_name_that_is_taken_is_refused(way: Way, tool: FakeTool, folder: Path):
    """Whoever made it: the folder does not say that it did. It says how to delete it, and deletes nothing."""
    name = cluster_name("dev", folder)
    tool.has(name)
    with pytest.raises(LocalKubernetesError, match="was not made by this folder") as raised:
        make(folder, way)
    assert way.delete_hint(name) in raised.value.hint
    made_cluster.delete(folder, lambda _: None)
    assert tool.clusters == {name}
    assert not folder.exists()


@MADE_BY_TOOLS
def test_a_tool_that_fails_leaves_nothing(way: Way, tool: FakeTool, folder: Path, capfd: pytest.CaptureFixture[str]):
    """What it had begun is deleted again; what it says is seen."""
    tool.will("fails")
    with pytest.raises(LocalKubernetesError, match=f"{way.name} made no cluster"):
        make(folder, way)
    assert "no container engine answers" in capfd.readouterr().err
    assert tool.clusters == set()
    assert made_cluster.way_of(folder) is None


@pytest.mark.parametrize("way", [KIND], ids=["kind"])
@pytest.mark.parametrize("goes_on_by", ["up", "down"])
def test_a_kill_in_the_middle_leaves_a_name(way: Way, tool: FakeTool, folder: Path, goes_on_by: str):
    """Of the cluster that the tool goes on to make: the next `up` begins anew, and `down` deletes it."""
    tool.will("dies")
    program = (
        "import sys; from pathlib import Path; from local_kubernetes import made_cluster, ways;"
        "made_cluster.make(Path(sys.argv[1]), ways.named(sys.argv[2]), 'dev', print, print)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(folder), way.name], capture_output=True, text=True, check=False)
    assert done.returncode == -9, done.stderr
    name = cluster_name("dev", folder)
    assert made_cluster.read(folder) == made_cluster.Made(way.name, name, is_whole=False)
    assert tool.clusters == {name}
    if goes_on_by == "up":
        assert make(folder, way).is_whole
        assert [line.split()[0] for line in tool.asked if line.split()[0] in ("create", "delete")] == ["create", "delete", "create"]
        assert tool.clusters == {name}
    made_cluster.delete(folder, lambda _: None)
    assert tool.clusters == set()


@MADE_BY_TOOLS
def test_what_cannot_be_deleted_stays_named(way: Way, tool: FakeTool, folder: Path):
    """A cluster of which nothing is known any more would run for ever."""
    made = make(folder, way)
    tool.will("keeps")
    with pytest.raises(LocalKubernetesError, match=f"the cluster {made.name} is still there: the daemon does not answer") as raised:
        made_cluster.delete(folder, lambda _: None)
    assert way.delete_hint(made.name) in raised.value.hint
    assert made_cluster.read(folder) == made
    tool.will_not("keeps")
    made_cluster.delete(folder, lambda _: None)
    assert tool.clusters == set()


@MADE_BY_TOOLS
def test_one_that_was_deleted_by_hand_is_made_again(way: Way, tool: FakeTool, folder: Path):
    """The name is this folder's still."""
    made = make(folder, way)
    subprocess.run(way.command(way.delete, made.name, own(folder)), check=True)
    assert make(folder, way) == made
    assert tool.clusters == {made.name}


@MADE_BY_TOOLS
def test_one_whose_folder_was_deleted_is_deleted(way: Way, tool: FakeTool, folder: Path, tmp_path: Path):
    """The process beside it knows its name."""
    made = make(folder, way)
    made_cluster.delete_without_folder(made, tmp_path / "elsewhere")
    assert tool.clusters == set()


def test_one_that_was_built_here_is_no_tools(folder: Path):
    """Its identity is kept in the same folder."""
    (folder / IDENTITY).mkdir(parents=True)
    assert made_cluster.read(folder) is None
    assert made_cluster.way_of(folder) == GO


def test_a_kubeconfig_may_name_files(tmp_path: Path):
    """kwokctl's does."""
    for name in ("ca", "crt", "key"):
        (tmp_path / name).write_text(name)
    tree = kubeconfig("https://h", b"", {"client-certificate": "crt", "client-key": "key"})
    tree["clusters"][0]["cluster"] = {"server": "https://h", "certificate-authority": str(tmp_path / "ca")}
    assert administrator_of(json.dumps(tree), tmp_path) == Administrator("https://h", b"ca", b"crt", b"key")


@pytest.mark.parametrize("text", ["", "[]", "{}", "\t", json.dumps(kubeconfig("https://h", b"a", {"token": "t"}))])
def test_a_kubeconfig_without_a_certificate_is_refused(text: str, tmp_path: Path):
    """The stack's own file would lack one too."""
    with pytest.raises(Unusable):
        administrator_of(text, tmp_path)
