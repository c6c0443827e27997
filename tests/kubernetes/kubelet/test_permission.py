"""What a kubelet may do on a machine: its own user namespace without root, and which folders can be laid over in one piece."""

import os

import pytest

from tests.kubernetes.kubelet.permission import with_permission
from tests.kubernetes.kubelet.processes import Process, pidfd, process
from tests.kubernetes.kubelet.root import has_mounts_below, mount_points

MOUNTS = "/dev/vda / ext4 rw 0 0\nproc /proc proc rw 0 0\ntmpfs /run/user\\0401 tmpfs rw 0 0\n/dev/vdb /home ext4 rw 0 0\n"


def test_mount_points_are_read_with_their_spaces():
    """The kernel writes a space in a path as \\040."""
    assert mount_points(MOUNTS) == {"/", "/proc", "/run/user 1", "/home"}


@pytest.mark.parametrize(
    ("path", "below"), [("/", True), ("/run", True), ("/home", False), ("/proc", False), ("/usr", False), ("/ho", False)]
)
def test_a_folder_is_laid_over_in_one_piece_where_nothing_is_mounted_below_it(path, below):
    """A mount point itself may be: it is one file system."""
    assert has_mounts_below(path, mount_points(MOUNTS)) is below


def test_root_needs_no_user_namespace(monkeypatch):
    """And without root a kubelet gets one, or joins that of its pods."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert with_permission(["kubelet"], None, as_user=False) == ["kubelet"]
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert with_permission(["kubelet"], None, as_user=False) == ["unshare", "--user", "--map-root-user", "kubelet"]
    here = process(os.getpid())
    assert with_permission(["kubelet"], here, as_user=False)[:4] == ["nsenter", "--target", str(os.getpid()), "--user"]
    assert with_permission(["kubelet"], Process(os.getpid(), "another"), as_user=False)[0] == "unshare"


def test_a_process_is_not_another_with_the_same_id():
    """Ids are used again: a signal must not reach a stranger."""
    assert process(os.getpid()).alive
    assert not Process(os.getpid(), "another").alive
    assert pidfd(Process(os.getpid(), "another")) is None
    assert not process(2**22 + 1).alive
