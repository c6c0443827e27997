"""What runs on this machine beside a cluster that a tool made: kwok, which plays the stack's nodes, and the companions.

kwok is the one on PATH, else the one that was built here. The cluster's API server may be in a container, from which nothing on this
machine's loopback can be reached: logs of pods, webhooks and `services/proxy` then answer nothing.
"""

import shutil
import ssl
from collections.abc import Mapping, Sequence
from pathlib import Path

from local_kubernetes import build
from local_kubernetes.api import Api
from local_kubernetes.certificates import Authority
from local_kubernetes.clients import Administrator, admin_client, answers, environment_of
from local_kubernetes.kwok import Kwok
from local_kubernetes.nodes import is_kwoks
from local_kubernetes.processes import Processes
from local_kubernetes.ranges import Ranges

KWOK, HELPING = "kwok", ("volcano", "etcd")
"""The program that it needs, and tools that are of use where they were built."""


def kwok_program() -> Path | None:
    """kwok on PATH, else the one that was built before; None where there is neither."""
    found = shutil.which(KWOK)
    if found:
        return Path(found)
    try:
        return build.tools(KWOK)[KWOK] if build.there(KWOK) else None
    except build.Missing:
        return None


def helping_programs() -> dict[str, Path]:
    """Programs of companions, as far as they were built before."""
    try:
        return build.tools(*(name for name in HELPING if build.there(name)))
    except build.Missing:
        return {}


def free_leases(api: Api) -> None:
    """Forget who renewed the leases of kwok's nodes: one that was killed holds them for `kwok.LEASE_S` more, and the next plays no pod before."""
    for item in api.items("/api/v1/nodes"):
        if is_kwoks(item):
            lease = {"name": item["metadata"]["name"], "namespace": "kube-node-lease"}
            api.delete({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": lease}, foreground=False)


class Beside:
    """Not started: `begin` does that."""

    parts: Sequence[str] = (KWOK,)
    """Without one of these it is of no use."""
    reaches_pods = False

    def __init__(self, administrator: Administrator, kwok: Path, tools: Mapping[str, Path], log: Sequence[str]) -> None:
        """`log`: what every container is said to have printed."""
        self._administrator, self._kwok, self._log = administrator, kwok, log
        self.tools = dict(tools)
        self.processes = Processes()
        self.ranges = Ranges()
        self.folder = self.processes.folder

    @property
    def server(self) -> str:
        """Address of the API server."""
        return self._administrator.server

    @property
    def authority(self) -> bytes:
        """Certificate that the API server's is signed with, as PEM."""
        return self._administrator.authority

    @property
    def kubeconfig(self) -> Path:
        """An administrator's."""
        return self.folder / "admin.kubeconfig"

    def api(self) -> Api:
        """An administrator's plain requests."""
        return Api(admin_client(self.server, self.folder / "pki"))

    def environment(self) -> dict[str, str]:
        """For a program of the cluster's."""
        return environment_of(self.tools, self.folder, self.kubeconfig)

    def begin(self) -> None:
        """Start kwok. Raises RuntimeError when it, or the cluster, does not answer; `stop` is then the caller's."""
        self._administrator.write(self.folder / "pki")
        self._administrator.write_kubeconfig(self.kubeconfig)
        free_leases(self.api())
        own = Authority(self.folder / "kubelet")
        own.server("kubelet", ("127.0.0.1", "localhost"))
        (port,) = self.ranges.ports(1)
        kwok = Kwok(
            self._kwok, self.folder, self.kubeconfig, own.folder / "kubelet.crt", own.folder / "kubelet.key", port, self.ranges.pods,
            self._log, runs_commands=False, jobs_stay=True,
        )  # fmt: skip
        self.processes.start(KWOK, kwok.write())
        # Its certificate is its own.
        self.processes.wait(lambda: answers(f"https://127.0.0.1:{port}/healthz", ssl._create_unverified_context()), KWOK)

    def stop(self) -> None:
        """End everything and delete the folder. The cluster goes on."""
        self.processes.close()
        self.ranges.close()
