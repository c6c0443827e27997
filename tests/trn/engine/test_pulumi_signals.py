"""Ctrl-C while the Pulumi CLI runs: it is waited for until it has ended by itself, and gets each signal once."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import ROOT, SHEBANG

CLI = f"""{SHEBANG}import signal, sys, time
from pathlib import Path
note, got = Path(sys.argv[1]), []
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, frame: got.append(number))
note.write_text("ready")
deadline = time.monotonic() + 30
while not got and time.monotonic() < deadline:
    time.sleep(0.01)
time.sleep(0.4)  # what is under way ends; a second signal would come meanwhile
print("ended")
note.write_text(" ".join(signal.Signals(number).name for number in got))
sys.exit(3)
"""
OURS = """
import sys
from trn.cli.interruption import interrupted_by_signals
from trn.engine.pulumi import PulumiCli
from trn.run_command import run_command

def act():
    with interrupted_by_signals():
        call = getattr(PulumiCli(), sys.argv[1])
        call(("pulumi", sys.argv[2]), *([{}] if sys.argv[1] == "run" else []))
    return 0

sys.exit(run_command(act))
"""


@pytest.mark.parametrize(("door", "number"), [("run", signal.SIGTERM), ("ask", signal.SIGINT)])
def test_the_cli_ends_by_itself_before_the_command_does(tmp_path: Path, door: str, number: signal.Signals):
    """Cut off, it would keep the stack's lock, and no state would say how what was under way has ended."""
    note, script = tmp_path / "note", tmp_path / "pulumi"
    script.write_text(CLI)
    script.chmod(0o755)
    command = [sys.executable, "-c", OURS, door, str(note)]
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 30
        while not note.exists() or not note.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(number)
        assert process.stderr is not None
        said = process.stderr.read()
    assert note.read_text() == "SIGINT"
    assert process.returncode == 130
    assert said.splitlines() == ([*(["ended"] if door == "run" else []), said.splitlines()[-1]])
    assert said.splitlines()[-1].startswith("interrupted: ")
