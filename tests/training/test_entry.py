"""The entry script as a pod runs it: real processes, each with the standard library alone."""

import ast
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from entry import HUNG, STOPPED, outcome
from figures import said_by
from training.metrics_line import Event, parse

FOLDER = Path(__file__).parents[2] / "training" / "entry"
STEPS = """
import json, os, signal, sys, time
asked = []
signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
rank = os.environ["RANK"]
print("worker", rank, flush=True)
for step in range(1, {steps} + 1):
    if rank == "0":
        print(json.dumps({{"trn": "step", "step": step, "time": time.time(), "rank": 0, "loss": 1.0}}), flush=True)
    {each}
    time.sleep({seconds})
    if asked:
        print(json.dumps({{"trn": "event", "event": "stopped", "time": time.time(), "rank": int(rank), "step": step}}), flush=True)
        sys.exit(75)
"""
FAILS = 'if rank == "1" and step == 2: {}'


def entry(tmp_path, *, steps=3, seconds=0.01, each="pass", **variables: Any) -> subprocess.Popen[str]:
    """A node of two workers that count steps, with no variables but these. One of several nodes waits for nothing as long as in a pod."""
    script = tmp_path / "steps.py"
    script.write_text(STEPS.format(steps=steps, seconds=seconds, each=each))
    environment = {
        "PATH": os.environ["PATH"],
        "TRN_START": "jax",
        "TRN_WORKERS_PER_NODE": "2",
        "TRN_HEARTBEAT": str(tmp_path / "beat"),
        "PYTHONPATH": str(FOLDER),
        **variables,
    }
    quick = "import sys, entry, peers; entry.PATIENCE_S, peers.BEAT_S = 0.1, 0.05; sys.exit(entry.main(sys.argv[1:]))"
    start = ["-c", quick] if "TRN_ADDRESS" in variables else [str(FOLDER / "entry.py")]
    argv = [sys.executable, "-S", *start, "--", sys.executable, "-S", str(script)]
    return subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def ended(process: subprocess.Popen[str]) -> tuple[int, list[Event], str]:
    """Exit code, events, and standard error of a node that has ended."""
    output, errors = process.communicate(timeout=30)
    events = [event for event in map(parse, output.splitlines()) if isinstance(event, Event)]
    return process.returncode, events, errors


def names(events: list[Event]) -> list[str]:
    """Their names."""
    return [event.event for event in events]


def heartbeat(tmp_path) -> dict:
    """What the heartbeat file says."""
    return json.loads((tmp_path / "beat").read_text())


def test_a_node_ends_well_when_all_workers_do(tmp_path):
    code, events, errors = ended(entry(tmp_path))
    assert (code, names(events), errors) == (0, ["starting", "ended"], "")
    assert (heartbeat(tmp_path)["state"], heartbeat(tmp_path)["step"]) == ("ended", 3)


def test_sigterm_becomes_a_checkpoint_and_exit_code_75(tmp_path):
    """What a launcher sends when a node is drained: the job is to start again and resume."""
    process = entry(tmp_path, steps=1000)
    assert process.stdout is not None
    awaited = {"worker 0", "worker 1"}
    while awaited:
        # Both have their handler by then: a worker without one yet ends by the signal itself.
        line = process.stdout.readline()
        assert line
        awaited.discard(line.strip())
    process.send_signal(signal.SIGTERM)
    code, events, _ = ended(process)
    assert code == STOPPED
    assert names(events) == ["stopping", "stopped", "stopped", "ended"]


def test_a_killed_worker_ends_the_node(tmp_path):
    """The others would wait for it for ever; the exit code says what happened, as a shell does."""
    code, events, _ = ended(entry(tmp_path, steps=1000, each=FAILS.format("os.kill(os.getpid(), 9)")))
    assert (code, events[-1].more["code"]) == (137, 137)


def test_a_failed_workers_exit_code_is_the_nodes(tmp_path):
    assert ended(entry(tmp_path, steps=1000, each=FAILS.format("sys.exit(3)")))[0] == 3


def test_a_hung_job_ends_only_where_that_was_asked_for(tmp_path):
    code, events, errors = ended(entry(tmp_path, steps=2, seconds=60, TRN_HANG_AFTER_S="1"))
    assert (code, names(events)) == (HUNG, ["starting", "hung", "ended"])
    assert "Fatal Python error: Aborted" in errors


def test_a_node_whose_peer_is_killed_ends_within_seconds(tmp_path):
    """Its own workers wait in a collective, as here, for the whole grace and more; it is to be started again, so 75."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1] + 2)
    variables: dict[str, Any] = {"TRN_NODES": "2", "TRN_ADDRESS": "127.0.0.1", "TRN_PORT": port, "TRN_WORKERS_PER_NODE": "1"}
    waits = "import threading; threading.Event().wait()"
    nodes = []
    for rank in "01":
        (tmp_path / rank).mkdir()
        nodes.append(entry(tmp_path / rank, each=waits, TRN_NODE_RANK=rank, **variables))
    for node in nodes:
        assert node.stdout is not None
        assert '"starting"' in node.stdout.readline()
    # Linked: node 1 tries about once a second.
    awaited = time.monotonic() + 10
    while time.monotonic() < awaited and not established(int(port) - 2):
        time.sleep(0.02)
    # The node with its workers, which would go on alone and hold its output.
    os.killpg(nodes[1].pid, signal.SIGKILL)
    code, events, _ = ended(nodes[0])
    assert (code, names(events)) == (STOPPED, ["peer-lost", "ended"])
    assert events[0].more["peer"] == 1
    nodes[1].communicate(timeout=10)


def established(port: int) -> bool:
    """Whether a connection to a port is open (Linux, /proc/net/tcp: state 01)."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return any(line.split()[2].endswith(f":{port:04X}") and line.split()[3] == "01" for line in lines)


def test_wrong_variables_end_before_anything_starts(tmp_path):
    code, events, errors = ended(entry(tmp_path, TRN_NODES="2"))
    assert (code, events, errors) == (2, [], "entry: local does not say where node 0 is; set TRN_ADDRESS\n")


def test_a_command_is_needed():
    process = subprocess.run([sys.executable, str(FOLDER / "entry.py"), "train.py"], capture_output=True, text=True)
    assert (process.returncode, process.stderr) == (2, "usage: entry.py -- COMMAND...\n")


@pytest.mark.parametrize(
    ("codes", "saved", "told", "code"),
    [
        ([0, 0], False, False, 0),
        ([0, None], False, False, 0),
        ([1], True, False, STOPPED),  # torchrun ends with 1 whatever its workers end with
        ([1], False, True, 143),
        ([STOPPED, STOPPED], True, True, STOPPED),
        ([STOPPED, 0], False, False, STOPPED),
        ([-9], False, False, 137),
        ([-9], True, True, 137),  # the checkpoint may be there, but not from all
        ([3], False, True, 3),
    ],
)
def test_the_exit_code_says_whether_to_start_again(codes, saved, told, code):
    assert outcome(codes, saved, told, hung=False) == code


def test_a_line_without_progress_is_none():
    assert [said_by(line) for line in (b"loss 3\n", b'{"trn": "st', b'{"trn":1} x')] == [None, None, None]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_files_of_a_pod_need_the_standard_library_of_python_3_9(path):
    """Images bring Python 3.10 to 3.14 and no package that could be relied on."""
    tree = ast.parse(path.read_text(), feature_version=(3, 9))
    imported = {alias.name.partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module).partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= set(sys.stdlib_module_names) | {file.stem for file in FOLDER.glob("*.py")}
