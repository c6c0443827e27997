"""A node learns within seconds that another one is gone, and takes no end in order for it."""

import socket
import time

import pytest

import peers
from peers import Peers


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Signs of life come often: nothing here waits for seconds."""
    monkeypatch.setattr(peers, "BEAT_S", 0.02)
    monkeypatch.setattr(peers, "SILENT_S", 5.0)


@pytest.fixture
def port() -> int:
    """A free one, as the job's meeting would be two above it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1] + peers.BELOW


@pytest.fixture
def nodes(port):
    """Three nodes that are linked."""
    made = [Peers("bert", rank, 3, "127.0.0.1", port) for rank in range(3)]
    holds(lambda: len(made[0].links) == 2 and all(node.links for node in made[1:]))
    yield made
    for node in made:
        node.leave(well=True)


def holds(what, limit_s: float = 5.0) -> None:
    """Waits until something holds."""
    until = time.monotonic() + limit_s
    while not what() and time.monotonic() < until:
        time.sleep(0.001)
    assert what()


def test_all_learn_of_one_that_is_gone(nodes):
    """Killed: nothing but the end of its connection says so. Those that it has no link to learn it from node 0."""
    nodes[1].leave(well=False)
    holds(lambda: nodes[0].gone == nodes[2].gone == 1)


def test_all_learn_that_the_first_is_gone(nodes):
    nodes[0].leave(well=False)
    holds(lambda: nodes[1].gone == nodes[2].gone == 0)


def test_an_end_in_order_is_nobodys_loss(nodes):
    """A node that is done first, and one that saved a checkpoint because it was asked to stop."""
    nodes[1].leave(well=True)
    time.sleep(0.05)
    assert [node.gone for node in nodes] == [-1, -1, -1]


def test_a_node_that_says_nothing_any_more_is_gone(port, monkeypatch):
    """Lost with its power: nobody closes its connection."""
    first = Peers("bert", 0, 2, "127.0.0.1", port)
    monkeypatch.setattr(peers, "SILENT_S", 0.2)
    holds(lambda: connected(port))
    with socket.create_connection(("127.0.0.1", port - peers.BELOW)) as link:
        link.sendall(b"trn peers of bert 1\n")
        holds(lambda: first.gone == 1)
    first.leave(well=True)


def connected(port: int) -> bool:
    """Whether somebody listens."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port - peers.BELOW)) == 0


def test_another_job_is_sent_away(port):
    """Pods that share a network meet at one port."""
    first = Peers("bert", 0, 2, "127.0.0.1", port)
    other = Peers("llama", 1, 2, "127.0.0.1", port)
    time.sleep(0.05)
    other.leave(well=False)
    time.sleep(0.02)
    assert (first.links, first.gone) == ({}, -1)
    first.leave(well=True)


def test_a_node_that_nobody_answers_is_alone(port):
    """A port that is closed on the way ends no training."""
    second = Peers("bert", 1, 2, "127.0.0.1", port)
    time.sleep(0.05)
    assert second.gone == -1
    second.leave(well=True)
