"""Each start of a gang has an id of its own, on which its nodes agree: torchrun closes the one that a gang has used."""

import json
import os
import random
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import entry
import gang_id
from gang_id import agree, joined
from launcher_variables import EntryError


class Node:
    """One process of a node, which reads and writes one step at a time."""

    def __init__(self, rank: int, count: int, name: str) -> None:
        self.rank, self.count, self.name, self.id = rank, count, name, ""

    def step(self, store: dict) -> None:
        """Reads, and writes what follows; in one piece, as compare-and-swap makes it."""
        change = joined(store, self.rank, self.count, f"own-{self.name}", f"id-{self.name}")
        if change is not None:
            store.clear()
            store.update(change)
        elif len(store["confirmed"]) == self.count:
            self.id = store["id"]


def meet(store: dict, nodes: list[Node], order: random.Random) -> None:
    """Lets all nodes go on in any order until each has an id."""
    for _ in range(1000):
        waiting = [node for node in nodes if not node.id]
        if not waiting:
            return
        order.choice(waiting).step(store)
    raise AssertionError(f"they do not meet: {store}")


@pytest.mark.parametrize("seed", range(20))
def test_nodes_of_one_start_agree_and_the_next_start_has_another_id(seed):
    """A restart and another job of the name look alike: all ranks are there already."""
    order, store, ids = random.Random(seed), {}, list[str]()
    for start in range(3):
        nodes = [Node(rank, 3, f"{start}-{rank}") for rank in range(3)]
        meet(store, nodes, order)
        assert len({node.id for node in nodes}) == 1
        ids.append(nodes[0].id)
    assert len(set(ids)) == 3


@pytest.mark.parametrize("seed", range(20))
def test_a_node_that_joined_and_is_gone_holds_up_nobody(seed):
    """Its image was pulled first, and the gang was made anew before the others came."""
    order, store = random.Random(seed), {}
    gone = Node(0, 3, "gone-0")
    for _ in range(order.randrange(1, 4)):
        gone.step(store)
    nodes = [Node(rank, 3, f"again-{rank}") for rank in range(3)]
    meet(store, nodes, order)
    assert len({node.id for node in nodes}) == 1


def test_a_gang_of_another_size_is_another_gang():
    store = {}
    meet(store, [Node(0, 1, "alone")], random.Random(1))
    nodes = [Node(rank, 2, f"two-{rank}") for rank in range(2)]
    meet(store, nodes, random.Random(1))
    assert {node.id for node in nodes} <= {"id-two-0", "id-two-1"}


@pytest.fixture
def etcd():
    """As much of etcd's v2 API as one key needs: tests/kubernetes/test_etcd.py asks the real one. Gives host and port."""
    kept: dict[str, tuple[str, int]] = {}
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def answer(self, status: int, body: dict) -> None:
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def do_GET(self):
            with lock:
                if self.path in kept:
                    value, index = kept[self.path]
                    return self.answer(200, {"node": {"value": value, "modifiedIndex": index}})
                return self.answer(404, {"errorCode": 100})

        def do_PUT(self):
            form = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
            with lock:
                index = kept[self.path][1] if self.path in kept else 0
                if int(form.get("prevIndex", 0)) != index or ("prevExist" in form and index):
                    return self.answer(412, {"errorCode": 101})
                kept[self.path] = form["value"], index + 1
                return self.answer(200, {})

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_two_nodes_agree_by_etcd_itself(etcd, monkeypatch):
    monkeypatch.setattr(gang_id, "POLL_S", 0.005)
    found = list[str]()
    for start in range(2):
        threads = [threading.Thread(target=lambda rank=rank: found.append(agree(etcd, "bert", rank, 2))) for rank in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(found[2 * start :])) == 1
    assert len(set(found)) == 2
    assert all(name.startswith("bert-") for name in found)


def test_a_node_that_stays_alone_says_how_many_came(etcd, monkeypatch):
    monkeypatch.setattr(gang_id, "POLL_S", 0.005)
    monkeypatch.setattr(gang_id, "LIMIT_S", 0.05)
    with pytest.raises(EntryError, match="1 of 2 nodes have joined"):
        agree(etcd, "bert", 0, 2)


def test_an_etcd_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(gang_id, "POLL_S", 0.005)
    monkeypatch.setattr(gang_id, "LIMIT_S", 0.05)
    with pytest.raises(EntryError, match=r"127\.0\.0\.1:1 does not answer"):
        agree("127.0.0.1:1", "bert", 0, 2)


def test_the_entry_script_starts_nothing_before(monkeypatch, capsys):
    """Under the job's name a start would meet the closed gang before it."""
    monkeypatch.setattr(gang_id, "LIMIT_S", 0)
    variables = {"TRN_START": "torchrun", "TRN_RENDEZVOUS": "etcd", "TRN_ETCD_ENDPOINT": "127.0.0.1:1", "TRN_NODES": "1"}
    monkeypatch.setattr(os, "environ", variables)
    assert entry.main(["--", sys.executable, "-c", "pass"]) == 2
    assert capsys.readouterr().err.startswith("entry: the nodes did not meet by etcd within 0 seconds")
