"""The pods' network: a namespace with a bridge, and for each pod a namespace of its own with one interface on it.

Each pod has its own address and all its ports, on whichever fake node; the machine's network is not touched and cannot be reached.
"""

import json
import socket
import subprocess
from pathlib import Path

from tests.kubernetes.kubelet import namespaces as linux
from tests.kubernetes.kubelet.addresses import GATEWAY, NETWORK
from tests.kubernetes.kubelet.processes import Process, process

BRIDGE = "pods"


NOTE = "network.json"


class NetworkFailed(Exception):
    """A step of building the network was refused."""


class Network:
    """The network of one kubelet process; one that an earlier process made is used again."""

    def __init__(self, folder: Path, life: int, services: str) -> None:
        """`life`: descriptor of the pipe that ends with the test; `services`: range of the services' own addresses."""
        known = find_network(folder)
        if known and known.alive:
            self._anchor = known
            return
        script = (
            f"ip link set lo up && ip link add {BRIDGE} type bridge && ip addr add {GATEWAY}/{NETWORK.prefixlen} dev {BRIDGE}"
            f" && ip link set {BRIDGE} up && ip route add local {services} dev lo"
        )
        self._anchor = hold(["--net"], script, life)
        (folder / NOTE).write_text(json.dumps(vars(self._anchor)))

    @property
    def path(self) -> str:
        """The namespace in which services are reached."""
        return namespace_path(self._anchor.pid)

    def join(self, sandbox: Process, address: str) -> None:
        """Give a pod's namespace its interface and address. Raises NetworkFailed."""
        # At most 15 characters; ids of processes have at most 7.
        outer = f"pod{sandbox.pid}"
        _inside(
            self._anchor.pid,
            f"ip link add {outer} type veth peer name eth0 netns {sandbox.pid} && ip link set {outer} master {BRIDGE} up",
        )
        _inside(
            sandbox.pid,
            f"ip addr add {address}/{NETWORK.prefixlen} dev eth0 && ip link set eth0 up && ip route add default via {GATEWAY}",
        )

    def connect(self, address: str, port: int, timeout_s: float) -> socket.socket:
        """A TCP connection from the pods' network. Raises OSError."""
        made = self.tcp_socket()
        made.settimeout(timeout_s)
        try:
            made.connect((address, port))
        except OSError:
            made.close()
            raise
        return made

    def tcp_socket(self) -> socket.socket:
        """A TCP socket of the pods' network, not connected."""
        return linux.in_network(self.path, socket.socket)

    def listen(self, address: str, port: int) -> socket.socket:
        """A listening TCP socket in the pods' network, for a service's own address. Raises OSError."""
        made = self.tcp_socket()
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((address, port))
        made.listen(128)
        made.setblocking(False)
        return made


def find_network(folder: Path) -> Process | None:
    """The process that keeps the network of an earlier kubelet; it may be gone."""
    note = folder / NOTE
    return Process(**json.loads(note.read_text())) if note.exists() else None


def namespace_path(pid: int) -> str:
    """The network namespace of a process."""
    return f"/proc/{pid}/ns/net"


def hold(kinds: list[str], script: str, life: int) -> Process:
    """A process that does nothing but keep new namespaces of these kinds, until the pipe `life` ends. Raises NetworkFailed."""
    # The last read returns at the end of the pipe; nothing is ever written to it.
    command = ["unshare", *kinds, "sh", "-c", f"{{ {script}; }} >&2 && echo ready && exec >&- 2>&- && read _"]
    made = subprocess.Popen(command, stdin=life, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, cwd="/")
    assert made.stdout is not None
    assert made.stderr is not None
    with made.stdout, made.stderr:
        if made.stdout.readline() != b"ready\n":
            raise NetworkFailed(made.stderr.read().decode(errors="replace").strip())
    return process(made.pid)


def _inside(pid: int, script: str) -> None:
    tried = subprocess.run(["nsenter", "--target", str(pid), "--net", "sh", "-c", script], capture_output=True, text=True, check=False)
    if tried.returncode:
        raise NetworkFailed(tried.stderr.strip())
