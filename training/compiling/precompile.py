"""Fills a job's compile cache: `python3 precompile.py --tool TOOL -- COMMAND...`, on each node of a short run of the job.

Node 0 first removes what an interrupted compilation left: locks, for which every later start waits without end, and entries of
compilations that failed, which are not tried again. The other nodes wait for that, by a connection to node 0: it would remove the locks
that they have taken. Then the command runs: under neuron_parallel_compile, which collects the graphs of a run
whose results mean nothing and compiles them side by side; with `--tool none` as it is, which compiles one graph after the other.
NEURON_COMPILE_CACHE_URL is a folder or s3://BUCKET/PREFIX. Standard library, and boto3 for S3, which libneuronxla needs there itself.

An entry is neuronxcc-VERSION/MODULE_HASH+FLAGS with model.hlo_module.pb (the graph), then model.neff and model.done where it is compiled,
or model.log and no model.neff where that failed, and model.hlo_module.pb.lock while it is compiled (public caches on the Hugging Face Hub,
aws-neuron/optimum-neuron-cache; older compilers write model.hlo.pb, and a model.neff of a few bytes for a failure).

Exit code: that of the command; 1 where it was 0 and graphs failed to compile.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

ENTRY = re.compile(r"(?:.*/)?(neuronxcc-[^/]+/MODULE_[^/]+)/([^/]+)")
SMALLEST_NEFF = 64
"""Bytes; what is smaller is the mark of a failure that older compilers write."""
CACHE = "NEURON_COMPILE_CACHE_URL"
REPAIRED, LOOK_S, ANSWER_S = b"repaired", 1.0, 5.0
PORT_BELOW = 1
"""Node 0 answers at the port below the job's own: those above are the entry script's."""


class State(NamedTuple):
    """What is in a cache: names of entries, and of files that are locks."""

    compiled: list[str]
    failed: list[str]
    collected: list[str]
    """Graphs that are not compiled yet."""
    locks: list[str]


def state(sizes: Mapping[str, int]) -> State:
    """What is in a cache, from the sizes of its files by path."""
    entries: dict[str, dict[str, int]] = {}
    for name, size in sizes.items():
        found = ENTRY.fullmatch(name)
        if found is not None:
            entries.setdefault(found[1], {})[found[2]] = size
    result = State([], [], [], sorted(name for name in sizes if ENTRY.fullmatch(name) and name.endswith(".lock")))
    for entry, files in sorted(entries.items()):
        neff = files.get("model.neff", -1)
        if "model.done" in files and neff >= 0:
            result.compiled.append(entry)
        elif "model.log" in files and neff < SMALLEST_NEFF:
            result.failed.append(entry)
        elif neff >= SMALLEST_NEFF and "model.log" not in files:
            # Older compilers write no model.done.
            result.compiled.append(entry)
        else:
            result.collected.append(entry)
    return result


class Folder:
    """A cache on a file system."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)

    def sizes(self) -> dict[str, int]:
        """Bytes of each file, by path."""
        return {path.relative_to(self.path).as_posix(): path.stat().st_size for path in self.path.glob("**/*") if path.is_file()}

    def remove(self, names: Iterable[str]) -> None:
        """Delete files, and folders that are empty then."""
        for name in names:
            path = self.path / name
            path.unlink(missing_ok=True)
            if not any(path.parent.iterdir()):
                path.parent.rmdir()


class Bucket:
    """A cache in S3."""

    def __init__(self, url: str, client: Any = None) -> None:
        if client is None:
            # The image's own: this program's environment is elsewhere.
            client = importlib.import_module("boto3").client("s3")
        self.bucket, _, self.prefix = url[len("s3://") :].partition("/")
        self.client = client

    def sizes(self) -> dict[str, int]:
        """Bytes of each object, by key."""
        # With its slash: `cache` is the beginning of `cache-2/` too, which is another's.
        below = f"{self.prefix.rstrip('/')}/" if self.prefix.strip("/") else ""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=below)
        return {item["Key"]: item["Size"] for page in pages for item in page.get("Contents", ())}

    def remove(self, names: Iterable[str]) -> None:
        """Delete objects."""
        for name in names:
            self.client.delete_object(Bucket=self.bucket, Key=name)


def cache_of(url: str) -> Folder | Bucket:
    """The cache of an address."""
    return Bucket(url) if url.startswith("s3://") else Folder(url)


def repair(cache: Folder | Bucket) -> State:
    """Remove locks and failed entries; what was there before."""
    sizes = cache.sizes()
    before = state(sizes)
    bad = [name for name in sizes if (found := ENTRY.fullmatch(name)) and found[1] in before.failed]
    cache.remove(dict.fromkeys([*before.locks, *bad]))
    return before


def say(**line: Any) -> None:
    """One line of progress."""
    print(json.dumps({"precompile": line.pop("event"), **line}), flush=True)


def place() -> Any:
    """Where this node is among the job's, as the entry script finds it."""
    import launcher_variables

    return launcher_variables.read(os.environ)


def say_repaired(port: int, others: int) -> threading.Thread:
    """Answer at a port until so many other nodes have asked, each with its number: the cache is repaired. Gives the thread that does it."""
    server = socket.create_server(("", port))

    def answer() -> None:
        heard = set[bytes]()
        with server:
            while len(heard) < others:
                connection, _ = server.accept()
                connection.settimeout(ANSWER_S)
                with connection, suppress(OSError):
                    node = connection.recv(16)
                    connection.sendall(REPAIRED)
                    heard |= {node} if node else set()

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    return thread


def wait_for_repair(node: int, address: str, port: int) -> None:
    """Returns when node 0 has repaired the cache. Its pod may start long after this one; where it fails, the job ends this one too."""
    while True:
        # Its name or its server is not there yet.
        with suppress(OSError), socket.create_connection((address, port), ANSWER_S) as connection:
            connection.sendall(str(node).encode())
            if connection.recv(len(REPAIRED)) == REPAIRED:
                return
        time.sleep(LOOK_S)


def main(words: list[str]) -> int:
    """The command line."""
    if words[:1] != ["--tool"] or words[2:3] != ["--"] or len(words) < 4:
        print("usage: precompile.py --tool neuron_parallel_compile|none -- COMMAND...", file=sys.stderr)
        return 2
    url = os.environ.get(CACHE, "")
    if not url:
        print(f"{CACHE} is not set: what is compiled would be lost", file=sys.stderr)
        return 2
    cache, here = cache_of(url), place()
    first, before = here.rank == 0, state({})
    if first:
        before = repair(cache)
        say(event="repaired", locks=len(before.locks), failed=len(before.failed), compiled=len(before.compiled))
    else:
        wait_for_repair(here.rank, here.address, here.port - PORT_BELOW)
    telling = say_repaired(here.port - PORT_BELOW, here.node_count - 1) if first else None
    tool = [] if words[1] == "none" else [words[1]]
    code = subprocess.run([*tool, *words[3:]], check=False).returncode
    if telling is None:
        return code
    # A node whose pod starts late must still find it.
    telling.join()
    after = state(cache.sizes())
    say(
        event="done",
        compiled=len(after.compiled),
        more=len(set(after.compiled) - set(before.compiled)),
        failed=len(after.failed),
        collected=len(after.collected),
    )
    for entry in after.failed:
        say(event="failed", entry=entry)
    return code or (1 if after.failed else 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
