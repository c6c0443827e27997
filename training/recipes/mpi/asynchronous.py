"""A parameter server whose workers do not wait for each other: each gradient counts when it arrives, computed on weights that may be old."""

import time
from collections.abc import Callable

import numpy as np
from mpi4py import MPI

GO_ON, ENOUGH = 0, 1
"""Tags of the server's answers."""


def serve(comm: MPI.Comm, weights: np.ndarray, rate: float, updates: int, each: Callable[[int, float], None]) -> np.ndarray:
    """The first worker keeps the weights and adds each gradient as it comes; gives the weights after so many.

    A message is the gradient and, behind it, the loss. `each` is called with the number of the update and its loss.
    """
    message, status = np.empty(len(weights) + 1), MPI.Status()
    waiting = comm.Get_size() - 1
    for update in range(1, updates + 1):
        comm.Recv(message, MPI.ANY_SOURCE, status=status)
        weights = weights - rate * message[:-1]
        each(update, float(message[-1]))
        # Each worker has at most one more gradient under way, so the last answers end them one by one.
        ends = update > updates - waiting
        comm.Send(weights, status.Get_source(), ENOUGH if ends else GO_ON)
    return weights


def work(comm: MPI.Comm, width: int, gradient: Callable[[np.ndarray, int], np.ndarray], slow_s: float) -> int:
    """Any other worker computes gradients until the server has enough; gives how many. `slow_s`: what each costs it in addition."""
    weights, status, count = np.zeros(width), MPI.Status(), 0
    while True:
        count += 1
        if slow_s:
            time.sleep(slow_s)
        comm.Send(gradient(weights, count), 0)
        comm.Recv(weights, 0, status=status)
        if status.Get_tag() == ENOUGH:
            return count
