"""Runs in a pod: writes and reads on a mounted file system, past the caches of the node, and prints how fast. Standard library only.

The data are random: the file system compresses what it can.
"""

import json
import mmap
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

FILES = 8
"""Files that are written side by side: Lustre puts each on a server of its own where it has several."""
FILE_MIB = 256
BLOCK = 16 * 2**20
LIMIT_S = 20
"""Of writing and of reading: a slow file system is measured by what it managed until then."""
FOLDER = ".trn-verify"
DIRECT = getattr(os, "O_DIRECT", 0)
STOPPED = threading.Event()
"""Set when the pod is ended from outside: what was written is still removed."""


def measure(mount: str, *, flags: int = DIRECT, file_mib: int = FILE_MIB, limit_s: float = LIMIT_S) -> dict[str, float]:
    """MB/s written and read. What an earlier run left in the way is removed, and so is what this one wrote."""
    folder = os.path.join(mount, FOLDER)
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    try:
        paths = [os.path.join(folder, str(number)) for number in range(FILES)]
        blocks = max(1, file_mib * 2**20 // BLOCK)
        return {
            "write_mb_per_s": _rate(paths, limit_s, lambda path, end: _write(path, blocks, flags, end)),
            "read_mb_per_s": _rate(paths, limit_s, lambda path, end: _read(path, flags, end)),
        }
    finally:
        shutil.rmtree(folder)


def _rate(paths: list[str], limit_s: float, work: Callable[[str, float], int]) -> float:
    began = time.monotonic()
    with ThreadPoolExecutor(len(paths)) as pool:
        done = sum(pool.map(lambda path: work(path, began + limit_s), paths))
    return done / 1e6 / (time.monotonic() - began)


def _write(path: str, blocks: int, flags: int, end: float) -> int:
    """Bytes written. One block at least, so that there is something to read."""
    done, file = 0, os.open(path, os.O_CREAT | os.O_WRONLY | flags)
    # Memory of a map starts on a page, which O_DIRECT wants.
    with mmap.mmap(-1, BLOCK) as block:
        block.write(os.urandom(BLOCK))
        for _ in range(blocks):
            done += os.write(file, block)
            if time.monotonic() >= end or STOPPED.is_set():
                break
    os.fsync(file)
    os.close(file)
    return done


def _read(path: str, flags: int, end: float) -> int:
    done, file = 0, os.open(path, os.O_RDONLY | flags)
    with mmap.mmap(-1, BLOCK) as block:
        while count := os.readv(file, [block]):
            done += count
            if time.monotonic() >= end or STOPPED.is_set():
                break
    os.close(file)
    return done


def file_system_type(mount: str, mounts: str) -> str:
    """Type of what is mounted at a path, from the text of /proc/mounts; empty for nothing."""
    lines = [line.split() for line in mounts.splitlines()]
    return next((line[2] for line in reversed(lines) if line[1] == mount), "")


def main(mount: str) -> None:
    """Print one line of JSON."""
    signal.signal(signal.SIGTERM, lambda number, frame: STOPPED.set())
    with open("/proc/mounts") as file:
        kind = file_system_type(mount, file.read())
    print(json.dumps({"type": kind, **measure(mount)}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
