"""The calls of Linux that make a container out of a process: namespaces, mounts, a new root. Only the standard library."""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x4000000, 0x8000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 32, 4096, 16384, 1 << 18
MNT_DETACH = 2
PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True)


def why_not() -> str | None:
    """Why pods cannot run as processes on this machine; None where they can. Makes a throw-away container to find out."""
    if not sys.platform.startswith("linux"):
        return "pods as processes need Linux: namespaces and overlay mounts"
    if missing := [program for program in ("ip", "nsenter", "unshare") if shutil.which(program) is None]:
        return f"pods as processes need {', '.join(missing)} (util-linux, iproute2)"
    if os.geteuid() != 0:
        return "pods as processes need root: an overlay of / is refused in a user namespace where / has other mounts under it"
    script = (
        "mount -t tmpfs t /tmp && mkdir /tmp/u /tmp/w /tmp/r && mount -t overlay o -o lowerdir=/,upperdir=/tmp/u,workdir=/tmp/w /tmp/r"
        " && ip link add veth0 type veth peer name veth1 && ip link add bridge0 type bridge"
    )
    tried = subprocess.run(
        ["unshare", "--mount", "--net", "--pid", "--fork", "sh", "-c", script], capture_output=True, text=True, check=False
    )
    return f"namespaces, overlay mounts or virtual networks are not permitted here: {tried.stderr.strip()}" if tried.returncode else None


def _checked(result: int, what: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str, target: str, kind: str | None, flags: int = 0, options: str = "") -> None:
    """mount(2). Raises OSError."""
    _checked(
        _libc.mount(source.encode(), target.encode(), kind.encode() if kind else None, ctypes.c_ulong(flags), options.encode() or None),
        f"mount {source} on {target}",
    )


def detach(target: str) -> None:
    """umount2(2), also while it is in use. Raises OSError."""
    _checked(_libc.umount2(target.encode(), MNT_DETACH), f"umount {target}")


def unshare(flags: int) -> None:
    """unshare(2). Raises OSError."""
    _checked(_libc.unshare(flags), "unshare")


def enter(path: str, kind: int) -> None:
    """setns(2): the calling thread joins the namespace of that file. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        _checked(_libc.setns(descriptor, kind), f"enter {path}")
    finally:
        os.close(descriptor)


def change_root(new: str, old: str) -> None:
    """pivot_root(2). Raises OSError."""
    _checked(_libc.pivot_root(new.encode(), old.encode()), f"change the root to {new}")


def die_with_parent() -> None:
    """The calling process gets SIGKILL when the thread that made it ends."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


@contextmanager
def inside(network: str) -> Iterator[None]:
    """The calling thread is in that network namespace (a path) for the block: sockets made in it stay there."""
    own = f"/proc/self/task/{threading.get_native_id()}/ns/net"
    back = os.open(own, os.O_RDONLY)
    try:
        enter(network, CLONE_NEWNET)
        yield
    finally:
        _checked(_libc.setns(back, CLONE_NEWNET), "return to the own network")
        os.close(back)
