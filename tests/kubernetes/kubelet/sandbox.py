"""A pod before its containers: its folders and volumes, its namespaces and address."""

import json
import shlex
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from types import MappingProxyType

from tests.kubernetes.kubelet.addresses import NETWORK, next_address
from tests.kubernetes.kubelet.network import Network, hold
from tests.kubernetes.kubelet.pods import Object, hostname
from tests.kubernetes.kubelet.processes import Process
from tests.kubernetes.kubelet.store import PodFolder, Store
from tests.kubernetes.kubelet.volumes import Memory, Volume

SHARED_MEMORY = "64m"
"""Size of /dev/shm where a pod mounts nothing there (containerd's default): too small for most data loaders, here as on a node."""


@dataclass(frozen=True)
class Sandbox:
    """A pod's namespaces, kept by a process of their own while containers come and go."""

    holder: Process
    address: str


class Addresses:
    """Gives out addresses of the pods' network."""

    def __init__(self, known: Mapping[str, str] = MappingProxyType({})) -> None:
        """`known`: addresses of pods that an earlier kubelet process ran, by uid."""
        self._lock, self._taken = threading.Lock(), dict(known)
        self._last = max(self._taken.values(), key=IPv4Address, default=None)

    def take(self, uid: str) -> str:
        """An address for a pod: the one that it had before, if any."""
        with self._lock:
            if uid not in self._taken:
                self._last = self._taken[uid] = next_address(self._last, set(self._taken.values()))
            return self._taken[uid]

    def free(self, uid: str) -> None:
        """A pod is gone."""
        with self._lock:
            self._taken.pop(uid, None)


def find_sandbox(folder: PodFolder) -> Sandbox | None:
    """What is noted of the pod's sandbox; its process may be gone."""
    if not folder.sandbox.exists():
        return None
    note = json.loads(folder.sandbox.read_text())
    return Sandbox(Process(note["pid"], note["start"]), note["address"])


def known_addresses(store: Store) -> dict[str, str]:
    """Addresses of all pods that have a folder, by uid; a pod on the machine's own network has none of its own."""
    found = {uid: find_sandbox(store.pod(uid)) for uid in store.pod_uids()}
    return {uid: each.address for uid, each in found.items() if each is not None and IPv4Address(each.address) in NETWORK}


def make_sandbox(pod: Object, folder: PodFolder, volumes: dict[str, Volume], network: Network, address: str, life: int) -> Sandbox:
    """Make the pod's namespaces, with its memory volumes in them. Raises NetworkFailed."""
    own_network = not pod["spec"].get("hostNetwork")
    steps = [f"hostname {shlex.quote(hostname(pod))}", _tmpfs(folder.memory, f"size={SHARED_MEMORY}")]
    for name, volume in volumes.items():
        if isinstance(volume, Memory):
            size = f"size={volume.size_bytes}" if volume.size_bytes else ""
            steps.append(_tmpfs(folder.places(pod)[name], size))
    if own_network:
        steps.append("ip link set lo up")
    kinds = ["--uts", "--ipc", "--mount", *(["--net"] if own_network else [])]
    holder = hold(kinds, " && ".join(steps), life)
    if own_network:
        network.join(holder, address)
    folder.sandbox.write_text(json.dumps({**vars(holder), "address": address}))
    return Sandbox(holder, address)


def _tmpfs(place: Path, options: str) -> str:
    return f"mount -t tmpfs {f'-o {options}' if options else ''} tmpfs {shlex.quote(str(place))}"
