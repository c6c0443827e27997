"""A control plane as a process of its own, which outlives the command that started it: until SIGTERM, or until its record is gone.

`python -m local_kubernetes.server FOLDER`. In the folder:

    lock            held while this process lives, and no longer, however it ends
    cluster.json    its record: where the API server is, once it answers, and the folder of its processes
    kubeconfig      an administrator's
    identity/       certificate authority and port, kept for the next start
    server.log      what it had to say

When one of its processes ends, all do: half a control plane is worse than none. Where a tool made the cluster (made_cluster.py), only what
runs beside it is started here; the cluster outlives this process, but not its folder.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from local_kubernetes import beside, build, made_cluster
from local_kubernetes.authenticator import User
from local_kubernetes.beside import Beside
from local_kubernetes.companions import Companions
from local_kubernetes.control_plane import ADMINISTRATORS, ControlPlane, Manner
from local_kubernetes.eks_tokens import is_bound, secret_in
from local_kubernetes.ranges import free_ports, is_free
from local_kubernetes.running import IDENTITY, KUBECONFIG, OPTIONAL, PORT, RECORD, TOOLS, Record, held

LOOK_S = 0.5
LOG = ("no container runs in a practice cluster: this line stands for a log",)
ENDED = 3
"""Exit code where one of its processes ended."""
CREATOR = User("cluster-creator", (ADMINISTRATORS,))
"""To the API server every caller of the practice account made the cluster."""


def main() -> int:
    """Start, serve, end."""
    folder = Path(sys.argv[1])
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    with held(folder):
        made = made_cluster.read(folder)
        return _own(folder) if made is None else _beside(folder, made)


def _own(folder: Path) -> int:
    port = _port(folder)
    if not is_free(port):
        print(f"port {port} of this machine, which the kubeconfig names, is taken by another program", flush=True)
        return 1
    manner = Manner(port, folder / IDENTITY, LOG, runs_commands=False, jobs_stay=True)
    control_plane = ControlPlane(build.tools(*TOOLS, *(name for name in OPTIONAL if build.there(name))), manner)
    secret = secret_in(folder / IDENTITY)
    control_plane.authenticator.readers.append(lambda token: CREATOR if is_bound(token, secret) else None)
    return _serve(folder, control_plane)


def _beside(folder: Path, made: made_cluster.Made) -> int:
    kwok = beside.kwok_program()
    if kwok is None:
        print("there is no kwok any more to play the nodes", flush=True)
        return 1
    running = Beside(made_cluster.administrator(folder), kwok, beside.helping_programs(), LOG)

    def at_end() -> None:
        if not folder.exists():
            made_cluster.delete_without_folder(made, running.kubeconfig)

    return _serve(folder, running, at_end)


def _serve(folder: Path, cluster: ControlPlane | Beside, at_end: Callable[[], None] = lambda: None) -> int:
    """Start it, and keep it until something ends."""
    try:
        # Whoever finds this process dead finds its files by this.
        Record(os.getpid(), str(cluster.folder)).write(folder)
        cluster.begin()
        (folder / IDENTITY / "ca.crt").write_bytes(cluster.authority)
        _write_kubeconfig(folder, cluster.kubeconfig)
        Record(os.getpid(), str(cluster.folder), cluster.server).write(folder)
        return _watch(folder, cluster)
    finally:
        at_end()
        cluster.stop()
        (folder / RECORD).unlink(missing_ok=True)


def _watch(folder: Path, cluster: ControlPlane | Beside) -> int:
    companions = Companions(cluster)
    while (folder / RECORD).exists():
        for name in cluster.parts:
            code = cluster.processes.code(name)
            if code is not None:
                print(f"{name} ended with {code}:\n{cluster.processes.log(name)[-1000:]}", flush=True)
                return ENDED
        companions.look()
        time.sleep(LOOK_S)
    return 0


def _port(folder: Path) -> int:
    kept = folder / IDENTITY / PORT
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(f"{free_ports(1)[0]}\n")
    return int(kept.read_text())


def _write_kubeconfig(folder: Path, own: Path) -> None:
    """Whole or not at all, and readable for its owner only."""
    beside = folder / f"{KUBECONFIG}.new"
    beside.touch(mode=0o600)
    beside.write_text(json.dumps(json.loads(own.read_text()), indent=2) + "\n")
    beside.replace(folder / KUBECONFIG)


if __name__ == "__main__":
    sys.exit(main())
