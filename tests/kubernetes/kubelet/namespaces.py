"""The calls of Linux that make a container out of a process: namespaces, mounts, a new root. Only the standard library."""

import ctypes
import os
import signal
import threading
from collections.abc import Callable
from typing import TypeVar

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x4000000, 0x8000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
MNT_DETACH = 2
PR_SET_PDEATHSIG = 1

Made = TypeVar("Made")
_libc = ctypes.CDLL(None, use_errno=True)


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


def in_network(network: str, make: Callable[[], Made]) -> Made:
    """What `make` gives when it is called inside that network namespace (a path): sockets stay there. Raises what it raises.

    In a thread of its own, which ends there: from a user namespace there is no way back into the machine's network.
    """
    found: list[Made] = []
    failed: list[OSError] = []

    def run() -> None:
        try:
            enter(network, CLONE_NEWNET)
            found.append(make())
        except OSError as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return found[0]
