"""A control plane that runs beside the commands: started, found again, and ended with everything that it left.

Whether it is alive is a lock that its process holds; what it left when it was killed is named in its record. So each of `start`
and `stop` works after any end of any process, and twice.
"""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from kubernetes.client import ApiClient

from local_kubernetes.api import Api
from local_kubernetes.clients import admin_client
from local_kubernetes.errors import LocalKubernetesError

TOOLS, OPTIONAL = ("kubernetes", "etcd", "kwok"), ("volcano",)
"""What a control plane is made of, and what runs beside it where it was built."""
LOCK, RECORD, KUBECONFIG, IDENTITY, PORT, LOG = "lock", "cluster.json", "kubeconfig", "identity", "port", "server.log"
START_S, END_S, LOOK_S = 240, 15, 0.05
"""How long a start may take on a busy machine, how long an end, and between two looks."""
KEEPER_S = 3
"""How long the keeper of its processes gets to delete their folder."""


@dataclass(frozen=True)
class Record:
    """What a running control plane has written down."""

    process: int
    folder: str
    """Of its processes, with all their files."""
    server: str = ""
    """Address of the API server; empty until it answers."""

    def write(self, folder: Path) -> None:
        """Whole or not at all."""
        beside = folder / f"{RECORD}.new"
        beside.write_text(json.dumps(asdict(self)) + "\n")
        beside.replace(folder / RECORD)


@dataclass(frozen=True)
class Cluster:
    """One control plane that answers."""

    folder: Path
    record: Record

    @property
    def server(self) -> str:
        """Address of the API server."""
        return self.record.server

    @property
    def kubeconfig(self) -> Path:
        """An administrator's."""
        return self.folder / KUBECONFIG

    @property
    def authority(self) -> bytes:
        """Certificate that the API server's is signed with, as PEM."""
        return self.authority_file.read_bytes()

    @property
    def authority_file(self) -> Path:
        """The same as a file."""
        return self.folder / IDENTITY / "ca.crt"

    def client(self) -> ApiClient:
        """An administrator's, with a certificate."""
        return admin_client(self.server, Path(self.record.folder) / "pki")

    def api(self) -> Api:
        """An administrator's plain requests."""
        return Api(self.client())


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Be the one control plane of a folder. Raises BlockingIOError where another one is."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("a") as file:
        until = time.monotonic() + 1
        while not _locked(file):
            # One who looks whether it is held holds it for a moment.
            if time.monotonic() > until:
                raise BlockingIOError(f"another control plane runs in {folder}")
            time.sleep(LOOK_S)
        yield


def is_alive(folder: Path) -> bool:
    """Whether a process holds the folder."""
    try:
        with (folder / LOCK).open("r") as file:
            return not _locked(file)
    except FileNotFoundError:
        return False


def _locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def find(folder: Path) -> Cluster | None:
    """The control plane that runs and answers."""
    record = _record(folder)
    return Cluster(folder, record) if record is not None and record.server and is_alive(folder) else None


def start(folder: Path) -> tuple[Cluster, bool]:
    """The control plane of a folder, and whether it had to be started. The tools must have been built.

    Raises LocalKubernetesError, with its own words, where it does not start.
    """
    there = find(folder)
    if there is not None:
        return there, False
    process = None
    if not is_alive(folder):
        clear(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / LOG).open("w") as log:
            # -P: a folder named operations in the working directory must not be imported. A session of its own: Ctrl-C is the command's.
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "local_kubernetes.server", str(folder)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
    until = time.monotonic() + START_S
    while (there := find(folder)) is None:
        ended = process.poll() is not None if process is not None else not is_alive(folder)
        if ended or time.monotonic() > until:
            said = _last_words(folder)
            hint = "`trn practice down` removes it, and the next `up --kubernetes` makes a new one"
            raise LocalKubernetesError(f"the control plane did not start: {said or f'no answer in {START_S} s'}", hint)
        time.sleep(LOOK_S)
    if process is not None:
        # It outlives this process on purpose; Python warns of a child that is not awaited.
        process.returncode = 0
    return there, True


def stop(folder: Path) -> bool:
    """End it, and delete every file of it; whether there was anything."""
    was_there = folder.is_dir()
    end(folder)
    shutil.rmtree(folder, ignore_errors=True)
    return was_there


def end(folder: Path) -> None:
    """End its processes, and keep what the next start has of it."""
    record = _record(folder)
    if is_alive(folder) and record is not None:
        _signal(record.process, signal.SIGTERM)
        if not _comes(lambda: not is_alive(folder), END_S):
            _signal(record.process, signal.SIGKILL)
            _comes(lambda: not is_alive(folder), END_S)
    clear(folder)


def clear(folder: Path) -> None:
    """Delete what a control plane left that was killed. Nothing where it lives."""
    record = _record(folder)
    if record is None or is_alive(folder):
        return
    # Its keeper ends the processes and deletes their folder; should that have been killed too, the kernel has ended them.
    left = Path(record.folder)
    if not _comes(lambda: not left.exists(), KEEPER_S):
        shutil.rmtree(left, ignore_errors=True)
    (folder / RECORD).unlink(missing_ok=True)


def _record(folder: Path) -> Record | None:
    try:
        return Record(**json.loads((folder / RECORD).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def _last_words(folder: Path) -> str:
    path = folder / LOG
    lines = path.read_text(errors="replace").strip().splitlines() if path.exists() else []
    return "\n".join(lines[-12:])


def _signal(process: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, number)


def _comes(is_so: Callable[[], bool], patience_s: float) -> bool:
    until = time.monotonic() + patience_s
    while not is_so():
        if time.monotonic() > until:
            return False
        time.sleep(LOOK_S)
    return True
