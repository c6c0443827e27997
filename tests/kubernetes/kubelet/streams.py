"""Exec and port-forward: requests for them are passed on to a program that speaks their protocols (tools/kubelet-streams).

SPDY and its channels are the kubelet's own library's, in Go. Where that program is not given, both are refused.
"""

import json
import select
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.kubernetes.kubelet.attempts import Attempt
from tests.kubernetes.kubelet.network import namespace_path

MOST_BYTES = 65536


class NoStreams(Exception):
    """The program was not given, or has ended."""


class Streams:
    """The program, and connections to it."""

    def __init__(self, program: Path | None, folder: Path, life: int) -> None:
        """`life`: the pipe that ends with the test, and the program with it."""
        self._socket, self._program = folder / "streams.sock", program
        if program is None:
            return
        self._socket.unlink(missing_ok=True)
        self._process = subprocess.Popen([program, "-socket", self._socket], stdin=life, stdout=subprocess.PIPE, start_new_session=True)
        assert self._process.stdout is not None
        if self._process.stdout.readline() != b"ready\n":
            raise NoStreams(f"{program} did not start")

    def close(self) -> None:
        """End the program, and with it every stream."""
        if self._program is not None:
            self._process.kill()
            self._process.wait()

    def carry(self, user: socket.socket, method: str, path: str, headers: Sequence[tuple[str, str]], attempt: Attempt) -> None:
        """Pass one request on, then bytes both ways until either side ends. Raises NoStreams."""
        if self._program is None:
            raise NoStreams("exec and port-forward need the program kubelet-streams (option --streams)")
        # A list: a client names each protocol that it speaks in a header of its own.
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in (*headers, *where(attempt).items()))]
        with socket.socket(socket.AF_UNIX) as there:
            try:
                there.connect(str(self._socket))
            except OSError as error:
                raise NoStreams(str(error)) from error
            there.sendall("\r\n".join([*lines, "", ""]).encode())
            exchange(user, there)


def where(attempt: Attempt) -> dict[str, str]:
    """What the program must know of a container: its first process, its environment's file, its pod's network."""
    noted = attempt.folder / "container.json"
    network = namespace_path(json.loads(noted.read_text())["sandbox_pid"])
    return {"X-Process": str(attempt.main.pid), "X-Environment": str(noted), "X-Network": network}


def exchange(one: socket.socket, other: socket.socket) -> None:
    """Bytes both ways, in one thread: a TLS connection may not be used by two."""
    peers = {one: other, other: one}
    while True:
        ready = [one] if getattr(one, "pending", int)() else select.select([one, other], [], [])[0]
        for each in ready:
            try:
                data = each.recv(MOST_BYTES)
            except OSError:
                return
            if not data:
                return
            peers[each].sendall(data)
