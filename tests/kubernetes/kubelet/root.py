"""The root file system of one container: the machine's own, copied on write into memory, with a fresh /dev, /proc and /tmp.

Runs in the container's own process before its program does. Everything is in a private mount namespace: it goes with the process.
"""

import os
import sys
from pathlib import Path
from typing import Any

from tests.kubernetes.kubelet import namespaces as linux

OLD = "/.old"
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
"""All the devices that a container has."""
LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx"}
DISK_KINDS = ("ext4", "xfs", "btrfs", "zfs", "overlay", "9p", "virtiofs", "nfs", "nfs4", "ext3")
"""File systems that may hold the machine's programs apart from /."""


def build(place: str, mounts: list[dict[str, Any]], read_only: bool) -> None:
    """Make the container's root at `place` (an empty folder), with its mounts, and change to it. Raises OSError."""
    linux.unshare(linux.CLONE_NEWNS)
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    linux.mount("tmpfs", place, "tmpfs")
    for name in ("upper", "work", "root"):
        os.mkdir(f"{place}/{name}")
    root = f"{place}/root"
    linux.mount("overlay", root, "overlay", 0, f"lowerdir=/,upperdir={place}/upper,workdir={place}/work")
    for path in _other_disks(place):
        linux.mount(path, root + path, None, linux.MS_BIND)
        linux.mount("none", root + path, None, linux.MS_REMOUNT | linux.MS_BIND | linux.MS_RDONLY)
    os.mkdir(root + OLD)
    linux.change_root(root, root + OLD)
    os.chdir("/")
    _system_folders()
    for each in mounts:
        _bind(each)
    linux.detach(OLD)
    os.rmdir(OLD)
    if read_only:
        linux.mount("none", "/", None, linux.MS_REMOUNT | linux.MS_BIND | linux.MS_RDONLY)


def _other_disks(place: str) -> list[str]:
    """Mount points of disks other than that of /, which an overlay of / does not show."""
    found = []
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, path, kind, *_ = line.split(" ")
        if kind in DISK_KINDS and path != "/" and not path.startswith(place) and "\\" not in path:
            found.append(path)
    return sorted(found, key=len)


def _system_folders() -> None:
    linux.mount("proc", "/proc", "proc")
    linux.mount(f"{OLD}/sys", "/sys", None, linux.MS_BIND | linux.MS_REC)
    linux.mount("tmpfs", "/dev", "tmpfs", linux.MS_NOSUID, "mode=755")
    for name in DEVICES:
        Path("/dev", name).touch()
        linux.mount(f"{OLD}/dev/{name}", f"/dev/{name}", None, linux.MS_BIND)
    for folder in ("pts", "shm"):
        os.mkdir(f"/dev/{folder}")
    linux.mount("devpts", "/dev/pts", "devpts", 0, "newinstance,ptmxmode=0666,mode=620")
    for name, target in LINKS.items():
        os.symlink(target, f"/dev/{name}")
    # A checkout or Python under /tmp is needed there; otherwise a container's /tmp is empty, as that of an image.
    if not any(path.startswith("/tmp/") for path in (sys.prefix, sys.base_prefix)):
        linux.mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777")


def _bind(wanted: dict[str, Any]) -> None:
    """One mount of the container; what is missing of its target is made, in memory."""
    source, target = OLD + wanted["source"], wanted["target"]
    if wanted["make"] == "folder" and not os.path.exists(source):
        os.makedirs(source)
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.islink(target):
            os.unlink(target)
        Path(target).touch()
    linux.mount(source, target, None, linux.MS_BIND | linux.MS_REC)
    if wanted["read_only"]:
        linux.mount("none", target, None, linux.MS_REMOUNT | linux.MS_BIND | linux.MS_RDONLY)
