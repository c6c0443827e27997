"""Tools are those that the program pins, are built once, and a build that is cut short leaves nothing that looks whole."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from addons.versions import ETCD_IMAGE, MPI_OPERATOR_IMAGE, NEURON_SCHEDULER_TAGS, TRAINER, TRAINING_OPERATOR_VERSION, VOLCANO
from local_kubernetes import build
from local_kubernetes.sources import MODULES
from stacks.config import parse_settings
from tests.support import ROOT, dev_configuration

KUBERNETES = parse_settings(dev_configuration(), "dev", rehearsal=True).control_plane.kubernetes_version
PINS = {
    "volcano": f"v{VOLCANO.version}",
    # The second scheduler is Kubernetes' own, at the patch that is pinned for the minor.
    "kubernetes": NEURON_SCHEDULER_TAGS[KUBERNETES],
    # Kubernetes' libraries are v0 where it is v1.
    "kubelet-streams": "v0" + NEURON_SCHEDULER_TAGS[KUBERNETES].removeprefix("v1"),
    "etcd": ETCD_IMAGE.rpartition(":")[2],
    "trainer": f"v{TRAINER.version}",
    # Trainer's chart brings the JobSet that it was built with.
    "jobset": MODULES["sigs.k8s.io/jobset"],
    "training-operator": TRAINING_OPERATOR_VERSION,
    "mpi-operator": f"v{MPI_OPERATOR_IMAGE.rpartition(':')[2]}",
    # The release before the chart's 1.7.0, whose module the registry did not give on 2026-11-22.
    "kuberay": "v1.6.2",
    # The Helm that pulumi-kubernetes 4.34 holds (pulumi/pulumi-kubernetes provider/go.mod): what installs the releases.
    "helm": "v3.20.2",
    "kwok": "v0.8.0",
    # Stands for any registry; nothing of it is in a cluster.
    "registry": "v3.1.2",
}
FAKE_GO = """#!/bin/sh
case "$1" in
env) echo go1.99 ;;
build) sleep 0.3; echo built >> "$COUNT"; while [ "$1" != -o ]; do shift; done; echo program > "$2" ;;
esac
"""


@pytest.fixture
def fake_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A Go that writes down each build, and a cache of the test's own; gives the file that it writes to."""
    (tmp_path / "bin").mkdir()
    go = tmp_path / "bin/go"
    go.write_text(FAKE_GO)
    go.chmod(0o755)
    for name, value in {
        "PATH": f"{go.parent}{os.pathsep}{os.environ['PATH']}",
        "COUNT": str(tmp_path / "count"),
        "TRN_TOOLS": str(tmp_path / "kept"),
    }.items():
        monkeypatch.setenv(name, value)
    build._go_version.cache_clear()
    yield tmp_path / "count"
    build._go_version.cache_clear()


def test_each_tool_is_the_version_that_the_program_installs():
    """A tier that runs another version than the cluster shows nothing about the cluster."""
    assert set(PINS) == {path.name for path in build.FOLDER.iterdir()}
    assert {name: build.version(name) for name in build.TOOLS} == PINS


@pytest.mark.parametrize("name", [name for name, tool in build.TOOLS.items() if tool.adds_to])
def test_what_is_added_to_a_module_is_there(name: str):
    """A tool that is kept from an earlier build does not miss it."""
    for module in build.TOOLS[name].adds_to:
        assert list((build.FOLDER / name / "additions" / module).rglob("*.go"))


@pytest.mark.parametrize("name", build.TOOLS)
def test_a_module_is_pinned_whole(name: str):
    """With checksums for all that it takes in, and no local replacement."""
    folder = build.FOLDER / name
    assert (folder / "go.sum").stat().st_size > 0
    text = (folder / "go.mod").read_text()
    assert text.startswith(f"module trn.example/tools/{name}\n")
    assert "=> ." not in text
    assert "=> /" not in text


def test_a_tool_is_built_once(fake_go: Path):
    """And each build is reported."""
    heard: list[str] = []
    for _ in range(2):
        found = build.tools("etcd", built=lambda name, _: heard.append(name))
        assert found["etcd"].read_text() == "program\n"
    assert heard == ["etcd"]
    assert fake_go.read_text() == "built\n"


def test_one_binary_has_every_name_that_it_is_started_by(fake_go: Path):
    """It looks at its name to know what it is."""
    found = build.tools("kubernetes")
    assert set(found) == {"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"}
    assert {path.resolve() for path in found.values()} == {found["kube-apiserver"].resolve()}
    assert {path.name for path in found.values()} == set(found)


def test_two_runs_at_once_build_once(fake_go: Path):
    """The second waits for the first."""
    command = [sys.executable, "-m", "local_kubernetes.build", "etcd"]
    runs = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = sorted(run.communicate()[0] for run in runs)
    assert fake_go.read_text() == "built\n"
    assert ["there already" in line for line in said].count(True) == 1


def test_a_build_that_fails_leaves_nothing(fake_go: Path, tmp_path: Path):
    """Half a tool would be taken for a whole one by every later run."""
    (tmp_path / "bin/go").write_text('#!/bin/sh\n[ "$1" = env ] && echo go1.99 || { echo "main.go:3: undefined" >&2; exit 1; }\n')
    with pytest.raises(RuntimeError, match="undefined"):
        build.tools("etcd")
    assert [path.name for path in (tmp_path / "kept").iterdir() if not path.name.endswith(".lock")] == []


@pytest.mark.parametrize("says", ["dial tcp: lookup proxy.golang.org: no such host", "Get https://proxy.golang.org: proxyconnect tcp"])
def test_a_machine_without_the_registry_skips(fake_go: Path, tmp_path: Path, says: str):
    """It is no fault of the program."""
    (tmp_path / "bin/go").write_text(f'#!/bin/sh\n[ "$1" = env ] && echo go1.99 || {{ echo "{says}" >&2; exit 1; }}\n')
    with pytest.raises(build.Missing, match="cannot be had"):
        build.tools("etcd")


def test_a_machine_without_go_skips(fake_go: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """With the reason."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(build.Missing, match="no Go"):
        build.tools("etcd")


def test_another_pin_is_another_folder(fake_go: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A tool is never changed where another run may use it."""
    before = build.tools("etcd")["etcd"]
    copied = tmp_path / "tools/etcd"
    copied.mkdir(parents=True)
    for path in (build.FOLDER / "etcd").iterdir():
        (copied / path.name).write_text(path.read_text())
    with (copied / "go.mod").open("a") as file:
        file.write("// changed\n")
    monkeypatch.setattr(build, "FOLDER", tmp_path / "tools")
    after = build.tools("etcd")["etcd"]
    assert before.parent != after.parent
    assert before.exists()
