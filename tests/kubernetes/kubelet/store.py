"""What a kubelet keeps on disk: a folder for each pod, one for each claim. A new kubelet process finds running pods by it.

FOLDER/claims/NAMESPACE/CLAIM/                shared between pods
FOLDER/pods/UID/sandbox.json                  the process that keeps the pod's namespaces, and its address
FOLDER/pods/UID/{hosts,resolv.conf,...}       files that every container of the pod sees
FOLDER/pods/UID/volumes/NAME/
FOLDER/pods/UID/containers/NAME/ATTEMPT/      container.json, started.json, ended.json, log, message
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.kubernetes.kubelet.mounts import MESSAGE_PATH
from tests.kubernetes.kubelet.names import SWITCH_FILE, resolver_file
from tests.kubernetes.kubelet.pods import Object, hostname
from tests.kubernetes.kubelet.volumes import FILE_MODE, Files, Volume, claim_name


@dataclass(frozen=True)
class Store:
    """All of a kubelet's folders."""

    folder: Path

    def pod(self, uid: str) -> "PodFolder":
        """The folder of one pod, made when it is first used."""
        return PodFolder(self.folder / "pods" / uid, self.folder)

    def pod_uids(self) -> list[str]:
        """Every pod that has a folder."""
        home = self.folder / "pods"
        return sorted(each.name for each in home.iterdir()) if home.exists() else []


@dataclass(frozen=True)
class PodFolder:
    """What is kept of one pod."""

    path: Path
    state: Path
    """The whole state folder."""

    @property
    def sandbox(self) -> Path:
        """Note of the sandbox process and the address."""
        return self.path / "sandbox.json"

    @property
    def hosts(self) -> Path:
        """The pod's hosts file: written in place, since containers hold it by a mount."""
        return self.path / "hosts"

    @property
    def memory(self) -> Path:
        """Where the pod's /dev/shm is mounted, inside its sandbox only."""
        return self.path / "shm"

    def places(self, pod: Object) -> dict[str, Path]:
        """Where the content of each volume is, by the volume's name."""
        claims = self.state / "claims" / pod["metadata"]["namespace"]
        volumes = pod["spec"].get("volumes") or ()
        return {
            each["name"]: claims / claim if (claim := claim_name(pod, each)) else self.path / "volumes" / each["name"] for each in volumes
        }

    def attempt(self, container: str, number: int) -> Path:
        """One attempt of one container."""
        return self.path / "containers" / container / str(number)

    def containers(self) -> list[str]:
        """Names of the containers that were begun."""
        home = self.path / "containers"
        return sorted(each.name for each in home.iterdir()) if home.exists() else []

    def attempts(self, container: str) -> list[int]:
        """Numbers of the attempts that were begun."""
        home = self.path / "containers" / container
        return sorted(int(each.name) for each in home.iterdir()) if home.exists() else []

    def make(self, pod: Object, volumes: Mapping[str, Volume]) -> None:
        """Write the pod's own files and the content of its volumes; what is there already, and may have been written to, stays."""
        self.memory.mkdir(parents=True, exist_ok=True)
        for name, text in (("resolv.conf", resolver_file(pod)), ("nsswitch.conf", SWITCH_FILE), ("hostname", f"{hostname(pod)}\n")):
            (self.path / name).write_text(text)
        places = self.places(pod)
        for name, volume in volumes.items():
            place = places[name]
            place.mkdir(parents=True, exist_ok=True)
            if isinstance(volume, Files):
                _write_files(place, volume)
            else:
                place.chmod(0o777)

    def own_files(self, container: Object, attempt: Path) -> dict[str, Path]:
        """The pod's files by the path at which its containers see them."""
        named = {f"/etc/{name}": self.path / name for name in ("hosts", "resolv.conf", "nsswitch.conf", "hostname")}
        return {**named, "/dev/shm": self.memory, container.get("terminationMessagePath") or MESSAGE_PATH: attempt / "message"}

    def write_hosts(self, text: str) -> None:
        """Renew the hosts file if it says something else: in place, and never empty for one who reads it meanwhile."""
        if not self.hosts.exists() or self.hosts.read_text() != text:
            descriptor = os.open(self.hosts, os.O_WRONLY | os.O_CREAT, FILE_MODE)
            os.write(descriptor, text.encode())
            os.truncate(descriptor, len(text.encode()))
            os.close(descriptor)

    def remove(self) -> None:
        """Everything of the pod; claims stay."""
        shutil.rmtree(self.path, ignore_errors=True)


def _write_files(place: Path, volume: Files) -> None:
    for name, (content, mode) in volume.content.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(mode)
