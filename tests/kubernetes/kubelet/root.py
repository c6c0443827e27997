"""The root file system of one container: the machine's own, copied on write into memory, with a fresh /dev, /proc and /tmp.

Runs in the container's own process before its program does. Everything is in a private mount namespace: it goes with the process.
It needs no root: where / has mounts below it, a user namespace may not lay an overlay over it, so each folder without such mounts
gets an overlay of its own.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.kubernetes.kubelet import namespaces as linux

OLD = "/.old"
FRESH = ("/proc", "/sys", "/dev", "/tmp")
"""Not taken from the machine as they are."""
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
"""All the devices that a container has."""
LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx"}
UNSAFE = set(",:\\")
"""Characters that mean something in the options of an overlay."""


def build(place: str, mounts: list[dict[str, Any]], *, read_only: bool = False, kept_of_tmp: Sequence[str] = ()) -> None:
    """Make the container's root at `place` (an empty folder), with its mounts, and change to it. Raises OSError.

    `kept_of_tmp`: folders of the machine's /tmp that are seen in the container's, to read.
    """
    linux.unshare(linux.CLONE_NEWNS)
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    points = mount_points(Path("/proc/self/mounts").read_text())
    linux.mount("tmpfs", place, "tmpfs")
    root = f"{place}/root"
    os.mkdir(root)
    linux.mount("tmpfs", root, "tmpfs", 0, "mode=755")
    _mirror("/", root, _Layers(place, points, skipped={*FRESH, *(path for path in points if path.startswith(place))}))
    for path in (*FRESH, OLD):
        os.makedirs(root + path, exist_ok=True)
    linux.change_root(root, root + OLD)
    os.chdir("/")
    _system_folders()
    for path in kept_of_tmp:
        os.mkdir(path)
        bind_readable(OLD + path, path)
    for each in mounts:
        _bind(each)
    linux.detach(OLD)
    os.rmdir(OLD)
    if read_only:
        _freeze("/")


def mount_points(text: str) -> set[str]:
    """Where anything is mounted, from /proc/self/mounts."""
    return {line.split(" ")[1].encode().decode("unicode_escape") for line in text.splitlines()}


def has_mounts_below(path: str, points: set[str]) -> bool:
    """Anything but the path itself."""
    prefix = path.rstrip("/") + "/"
    return any(point != path and point.startswith(prefix) for point in points)


class _Layers:
    """Upper folders of overlays, in memory."""

    def __init__(self, place: str, points: set[str], skipped: set[str]) -> None:
        self.points, self.skipped = points, skipped
        self._place, self._count = place, 0
        self._options = ",userxattr" if _in_user_namespace() else ""

    def overlay(self, path: str, target: str) -> None:
        """A folder copied on write; one for which that is refused can only be read. Raises OSError."""
        self._count += 1
        upper, work = (f"{self._place}/{kind}{self._count}" for kind in ("upper", "work"))
        os.mkdir(upper)
        os.mkdir(work)
        # The overlay's own folder takes its owner and mode from the upper one.
        os.chmod(upper, os.stat(path).st_mode & 0o7777)
        try:
            linux.mount("overlay", target, "overlay", 0, f"lowerdir={path},upperdir={upper},workdir={work}{self._options}")
        except OSError:
            bind_readable(path, target)


def _in_user_namespace() -> bool:
    return Path("/proc/self/uid_map").read_text().split() != ["0", "0", "4294967295"]


def _mirror(path: str, target: str, layers: _Layers) -> None:
    """Lay a folder over: in one piece, or, where something is mounted in it, entry by entry."""
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except PermissionError:
        return
    for entry in entries:
        inner = f"{target}/{entry.name}"
        if entry.path in layers.skipped:
            continue
        if entry.is_symlink():
            os.symlink(os.readlink(entry.path), inner)
        elif not entry.is_dir():
            if entry.is_file():
                Path(inner).touch()
                bind_readable(entry.path, inner)
        else:
            os.mkdir(inner)
            if has_mounts_below(entry.path, layers.points) or not UNSAFE.isdisjoint(entry.path):
                _mirror(entry.path, inner, layers)
            else:
                layers.overlay(entry.path, inner)


def bind_readable(source: str, target: str) -> None:
    """Bind a file or folder so that it can only be read. Raises OSError."""
    linux.mount(source, target, None, linux.MS_BIND)
    _freeze(target)


def _freeze(target: str) -> None:
    # In a user namespace the mount's own flags must stay.
    kept = os.statvfs(target).f_flag & (linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC)
    linux.mount("none", target, None, linux.MS_REMOUNT | linux.MS_BIND | linux.MS_RDONLY | kept)


def _system_folders() -> None:
    linux.mount("proc", "/proc", "proc")
    try:
        # A new one shows the interfaces of the pod's network.
        linux.mount("sysfs", "/sys", "sysfs", linux.MS_RDONLY)
    except OSError:
        # Without root, on the machine's own network.
        linux.mount(f"{OLD}/sys", "/sys", None, linux.MS_BIND | linux.MS_REC)
    linux.mount("tmpfs", "/dev", "tmpfs", linux.MS_NOSUID, "mode=755")
    for name in DEVICES:
        Path("/dev", name).touch()
        linux.mount(f"{OLD}/dev/{name}", f"/dev/{name}", None, linux.MS_BIND)
    for folder in ("pts", "shm"):
        os.mkdir(f"/dev/{folder}")
    linux.mount("devpts", "/dev/pts", "devpts", 0, "newinstance,ptmxmode=0666,mode=620")
    for name, link in LINKS.items():
        os.symlink(link, f"/dev/{name}")
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
        _freeze(target)
