"""How fast the nodes write and read the shared file system, all at once: what a checkpoint and the first epoch will get.

With fio where the image has it, as direct input and output of large blocks; else by itself, with the page cache asked to forget each file.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import progress_lines

BLOCK = 2**20


def by_fio(folder: Path, size: int, files: int) -> dict[str, float]:
    """MB/s of this node by fio: `files` processes, blocks of 1 MiB, sequential, around the page cache."""
    found = {}
    for kind in ("write", "read"):
        options = [
            "--direct=1",
            "--ioengine=libaio",
            "--iodepth=8",
            "--bs=1M",
            f"--size={size // files}",
            f"--numjobs={files}",
            "--group_reporting",
        ]
        command = [
            "fio",
            f"--name={kind}",
            f"--rw={kind}",
            f"--directory={folder}",
            "--filename_format=part.$jobnum",
            *options,
            "--output-format=json",
        ]
        said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        found[kind] = said["jobs"][0][kind]["bw_bytes"] / 1e6
    return found


def by_hand(folder: Path, size: int, files: int) -> dict[str, float]:
    """The same without fio, one file after the other; a file counts as written when it is on disk."""
    block, parts = os.urandom(BLOCK), [folder / f"part.{number}" for number in range(files)]
    began = time.monotonic()
    for part in parts:
        with part.open("wb") as file:
            for _ in range(size // files // BLOCK):
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    written, began = time.monotonic() - began, time.monotonic()
    total = 0
    for part in parts:
        with part.open("rb", buffering=0) as file:
            while piece := file.read(BLOCK):
                total += len(piece)
    return {"write": total / written / 1e6, "read": total / (time.monotonic() - began) / 1e6}


def main(arguments: list[str]) -> int:
    """Measures; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", default="/fsx")
    parser.add_argument("--gib", type=float, default=32.0, help="of each node")
    parser.add_argument("--files", type=int, default=16)
    asked = parser.parse_args(arguments)
    rank, size = os.environ.get("RANK", "0"), int(asked.gib * 2**30)
    folder = Path(asked.folder, f"trn-file-system-{os.environ.get('TRN_JOB', 'job')}-{rank}")
    folder.mkdir(parents=True, exist_ok=True)
    tool = "fio" if shutil.which("fio") else "python"
    progress_lines.event("started", pid=os.getpid(), tool=tool, bytes=size)
    try:
        speeds = (by_fio if tool == "fio" else by_hand)(folder, size, asked.files)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for kind, speed in speeds.items():
        progress_lines.event("measured", kind=kind, mb_per_s=round(speed, 1))
    progress_lines.event("finished")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
