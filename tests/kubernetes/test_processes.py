"""Processes of a test run end with it, however it ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from local_kubernetes.api import wait
from local_kubernetes.processes import Processes
from tests.support import ROOT

SLEEP = "import time; time.sleep(600)"
PARENT = f"""
import signal, subprocess, sys, time
# A shell starts what runs in the background with SIGINT ignored, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
from local_kubernetes.processes import Processes
made = Processes()
# One that starts another in a session of its own, and both of them would sleep for long.
grandchild = 'import subprocess, sys; print(subprocess.Popen([sys.executable, "-c", "{SLEEP}"], start_new_session=True).pid, flush=True); {SLEEP}'
pid = made.start("sleeper", [sys.executable, "-u", "-c", grandchild])
while not made.log("sleeper").strip():
    time.sleep(0.01)
print(made.folder, pid, made.log("sleeper").strip(), flush=True)
time.sleep(600)
"""


def is_alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_when_the_test_run_is_killed(number: int):
    """A control plane that outlives its tests takes 500 MiB until the machine is restarted."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    ) as parent:
        assert parent.stdout is not None
        folder, child, grandchild = parent.stdout.readline().split()
        assert is_alive(int(child))
        assert is_alive(int(grandchild))
        os.killpg(parent.pid, number)
    wait(lambda: not Path(folder).exists(), "the folder is deleted")
    assert not is_alive(int(child))
    assert not is_alive(int(grandchild))


def test_nothing_is_left_after_close():
    """Also when it is closed twice."""
    with Processes() as made:
        pid = made.start("sleeper", [sys.executable, "-c", SLEEP])
        assert made.code("sleeper") is None
        made.close()
        assert not is_alive(pid)
        assert not made.folder.exists()


def test_a_process_says_how_it_ended(tmp_path: Path):
    """And what it printed, in the folder and with the environment that it was given."""
    with Processes() as made:
        code = "import os, sys; print(os.environ['COLOUR'], os.getcwd()); sys.exit(3)"
        made.start("short", [sys.executable, "-c", code], {"COLOUR": "red"}, tmp_path)
        wait(lambda: made.code("short") is not None, "it ends")
        assert made.code("short") == 3
        assert made.log("short").split() == ["red", str(tmp_path)]


def test_one_that_does_not_get_ready_shows_its_log():
    """Without it a failure says only that nothing answered."""
    with Processes() as made:
        made.start("broken", [sys.executable, "-c", "raise SystemExit('no such flag')"])
        with pytest.raises(RuntimeError, match=r"broken ended with 1:\nno such flag"):
            made.wait(lambda: False, "broken")


def test_one_process_can_be_stopped_and_the_others_go_on():
    """With time to act on SIGTERM, or without."""
    polite = "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(7)); print('up', flush=True); time.sleep(600)"
    with Processes() as made:
        made.start("polite", [sys.executable, "-c", polite])
        made.start("other", [sys.executable, "-c", SLEEP])
        wait(lambda: made.log("polite") == "up\n", "it is up")
        assert made.stop("polite", grace_s=10) == 7
        assert made.stop("other") == -signal.SIGKILL


def test_what_cannot_be_started_is_an_error():
    """And the keeper goes on."""
    with Processes() as made:
        with pytest.raises(RuntimeError, match="FileNotFoundError"):
            made.start("none", ["/no/such/program"])
        assert made.start("one", [sys.executable, "-c", SLEEP])
