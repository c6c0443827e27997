"""What outlives a pod: lines of progress beside the checkpoints, what they come to, TensorBoard's events, and the last lines of a log."""

import json
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

import figures
import kept
import tensorboard_events
from entry import Others, exec_timeout
from kept import Kept
from tests.training.test_entry import ended, entry
from training.metrics_line import Event, parse
from worker_commands import Settings


def step(number: int, when: float, **more) -> dict:
    return {"trn": "step", "step": number, "time": when, "rank": 0, "loss": 1.0 / number, **more}


def started(when: float) -> dict:
    return {"trn": "event", "event": "started", "time": when, "rank": 0}


TWO_STARTS = [
    started(90.0), *(step(number, 100.0 + number) for number in range(1, 9)),
    # Killed after step 8, resumed from 5 after 40 seconds: 6 to 8 are done again.
    started(140.0), *(step(number, 150.0 + number - 6) for number in range(6, 11)),
]  # fmt: skip


def test_a_history_counts_starts_steps_and_what_the_restart_cost():
    found = figures.history(TWO_STARTS)
    assert found is not None
    assert (found["starts"], found["step"], found["steps_done"], found["lost"], found["step_s"]) == (2, 10, 10, 3, 1.0)
    # From step 8 at 108 to step 9 at 153, less the second that step 9 takes itself.
    assert found["restart_s"] == 44.0
    assert (found["began"], found["until"]) == (90.0, 154.0)
    assert [point[0] for point in found["points"]] == list(range(1, 11))


@pytest.mark.parametrize("lines", [[], [started(1.0)], [{"trn": "step", "step": "x", "time": 1, "loss": 2}], [{"trn": "step"}]])
def test_a_job_that_did_no_step_has_no_history(lines):
    assert figures.history(lines) is None


def test_a_long_history_is_said_in_few_points():
    found = figures.history([step(number, float(number)) for number in range(1, 5001)])
    assert found is not None
    assert (len(found["points"]), found["points"][0][0], found["points"][-1][0]) == (figures.POINTS, 1, 5000)
    assert len(json.dumps(found)) < 40_000


def keep(folder: Path, lines: list[bytes], rank: int = 0) -> Kept:
    """One start of a node that said these lines, to its end."""
    node = Kept(str(folder), rank, rank == 0)
    for line in lines:
        node.take(line)
    node.close()
    return node


def test_lines_of_progress_are_kept_and_read(tmp_path):
    lines = [json.dumps(step(number, 1.0)).encode() + b"\n" for number in (1, 2)]
    keep(tmp_path, [b"torch: hello\n", b"[default0]:" + lines[0], lines[1]])
    assert [said["step"] for said in figures.read(str(tmp_path))] == [1, 2]


def test_a_line_that_a_kill_cut_off_takes_no_other_along(tmp_path):
    keep(tmp_path, [json.dumps(step(1, 1.0)).encode() + b"\n"])
    with Path(figures.path(str(tmp_path))).open("ab") as file:
        file.write(b'{"trn": "step", "st')
    keep(tmp_path, [json.dumps(step(2, 2.0)).encode() + b"\n"])
    assert [said["step"] for said in figures.read(str(tmp_path))] == [1, 2]


def test_the_last_lines_of_each_node_are_there_at_its_next_start(tmp_path):
    """Of the first and of any other, which keeps no progress."""
    for rank in (0, 3):
        keep(tmp_path, [f"line {number}\n".encode() for number in range(100)], rank)
        assert keep(tmp_path, [], rank).previous == [f"line {number}" for number in range(40, 100)]
    assert not Path(figures.path(str(tmp_path))).exists()


def test_a_file_system_that_refuses_ends_nothing(tmp_path):
    (tmp_path / "figures").write_text("a file where a folder should be")
    assert keep(tmp_path, [json.dumps(step(1, 1.0)).encode() + b"\n"]).previous == []
    assert figures.read(str(tmp_path)) == []


def test_a_start_says_what_the_one_before_did_and_what_is_lost(tmp_path):
    """Volcano makes pods anew under the same names: the log that there was is gone, and the new one says it."""
    first = ended(entry(tmp_path, steps=3, TRN_CHECKPOINTS=str(tmp_path / "kept")))
    assert [event.event for event in first[1]] == ["starting", "ended"]
    code, events, _ = ended(entry(tmp_path, steps=2, TRN_CHECKPOINTS=str(tmp_path / "kept")))
    assert (code, [event.event for event in events]) == (0, ["starting", "previous", "history", "lost", "ended"])
    previous, history, lost = events[1:4]
    assert '{"trn": "step", "step": 3' in "".join(previous.more["lines"])
    assert (history.more["starts"], history.step, lost.more["again"]) == (1, 3, 3)
    assert [said["step"] for said in figures.read(str(tmp_path / "kept")) if said["trn"] == "step"] == [1, 2, 3, 1, 2]


def test_the_figures_of_a_job_that_is_killed_are_there(tmp_path, monkeypatch):
    """A thread writes every two seconds, not the end that a kill leaves no time for."""
    monkeypatch.setattr(kept, "EVERY_S", 0.005)
    node = Kept(str(tmp_path), 0, True)
    node.take(json.dumps(step(1, 1.0)).encode() + b"\n")
    until = time.monotonic() + 5
    while not figures.read(str(tmp_path)) and time.monotonic() < until:
        time.sleep(0.005)
    assert [said["step"] for said in figures.read(str(tmp_path))] == [1]
    node.close()


def test_a_previous_log_is_no_progress_of_this_start():
    """Its lines are in quotes: no reader takes a step in them for one of this log."""
    line = json.dumps({"trn": "event", "event": "previous", "time": 1.0, "lines": [json.dumps(step(7, 1.0))]})
    found = parse(line)
    assert isinstance(found, Event)
    assert line.count('{"trn":') == 1


@pytest.mark.parametrize(("seconds", "timeout"), [(1.0, None), (60.0, "240")])
def test_the_runtimes_timeout_follows_from_the_steps(tmp_path, seconds, timeout):
    """Four of the longest step, and never less than the runtime's own 30 seconds."""
    keep(tmp_path, [json.dumps(step(number, seconds * number)).encode() + b"\n" for number in range(1, 4)])
    environment = {"TRN_CHECKPOINTS": str(tmp_path)}
    on_neuron = Settings("bert", 32, "torchrun", cores=32)
    assert exec_timeout(environment, on_neuron).get("NEURON_RT_EXEC_TIMEOUT") == timeout
    assert exec_timeout({**environment, "NEURON_RT_EXEC_TIMEOUT": "99"}, on_neuron) == {}
    assert exec_timeout(environment, on_neuron._replace(cores=0)) == {}
    assert exec_timeout({}, on_neuron) == {}


def records(data: bytes) -> list[bytes]:
    """Those of an event file, whose checksums hold."""
    found = list[bytes]()
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        found.append(data[12 : 12 + length])
        assert tensorboard_events.record(found[-1]) == data[: 16 + length]
        data = data[16 + length :]
    return found


def test_checksums_are_those_of_the_standard():
    """RFC 3720, B.4: 32 bytes of zeros, of ones, and the usual nine digits."""
    assert tensorboard_events.checksum(bytes(32)) == 0x8A9136AA
    assert tensorboard_events.checksum(b"\xff" * 32) == 0x62A8AB43
    assert tensorboard_events.checksum(b"123456789") == 0xE3069283


def test_each_start_writes_events_for_tensorboard(tmp_path):
    """A version, and a record for each step with its numbers; what is not finite is left out."""
    lines = [step(1, 5.0, samples_per_s=2.0, learning_rate=0.5, note="x"), step(300, 6.0, loss=float("nan"))]
    keep(tmp_path, [json.dumps(line).encode() + b"\n" for line in lines])
    (file,) = (tmp_path / "figures").glob("events.out.tfevents.*")
    head, first, second = records(file.read_bytes())
    assert head.endswith(b"brain.Event:2")
    assert all(tag in first for tag in (b"loss", b"samples_per_s", b"learning_rate"))
    assert b"note" not in first
    assert (b"loss" in second, b"\x10\xac\x02" in second) == (False, True)


def test_nothing_is_kept_of_a_job_without_checkpoints(tmp_path):
    """There is no place that lasts."""
    assert Others() == Others(None, None, None)
    code, events, _ = ended(entry(tmp_path))
    assert (code, [event.event for event in events]) == (0, ["starting", "ended"])


def test_the_entry_script_needs_no_package_for_it():
    """As images have none that could be relied on."""
    folder = Path(figures.__file__).parent
    done = subprocess.run([sys.executable, "-S", "-c", "import entry"], env={"PYTHONPATH": str(folder)}, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
