"""One attempt of a container: its shim, started and found again, and what can be done to a container that runs."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.kubernetes.kubelet.mounts import Mount
from tests.kubernetes.kubelet.processes import Process, process
from tests.kubernetes.kubelet.records import Terminated

ROOT = Path(__file__).parents[3]
LOST = 137
"""Exit code of a container whose end was not seen, with the reason ContainerStatusUnknown (kubernetes/kubernetes:pkg/kubelet/kubelet_pods.go)."""
MOST_MESSAGE_BYTES = 4096


@dataclass(frozen=True)
class Program:
    """What to run, and in which surroundings."""

    arguments: list[str]
    environment: Mapping[str, str]
    working_folder: str
    mounts: list[Mount]
    sandbox_pid: int
    read_only: bool
    kept_of_tmp: list[str] = field(default_factory=list)
    """Folders of the machine's /tmp that the container sees, to read: images.kept_of_tmp."""


@dataclass
class Attempt:
    """A container that was started: running, or ended."""

    folder: Path
    number: int
    shim: Process
    over: threading.Event = field(default_factory=threading.Event)
    """Set once its end was seen: probes and log readers stop."""

    @property
    def started_at_s(self) -> float | None:
        """When its program started; None where it could not be."""
        note = self.folder / "started.json"
        return json.loads(note.read_text())["started_at_s"] if note.exists() else None

    @property
    def main(self) -> Process:
        """Its first process, which is number 1 inside."""
        note = self.folder / "started.json"
        return process(json.loads(note.read_text())["pid"]) if note.exists() else Process(0, "never")

    def ended(self, fallback_to_log: bool = False) -> Terminated | None:
        """How it ended; None while it runs."""
        if self.shim.alive:
            return None
        note = self.folder / "ended.json"
        if not note.exists():
            since = self.started_at_s or self.folder.stat().st_mtime
            text = "The container could not be located when the pod was terminated"
            return Terminated(LOST, since, max(since, self.folder.stat().st_mtime), "ContainerStatusUnknown", text)
        ended = Terminated(**json.loads(note.read_text()))
        if ended.message:
            return ended
        return Terminated(ended.exit_code, ended.started_at_s, ended.finished_at_s, ended.reason, self._message(ended, fallback_to_log))

    def _message(self, ended: Terminated, fallback_to_log: bool) -> str:
        message = (self.folder / "message").read_bytes()[:MOST_MESSAGE_BYTES]
        if not message and fallback_to_log and ended.exit_code:
            message = b"\n".join(
                line.split(b" ", 3)[3] for line in (self.folder / "log").read_bytes()[-2048:].splitlines()[-80:] if line.count(b" ") > 2
            )
        return message.decode(errors="replace")

    def signal(self, number: int) -> None:
        """Send a signal to its first process. That is number 1 of its namespace: without a handler it gets only SIGKILL."""
        self.main.signal(number)

    def kill(self) -> None:
        """End it and everything in it at once."""
        self.main.kill()
        if not self.main.alive and self.started_at_s is None:
            self.shim.kill()

    def lose(self) -> None:
        """End it without a note of how, as when its machine is gone."""
        self.shim.kill()
        self.main.kill()

    def run(self, command: list[str], timeout_s: float) -> tuple[int, str]:
        """Run a command inside, with the container's environment. Raises subprocess.TimeoutExpired."""
        wanted = json.loads((self.folder / "container.json").read_text())
        tool = shutil.which("nsenter") or "nsenter"
        inside = [tool, "--target", str(self.main.pid), "--mount", "--uts", "--ipc", "--net", "--pid", "--root", "--wd", "--", *command]
        running = subprocess.Popen(
            inside,
            env=wanted["environment"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, _ = running.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()
            raise
        return running.returncode, output.decode(errors="replace")


def start(folder: Path, number: int, program: Program, state: Path, life: int) -> Attempt:
    """Start a container; returns when its program runs, or could not be started. `life`: the pipe that ends with the test."""
    root = folder / "root"
    root.mkdir(parents=True)
    (folder / "message").touch()
    (folder / "message").chmod(0o666)
    wanted = {
        "arguments": program.arguments,
        "environment": dict(program.environment),
        "working_folder": program.working_folder,
        "mounts": [each.as_data() for each in program.mounts],
        "sandbox_pid": program.sandbox_pid,
        "read_only": program.read_only,
        "kept_of_tmp": program.kept_of_tmp,
        "root": str(root),
        "state": str(state),
    }
    (folder / "container.json").write_text(json.dumps(wanted))
    with (folder / "shim.log").open("wb") as errors:
        made = subprocess.Popen(
            # Without site packages it starts in a fraction of the time.
            [sys.executable, "-S", "-E", "-m", "tests.kubernetes.kubelet.shim", str(folder)],
            stdin=life,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            cwd=ROOT,
        )
    shim = process(made.pid)
    (folder / "shim.json").write_text(json.dumps(vars(shim)))
    assert made.stdout is not None
    with made.stdout:
        made.stdout.readline()
    threading.Thread(target=made.wait, daemon=True).start()
    return Attempt(folder, number, shim)


def find(folder: Path, number: int) -> Attempt:
    """An attempt that an earlier kubelet process started."""
    note = folder / "shim.json"
    shim = Process(**json.loads(note.read_text())) if note.exists() else Process(0, "never")
    return Attempt(folder, number, shim)
