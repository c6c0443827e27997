"""The script that fills a compile cache, with a compiler of the tests' own, and the cache's states as compilers leave them."""

import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support import SHEBANG
from training.compiling import precompile
from training.payload import ENTRY

VERSION = "neuronxcc-2.25.3371.0+f524b039"
GRAPH, NEFF = "model.hlo_module.pb", b"n" * 4096
STATES: dict[str, dict[str, bytes]] = {
    "compiled": {GRAPH: b"g", "compile_flags.json": b"[]", "model.neff": NEFF, "model.done": b""},
    "compiled by an older one": {"model.hlo.pb": b"g", "model.neff": NEFF},
    "failed": {GRAPH: b"g", "compile_flags.json": b"[]", "model.log": b"ERROR"},
    "failed in an older one": {"model.hlo.pb": b"g", "model.neff": b"fail\n", "model.log": b"ERROR"},
    "interrupted": {GRAPH: b"g", "compile_flags.json": b"[]", f"{GRAPH}.lock": b""},
    "collected": {GRAPH: b"g", "compile_flags.json": b"[]"},
}
FAKE = """# Collects a graph for each word of $GRAPHS by running the command, then compiles what has no model.neff; waits for no lock.
import os, pathlib, subprocess, sys
cache = pathlib.Path(os.environ["NEURON_COMPILE_CACHE_URL"]) / "{version}"
code = subprocess.run(sys.argv[1:], env={{**os.environ, "NEURON_EXTRACT_GRAPHS_ONLY": "1"}}).returncode
for graph in os.environ["GRAPHS"].split():
    entry = cache / f"MODULE_{{graph}}+1"
    entry.mkdir(parents=True, exist_ok=True)
    if (entry / "model.done").exists() or (entry / "model.log").exists():
        continue
    if list(entry.glob("*.lock")):
        sys.exit("another process must be compiling")
    (entry / "model.hlo_module.pb").write_text("g")
    if graph.startswith("bad"):
        (entry / "model.log").write_text("ERROR")
        continue
    (entry / "model.neff").write_bytes(b"n" * 4096)
    (entry / "model.done").touch()
    with open(os.environ["COMPILED"], "a") as file:
        file.write(graph + "\\n")
sys.exit(code)
"""


def put(cache: Path, *names: str) -> None:
    """Entries in these states, named after them."""
    for name in names:
        folder = cache / VERSION / f"MODULE_{name.replace(' ', '_')}+1"
        folder.mkdir(parents=True)
        for file, body in STATES[name].items():
            (folder / file).write_bytes(body)


def named(entries: list[str]) -> set[str]:
    """States by the names of entries."""
    return {entry.partition("MODULE_")[2].removesuffix("+1").replace("_", " ") for entry in entries}


def test_each_state_is_told_by_the_files_of_an_entry(tmp_path: Path):
    """A failed entry is never tried again, and a lock is waited for without end."""
    put(tmp_path, *STATES)
    found = precompile.state(precompile.Folder(str(tmp_path)).sizes())
    assert named(found.compiled) == {"compiled", "compiled by an older one"}
    assert named(found.failed) == {"failed", "failed in an older one"}
    assert named(found.collected) == {"interrupted", "collected"}
    assert len(found.locks) == 1


def test_a_repair_takes_locks_and_failures_and_nothing_else(tmp_path: Path):
    """Not what is compiled, and no file that is not the cache's."""
    put(tmp_path, *STATES)
    for name in ("other.lock", f"{VERSION}/notes.lock", "MODULE_x+1.lock"):
        (tmp_path / name).write_text("mine")
    precompile.repair(precompile.Folder(str(tmp_path)))
    left = precompile.state(precompile.Folder(str(tmp_path)).sizes())
    assert (left.failed, left.locks, len(left.compiled), len(left.collected)) == ([], [], 2, 2)
    assert all((tmp_path / name).exists() for name in ("other.lock", f"{VERSION}/notes.lock", "MODULE_x+1.lock"))
    assert not (tmp_path / VERSION / "MODULE_failed+1").exists()


class FakeS3:
    """As much of a client as is used."""

    def __init__(self, sizes: dict[str, int]) -> None:
        self.sizes, self.deleted = sizes, list[str]()

    def get_paginator(self, name: str) -> "FakeS3":
        assert name == "list_objects_v2"
        return self

    def paginate(self, **given: str) -> list[dict[str, Any]]:
        return [{"Contents": [{"Key": key, "Size": size} for key, size in self.sizes.items() if key.startswith(given["Prefix"])]}, {}]

    def delete_object(self, **given: str) -> None:
        assert given["Bucket"] == "bucket"
        self.deleted.append(given["Key"])


def test_a_cache_in_s3_is_repaired_alike():
    """Below its prefix."""
    keys = {f"cache/{VERSION}/MODULE_a+1/{name}": len(body) for name, body in STATES["failed"].items()}
    keys |= {f"cache/{VERSION}/MODULE_b+1/{name}": len(body) for name, body in STATES["interrupted"].items()}
    others = {f"{other}/{VERSION}/MODULE_c+1/model.log": 3 for other in ("other", "cache-2")}
    client = FakeS3(keys | others)
    before = precompile.repair(precompile.Bucket("s3://bucket/cache", client))
    assert (len(before.failed), len(before.locks)) == (1, 1)
    gone = {key.rpartition("/")[2] for key in client.deleted if "MODULE_a" in key}
    assert gone == set(STATES["failed"])
    assert [key for key in client.deleted if "MODULE_b" in key] == [f"cache/{VERSION}/MODULE_b+1/{GRAPH}.lock"]
    assert not others.keys() & set(client.deleted)


def ran(tmp_path: Path, graphs: str, *, tool: str = "neuron_parallel_compile", **more: str) -> tuple[int, list[dict[str, Any]], str]:
    """The script as a pod starts it: exit code, its lines, and the graphs that were compiled."""
    program = tmp_path / "bin/neuron_parallel_compile"
    program.parent.mkdir(exist_ok=True)
    program.write_text(SHEBANG + FAKE.format(version=VERSION))
    program.chmod(0o755)
    compiled = tmp_path / "compiled"
    compiled.write_text("")
    environment = {
        "PATH": f"{program.parent}:{os.environ['PATH']}", "NEURON_COMPILE_CACHE_URL": str(tmp_path / "cache"), "GRAPHS": graphs,
        "COMPILED": str(compiled), "PYTHONPATH": str(ENTRY), **more,
    }  # fmt: skip
    command = [
        sys.executable,
        precompile.__file__,
        "--tool",
        tool,
        "--",
        sys.executable,
        "-c",
        "import os; print('worker', os.environ.get('NEURON_EXTRACT_GRAPHS_ONLY'))",
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert "worker 1" in done.stdout or tool == "none" or done.returncode == 2
    return done.returncode, lines, compiled.read_text()


def test_what_was_broken_is_compiled_and_a_second_run_is_warm(tmp_path: Path):
    """An interrupted graph, one that had failed, and a new one; then there is nothing left to do."""
    put(tmp_path / "cache", "compiled", "interrupted", "failed")
    code, lines, compiled = ran(tmp_path, "compiled interrupted failed new")
    assert (code, compiled.split()) == (0, ["interrupted", "failed", "new"])
    assert lines[0] == {"precompile": "repaired", "locks": 1, "failed": 1, "compiled": 1}
    assert {key: lines[-1][key] for key in ("compiled", "more", "failed", "collected")} == {
        "compiled": 4,
        "more": 3,
        "failed": 0,
        "collected": 0,
    }
    code, lines, compiled = ran(tmp_path, "compiled interrupted failed new")
    assert (code, compiled, lines[-1]["more"]) == (0, "", 0)


def test_a_graph_that_does_not_compile_is_named(tmp_path: Path):
    """The job would not start with it either."""
    code, lines, _ = ran(tmp_path, "good bad")
    assert (code, lines[-1]) == (1, {"precompile": "failed", "entry": f"{VERSION}/MODULE_bad+1"})


def test_only_the_first_node_repairs_and_the_others_wait_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A lock that another node took before would be removed while it compiles. The first one goes on until the last has asked."""
    monkeypatch.setattr(precompile, "LOOK_S", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    put(tmp_path / "cache", "failed")
    two = {"TRN_NODES": "2", "TRN_ADDRESS": "127.0.0.1", "TRN_PORT": str(port + precompile.PORT_BELOW)}
    with ThreadPoolExecutor() as pool:
        other = pool.submit(ran, tmp_path, "x", **two, TRN_NODE_RANK="1")
        with pytest.raises(TimeoutError):
            other.result(0.5)
        telling = precompile.say_repaired(port, 1)
        code, lines, compiled = other.result(20)
    telling.join(20)
    assert not telling.is_alive()
    assert (code, lines, compiled) == (0, [], "x\n")
    assert (tmp_path / "cache" / VERSION / "MODULE_failed+1").exists()


def test_without_a_tool_the_command_runs_as_it_is(tmp_path: Path):
    """JAX compiles as it runs."""
    (tmp_path / "cache").mkdir()
    code, lines, _ = ran(tmp_path, "", tool="none")
    assert (code, [line["precompile"] for line in lines]) == (0, ["repaired", "done"])


@pytest.mark.parametrize("words", [[], ["--tool", "x"], ["--tool", "x", "--"]])
def test_misuse_is_said(words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """On standard error; so is a cache that is nowhere."""
    monkeypatch.delenv("NEURON_COMPILE_CACHE_URL", raising=False)
    assert precompile.main(words) == 2
    assert precompile.main(["--tool", "none", "--", "true"]) == 2
    assert "would be lost" in capsys.readouterr().err
