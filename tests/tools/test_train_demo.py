"""What `make train-demo` takes for a success, and what it leaves when it is ended."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import ROOT
from tools.train_demo.__main__ import differences
from tools.train_demo.runs import KILLED_AFTER, STEPS, Run, lay_out

LOSSES = {step: 7.0 - step / 100 for step in range(1, STEPS + 1)}
WHOLE = Run(LOSSES, None, 0)
BROKEN = Run({step: loss for step, loss in LOSSES.items() if step <= KILLED_AFTER}, None, 137)
RESUMED = Run({step: loss for step, loss in LOSSES.items() if step > 20}, 20, 0)


def changed(run: Run, step: int, loss: float) -> Run:
    """The run with another loss at a step."""
    return Run({**run.losses, step: loss}, run.resumed_from, run.code)


def test_a_run_that_resumes_as_if_unbroken_is_a_success():
    assert differences(WHOLE, BROKEN, RESUMED) == []


@pytest.mark.parametrize(
    ("runs", "fault"),
    [
        ((WHOLE, BROKEN, changed(RESUMED, 40, 6.6000000001)), "step 40: loss 6.6000000001, unbroken 6.6"),
        ((WHOLE, Run(BROKEN.losses, None, 0), RESUMED), "the run whose worker was killed ended as if nothing had happened"),
        ((WHOLE, BROKEN, Run(LOSSES, None, 0)), "resumed from step None, the last checkpoint was at 20"),
        ((WHOLE, BROKEN, Run({21: LOSSES[21]}, 20, 0)), "a step is missing"),
        ((WHOLE, BROKEN, Run({}, 20, 1)), "a run failed with exit code 1; its errors are in build/train-demo"),
        ((changed(WHOLE, STEPS, 7.5), BROKEN, changed(RESUMED, STEPS, 7.5)), "the loss did not fall: 6.99 to 7.5"),
    ],
)
def test_anything_else_is_none(runs, fault):
    """The last bit counts: a resume that is nearly right has lost data or randomness."""
    assert fault in differences(*runs)


def test_the_demonstration_lies_as_in_a_pod(tmp_path):
    lay_out(tmp_path)
    assert {"entry.py", "train.py", "train_jax.py", "checkpoints.py"} <= {path.name for path in tmp_path.iterdir()}


WORKER = """
import json, os, sys, time
def say(**line):
    print(json.dumps({**line, "time": 1.0, "rank": 0}), flush=True)
say(trn="event", event="started", pid=os.getpid())
for step in range(1, 61):
    say(trn="step", step=step, loss=7 - step / 100)
    time.sleep(float(os.environ["PACE_S"]))
"""
ENTRY = "import subprocess, sys\nsys.exit(subprocess.call([sys.executable, sys.argv[0].replace('entry.py', 'train.py')]))\n"
DEMO = f"""
import resource, sys
from pathlib import Path
from tools.train_demo import __main__ as demo
def lay_out(folder):
    folder.mkdir(parents=True)
    (folder / "entry.py").write_text({ENTRY!r})
    (folder / "train.py").write_text({WORKER!r})
demo.lay_out, demo.prepared = lay_out, lambda framework: Path(sys.executable)
if len(sys.argv) > 1:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
sys.exit(demo.main([]))
"""
"""The demonstration with workers that only count."""


def demonstration(folder: Path, *arguments: str, pace_s: float = 0.05) -> subprocess.Popen[str]:
    """Started in a folder of its own. `arguments`: bytes that a file may have."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PACE_S": str(pace_s), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-c", DEMO, *arguments]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def left(folder: Path) -> list[str]:
    """Command lines of processes that work in a demonstration's folder."""
    found = list[str]()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        found += [words] if f"{folder}/build" in words else []
    return found


def until(is_so: Callable[[], bool]) -> bool:
    """Whether it comes to that within 10 s."""
    end = time.monotonic() + 10
    while not (found := is_so()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def trains(running: subprocess.Popen[str]) -> None:
    """Returns when the first step is shown."""
    assert running.stdout is not None
    assert any("step   1" in line for line in running.stdout)


@pytest.mark.parametrize(
    ("how", "code", "says"),
    [(signal.SIGINT, 130, "stopped, and the workers with it"), (signal.SIGTERM, 143, ""), (signal.SIGKILL, -9, "")],
)
def test_whatever_ends_it_leaves_no_worker(tmp_path: Path, how: signal.Signals, code: int, says: str):
    """In the middle of a start; a worker whose demonstration was killed ends with its next line."""
    with demonstration(tmp_path) as running:
        trains(running)
        assert left(tmp_path)
        running.send_signal(how)
        _, errors = running.communicate(timeout=20)
    assert (running.returncode, says in errors, "Traceback" in errors) == (code, True, False), errors
    assert until(lambda: not left(tmp_path))


def test_a_second_one_beside_it_is_refused(tmp_path: Path):
    """It would delete the first one's files."""
    with demonstration(tmp_path) as first:
        trains(first)
        with demonstration(tmp_path) as second:
            _, errors = second.communicate(timeout=20)
        assert (second.returncode, "another demonstration runs in build/train-demo" in errors) == (1, True)
        assert first.poll() is None
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=20)
    assert until(lambda: not left(tmp_path))


def test_a_disk_that_is_full_is_said_in_a_line(tmp_path: Path):
    """Here a file may have 2,000 bytes; a log has more."""
    with demonstration(tmp_path, "2000", pace_s=0) as running:
        _, errors = running.communicate(timeout=20)
    assert (running.returncode, errors.startswith("error: cannot work in build/train-demo: ")) == (1, True), errors
    assert until(lambda: not left(tmp_path))
