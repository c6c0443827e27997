"""The smallest training that has everything: workers that add up gradients over the network, checkpoints, a loss to the last bit.

It is the command of jobs whose pods run as processes, so it needs the standard library only. Data-parallel: worker 0 adds up the
gradients in the order of the workers, so that a run gives the same numbers however it is started, stopped and placed. TINY_STEPS says how
many steps; with TINY_HOLD, a start from the beginning stops for ever after that step in the last worker: a test then knows when to kill it.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, "/trn")
import checkpoints
import progress_lines

FEATURES, BATCH, RATE = 4, 8, 0.05
EVERY = 5
"""Steps between two checkpoints."""
KEEP_ALIVE = {"TCP_KEEPIDLE": 1, "TCP_KEEPINTVL": 1, "TCP_KEEPCNT": 3}
"""Seconds, and how often: a worker whose node is lost says nothing, and the others must notice (tcp(7))."""

Vector = list[float]


def gradient(weights: Sequence[float], worker: int, step: int) -> tuple[float, Vector]:
    """Loss and gradient of one worker's batch: a line is fitted to points that follow from worker and step alone."""
    loss, slope = 0.0, [0.0] * FEATURES
    for sample in range(BATCH):
        inputs = [((7 * step + 5 * worker + 3 * sample + feature * feature) % 11) / 11 for feature in range(FEATURES)]
        error = sum(weight * value for weight, value in zip(weights, inputs, strict=True)) - sum(inputs) / 2
        loss += error * error / BATCH
        slope = [total + 2 * error * value / BATCH for total, value in zip(slope, inputs, strict=True)]
    return loss, slope


def updated(weights: Sequence[float], slopes: Sequence[Sequence[float]]) -> Vector:
    """Weights after a step with the gradients of all workers, in their order."""
    return [weight - RATE * sum(slope[at] for slope in slopes) / len(slopes) for at, weight in enumerate(weights)]


def alone(workers: int, steps: int) -> float:
    """The last loss of a run of so many workers, without any of what could go wrong."""
    weights, loss = [0.0] * FEATURES, 0.0
    for step in range(1, steps + 1):
        parts = [gradient(weights, worker, step) for worker in range(workers)]
        loss = sum(part for part, _ in parts) / workers
        weights = updated(weights, [slope for _, slope in parts])
    return loss


class Peer:
    """The connection of two workers: lines of JSON. Raises OSError or EOFError when the other one is gone."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in KEEP_ALIVE.items():
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        connection.settimeout(None)
        self._connection, self._lines = connection, connection.makefile("rb")

    def send(self, *said: object) -> None:
        """One line."""
        self._connection.sendall(json.dumps(said).encode() + b"\n")

    def hear(self) -> list[Any]:
        """The other one's next line."""
        line = self._lines.readline()
        if not line:
            raise EOFError("the other worker is gone")
        return json.loads(line)


def met(rank: int, size: int, address: str, port: int) -> list[Peer]:
    """Connections to all others by rank for worker 0, to worker 0 for the others. Those that start first wait."""
    if rank == 0:
        with socket.create_server(("", port)) as server:
            found: dict[int, Peer] = {}
            while len(found) < size - 1:
                peer = Peer(server.accept()[0])
                (number,) = peer.hear()
                found[number] = peer
        return [found[number] for number in range(1, size)]
    while True:
        try:
            peer = Peer(socket.create_connection((address, port), 5))
            peer.send(rank)
            return [peer]
        except OSError:
            time.sleep(0.1)  # Its name or its server is not there yet.


class Saving:
    """Writes weights to a file."""

    def __init__(self, weights: Vector) -> None:
        self._weights = weights

    def __call__(self, path: Path) -> None:
        """`path`: of the file."""
        path.write_text(json.dumps(self._weights))


def train(environment: dict[str, str]) -> None:
    """Train, from the newest checkpoint on where there is one."""
    rank, size = int(environment["RANK"]), int(environment["WORLD_SIZE"])
    steps, hold = int(environment["TINY_STEPS"]), int(environment.get("TINY_HOLD", "0"))
    folder, _, kept = checkpoints.from_environment(environment)
    begun, weights, loss = 0, [0.0] * FEATURES, None
    if found := checkpoints.newest(folder):
        begun, weights = found[0], json.loads(found[1].read_text())
    peers = met(rank, size, environment["MASTER_ADDR"], int(environment["MASTER_PORT"]))
    # All go on from where worker 0 is: another may have looked before the last checkpoint was there.
    if rank == 0:
        for peer in peers:
            peer.send(begun, weights)
    else:
        begun, weights = peers[0].hear()
    progress_lines.event("resumed" if begun else "started", step=begun)
    for step in range(begun + 1, steps + 1):
        own = gradient(weights, rank, step)
        if rank == 0:
            parts = [own, *(peer.hear() for peer in peers)]
            loss = sum(part[0] for part in parts) / size
            weights = updated(weights, [part[1] for part in parts])
            for peer in peers:
                peer.send(loss, weights)
        else:
            peers[0].send(*own)
            loss, weights = peers[0].hear()
        progress_lines.step(step, loss)
        if rank == 0 and folder and step % EVERY == 0:
            checkpoints.write(folder, step, Saving(weights), kept)
        if rank == size - 1 and step == hold and not begun:
            progress_lines.event("measured", holding=step)
            time.sleep(3600)
    progress_lines.event("finished", step=steps, loss=loss)


if __name__ == "__main__":
    train(dict(os.environ))
