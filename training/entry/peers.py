"""Whether the other nodes of a job are still there: a worker whose peer is gone waits in a collective for ever, and cannot know.

One of the files that every pod has under /trn: standard library only, Python 3.9 or later. The entry script of node 0 listens, those of the
other nodes hold a connection each. A process that is killed closes its connection; a node that is lost says nothing any more. Who ends
well, or with a checkpoint, says so first. What cannot be reached is nobody's end: a job without this link runs as one without peers.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable

BEAT_S = 2.0
"""From one sign of life to the next."""
SILENT_S = 15.0
"""Without a sign of life for so long, a node is gone: its connection would stay open for minutes (Linux, tcp_retries2)."""
BELOW = 2
"""The port is so far below that of the job's meeting, whose neighbours are taken."""
LEFT, ALIVE, GONE = b"left", b"alive", b"gone"


class Peers:
    """The link of this node to the others while it runs."""

    def __init__(self, job: str, rank: int, count: int, address: str, port: int) -> None:
        """`address` and `port`: where the job meets."""
        self.rank, self.count, self.gone = rank, count, -1
        self.name = f"trn peers of {job}".encode()
        self.ended, self.lock = threading.Event(), threading.Lock()
        self.links: dict[int, socket.socket] = {}
        target: Callable[[], None] = self._listen if rank == 0 else self._join
        self.place = ("" if rank == 0 else address, port - BELOW)
        threading.Thread(target=target, daemon=True).start()
        threading.Thread(target=self._beat, daemon=True).start()

    def leave(self, well: bool) -> None:
        """Says how this node has ended: `well` also stands for an end with a checkpoint."""
        if well:
            self._send(LEFT)
        self.ended.set()
        for link in list(self.links.values()):
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
            link.close()

    def _send(self, word: bytes, but: int = -1) -> None:
        """To every node that this one has a link to."""
        with self.lock:
            for rank, link in self.links.items():
                if rank != but:
                    with contextlib.suppress(OSError):
                        link.sendall(word + b"\n")

    def _beat(self) -> None:
        while not self.ended.wait(BEAT_S):
            self._send(ALIVE)

    def _listen(self) -> None:
        """Node 0 takes the others until one is gone: what comes then belongs to another start."""
        try:
            server = socket.create_server(self.place, backlog=128)
        except OSError:
            return
        with server:
            server.settimeout(BEAT_S / 4)
            while not self.ended.is_set() and self.gone < 0:
                with contextlib.suppress(OSError):
                    link, _ = server.accept()
                    threading.Thread(target=self._greet, args=(link,), daemon=True).start()

    def _greet(self, link: socket.socket) -> None:
        """Takes a node of this job; any other process is sent away."""
        link.settimeout(SILENT_S)
        try:
            name, _, rank = link.makefile("rb").readline(1000).strip().rpartition(b" ")
            if name != self.name or not rank.isdigit() or not 0 < int(rank) < self.count:
                raise OSError
            link.sendall(self.name + b"\n")
        except OSError:
            link.close()
            return
        self._watch(link, int(rank))

    def _join(self) -> None:
        """Every other node tries until node 0 is there."""
        while not self.ended.is_set():
            try:
                link = socket.create_connection(self.place, SILENT_S)
                link.sendall(self.name + f" {self.rank}\n".encode())
                if link.makefile("rb").readline(1000).strip() == self.name:
                    self._watch(link, 0)
                    return
                link.close()
            except OSError:
                pass
            self.ended.wait(BEAT_S / 2)

    def _watch(self, link: socket.socket, rank: int) -> None:
        """Reads what a node says until it has left, or is gone."""
        with self.lock:
            self.links[rank] = link
        link.settimeout(SILENT_S)
        lines = link.makefile("rb")
        while not self.ended.is_set():
            try:
                line = lines.readline(1000)
            except OSError:
                line = b""
            word, _, who = line.strip().partition(b" ")
            if word == LEFT:
                return
            if word != ALIVE:
                self._lost(int(who) if word == GONE and who.isdigit() else rank)
                return

    def _lost(self, rank: int) -> None:
        """Notes the first that is gone, and node 0 tells the others."""
        if self.gone < 0 and not self.ended.is_set():
            self.gone = rank
            if self.rank == 0:
                self._send(GONE + f" {rank}".encode(), but=rank)
