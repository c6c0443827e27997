"""A control plane is found by its lock and its record, and what a killed one left is deleted, as often as asked."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from local_kubernetes import running
from local_kubernetes.errors import LocalKubernetesError
from local_kubernetes.ranges import is_free
from local_kubernetes.running import IDENTITY, RECORD, Record
from trn.practice.engine.project import EngineFolder


@pytest.fixture
def left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a control plane that was killed together with the keeper of its processes; gives the folder of those."""
    monkeypatch.setattr(running, "KEEPER_S", 0)
    processes = tmp_path / "processes"
    (processes / "log").mkdir(parents=True)
    folder = tmp_path / "kubernetes"
    (folder / IDENTITY).mkdir(parents=True)
    (folder / running.LOCK).touch()
    Record(2**22 + 1, str(processes), "https://127.0.0.1:1").write(folder)
    return processes


def test_one_that_was_killed_is_not_found(left: Path):
    """Its record names a server; nothing holds its lock."""
    assert running.find(left.parent / "kubernetes") is None


def test_what_a_killed_one_left_is_deleted(left: Path):
    """Its processes' folder too, which is outside of the practice account."""
    folder = left.parent / "kubernetes"
    assert running.stop(folder)
    assert not left.exists()
    assert not folder.exists()
    assert not running.stop(folder)


def test_clearing_keeps_the_identity(left: Path):
    """The next start has the same address and certificate authority: kubeconfigs hold."""
    folder = left.parent / "kubernetes"
    running.clear(folder)
    assert not left.exists()
    assert [path.name for path in folder.iterdir() if path.name != running.LOCK] == [IDENTITY]


def test_a_record_that_is_cut_off_counts_as_none(left: Path):
    """A full disk ends a write anywhere."""
    folder = left.parent / "kubernetes"
    (folder / RECORD).write_text('{"process": 12')
    assert running.find(folder) is None
    running.clear(folder)


def test_one_that_lives_is_not_cleared(left: Path):
    """Another command's control plane is in use."""
    folder = left.parent / "kubernetes"
    with running.held(folder):
        assert running.is_alive(folder)
        running.clear(folder)
        assert left.exists()
        found = running.find(folder)
        assert found is not None
        assert found.server == "https://127.0.0.1:1"
    assert not running.is_alive(folder)


def test_a_start_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """In the words of the process, with what to do."""

    def fail(command: list[str], *, stdout: object, **_: object) -> subprocess.Popen[bytes]:
        return real([sys.executable, "-c", "print('port 6443 is taken')"], stdout=stdout, start_new_session=True)  # type: ignore[call-overload]

    real = subprocess.Popen
    monkeypatch.setattr(running.subprocess, "Popen", fail)
    with pytest.raises(LocalKubernetesError, match="port 6443 is taken") as raised:
        running.start(tmp_path / "kubernetes")
    assert "trn practice down" in raised.value.hint


def test_a_taken_port_is_seen():
    """The one that the kept kubeconfigs name."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert not is_free(taken.getsockname()[1])
        port = taken.getsockname()[1]
    assert is_free(port)


def test_the_folder_of_a_stack_knows_its_control_plane(left: Path):
    """Without loading this room, which takes a second."""
    folder = EngineFolder(left.parent)
    assert folder.has_control_plane
    running.stop(folder.kubernetes)
    assert not folder.has_control_plane
