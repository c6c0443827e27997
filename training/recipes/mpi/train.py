"""Data-parallel training with MPI: gradients meet by a ring all-reduce, by MPI's own, or at a parameter server. Own arithmetic, NumPy only.

`mpirun` starts one process for each worker; the entry script leaves them as they are. `--measure BYTES` also says what one exchange of a
gradient of that size takes, which is what decides between the three.
"""

import argparse
import os
import time

import numpy as np
from mpi4py import MPI

import asynchronous
import checkpoints
import leaving
import progress_lines
from stop_request import STOPPED, StopRequest

FEATURES, BATCH = 64, 32


def ring(comm: MPI.Comm, gradient: np.ndarray) -> np.ndarray:
    """Sum over all workers by a ring: each sends 2 (n - 1) / n of the gradient, however many there are."""
    rank, count = comm.Get_rank(), comm.Get_size()
    parts, right, left = np.array_split(gradient.copy(), count), (rank + 1) % count, (rank - 1) % count
    # First every worker ends up with the sum of one part, then the sums go around.
    for gathering in (False, True):
        for step in range(count - 1):
            send, receive = (rank - step + gathering) % count, (rank - step - 1 + gathering) % count
            arrived = np.empty_like(parts[receive])
            comm.Sendrecv(parts[send], right, recvbuf=arrived, source=left)
            parts[receive] = arrived if gathering else parts[receive] + arrived
    return np.concatenate(parts)


def library(comm: MPI.Comm, gradient: np.ndarray) -> np.ndarray:
    """Sum over all workers by MPI's own all-reduce."""
    total = np.empty_like(gradient)
    comm.Allreduce(gradient, total)
    return total


def server(comm: MPI.Comm, gradient: np.ndarray) -> np.ndarray:
    """Sum over all workers at the first of them, which receives and sends n - 1 gradients."""
    if comm.Get_rank():
        total = np.empty_like(gradient)
        comm.Send(gradient, 0)
        comm.Recv(total, 0)
        return total
    total, arrived = gradient.copy(), np.empty_like(gradient)
    for worker in range(1, comm.Get_size()):
        comm.Recv(arrived, worker)
        total += arrived
    for worker in range(1, comm.Get_size()):
        comm.Send(total, worker)
    return total


def gradient(weights: np.ndarray, truth: np.ndarray, seed: list[int]) -> np.ndarray:
    """Gradient of the mean squared error over samples that follow from the seed, and behind it the error."""
    samples = np.random.default_rng(seed).standard_normal((BATCH, FEATURES))
    error = samples @ weights - samples @ truth
    return np.concatenate([samples.T @ error / BATCH, [float(error @ error) / BATCH]])


EXCHANGES = {"ring": ring, "library": library, "server": server}


def measure(comm: MPI.Comm, size: int, repeats: int = 10) -> dict[str, float]:
    """Milliseconds of one exchange of a gradient of `size` bytes, by kind; the median of the slowest worker's times."""
    gradient = np.ones(size // 8)
    found = {}
    for name, exchange in EXCHANGES.items():
        times = []
        for _ in range(repeats):
            comm.Barrier()
            began = time.perf_counter()
            exchange(comm, gradient)
            times.append(comm.allreduce(time.perf_counter() - began, MPI.MAX))
        found[name] = round(1e3 * float(np.median(times)), 3)
    return found


def main(arguments: list[str]) -> int:
    """Fits a linear model to made-up samples; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--exchange", choices=[*EXCHANGES, "asynchronous"], default="ring")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--checkpoint-steps", type=int, default=50)
    parser.add_argument("--slow", type=float, default=0.0, metavar="SECONDS", help="what each step costs the last worker in addition")
    parser.add_argument("--measure", type=int, default=0, metavar="BYTES")
    asked = parser.parse_args(arguments)
    comm, stop = MPI.COMM_WORLD, StopRequest()
    rank, count = comm.Get_rank(), comm.Get_size()
    os.environ.update(RANK=str(rank), LOCAL_RANK=os.environ.get("OMPI_COMM_WORLD_LOCAL_RANK", str(rank)))
    folder, interval_s, keep = checkpoints.from_environment(os.environ)
    progress_lines.event("started", pid=os.getpid(), devices=count, parameters=FEATURES, steps=asked.steps)
    if asked.measure:
        progress_lines.event("measured", milliseconds=measure(comm, asked.measure), bytes=asked.measure, workers=count)
    began_all = time.monotonic()
    if asked.exchange == "asynchronous":
        return without_waiting(comm, asked)
    exchange, due = EXCHANGES[asked.exchange], checkpoints.Due(interval_s, asked.checkpoint_steps)
    truth, weights, done = np.random.default_rng(7).standard_normal(FEATURES), np.zeros(FEATURES), 0
    checkpoints.same_training(folder, {"features": FEATURES, "batch": BATCH, "workers": count}, first=rank == 0)
    if folder and (found := checkpoints.newest(folder)):
        done, path = found
        weights = np.fromfile(path)
        progress_lines.event("resumed", step=done, path=str(path))
    for step in range(done + 1, asked.steps + 1):
        began = time.monotonic()
        if rank == count - 1:
            time.sleep(asked.slow)
        # Loss and the wish to stop travel with the gradient.
        mine = np.append(gradient(weights, truth, [step, rank]), float(stop.asked))
        total = exchange(comm, mine)
        weights = weights - 0.05 * total[:FEATURES] / count
        progress_lines.step(step, total[-2] / count, BATCH * count / (time.monotonic() - began))
        stopping, last = total[-1] > 0, step == asked.steps
        # Whether it is due is the first worker's matter: it alone writes.
        if folder and rank == 0 and (stopping or last or due.now(step)):
            checkpoints.write(folder, step, weights.tofile, keep)
            due.wrote()
        if stopping and not last:
            progress_lines.event("stopped", step=step)
            return STOPPED
    speed = BATCH * count * (asked.steps - done) / (time.monotonic() - began_all)
    progress_lines.event("finished", step=asked.steps, distance=float(np.abs(weights - truth).max()), samples_per_s=round(speed, 1))
    return 0


def without_waiting(comm: MPI.Comm, asked: argparse.Namespace) -> int:
    """A parameter server at the first worker; a step is one gradient. No run repeats another, so there is no checkpoint to compare."""
    truth, began = np.random.default_rng(7).standard_normal(FEATURES), time.monotonic()
    if rank := comm.Get_rank():
        slow_s = asked.slow if rank == comm.Get_size() - 1 else 0.0
        asynchronous.work(comm, FEATURES, lambda weights, count: gradient(weights, truth, [count, rank]), slow_s)
        return 0
    weights = asynchronous.serve(comm, np.zeros(FEATURES), 0.05 / (comm.Get_size() - 1), asked.steps, progress_lines.step)
    speed = BATCH * asked.steps / (time.monotonic() - began)
    progress_lines.event("finished", step=asked.steps, distance=float(np.abs(weights - truth).max()), samples_per_s=round(speed, 1))
    return 0


if __name__ == "__main__":
    leaving.run(main)
