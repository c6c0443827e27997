"""A control plane as a process of its own, which outlives the command that started it: until SIGTERM, or until its record is gone.

`python -m operations.local_kubernetes.server FOLDER`. In the folder:

    lock            held while this process lives, and no longer, however it ends
    cluster.json    its record: where the API server is, once it answers, and the folder of its processes
    kubeconfig      an administrator's
    identity/       certificate authority and port, kept for the next start
    server.log      what it had to say

When one of its processes ends, all do: half a control plane is worse than none.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

from operations.local_kubernetes import build
from operations.local_kubernetes.authenticator import User
from operations.local_kubernetes.companions import Companions
from operations.local_kubernetes.control_plane import ADMINISTRATORS, ControlPlane, Manner
from operations.local_kubernetes.eks_tokens import is_eks_token
from operations.local_kubernetes.ranges import free_ports, is_free
from operations.local_kubernetes.running import IDENTITY, KUBECONFIG, OPTIONAL, PORT, RECORD, TOOLS, Record, held

LOOK_S = 0.5
LOG = ("no container runs in a practice cluster: this line stands for a log",)
ENDED = 3
"""Exit code where one of its processes ended."""
CREATOR = User("cluster-creator", (ADMINISTRATORS,))
"""To the API server every caller of the practice account made the cluster."""
PARTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")


def main() -> int:
    """Start, serve, end."""
    folder = Path(sys.argv[1])
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    with held(folder):
        port = _port(folder)
        if not is_free(port):
            print(f"port {port} of this machine, which the kubeconfig names, is taken by another program", flush=True)
            return 1
        manner = Manner(port, folder / IDENTITY, LOG, runs_commands=False, jobs_stay=True)
        control_plane = ControlPlane(build.tools(*TOOLS, *(name for name in OPTIONAL if build.there(name))), manner)
        try:
            # Whoever finds this process dead finds its files by this.
            Record(os.getpid(), str(control_plane.folder)).write(folder)
            control_plane.begin()
            control_plane.authenticator.readers.append(lambda token: CREATOR if is_eks_token(token) else None)
            _write_kubeconfig(folder, control_plane)
            Record(os.getpid(), str(control_plane.folder), control_plane.server).write(folder)
            return _serve(folder, control_plane)
        finally:
            control_plane.stop()
            (folder / RECORD).unlink(missing_ok=True)


def _serve(folder: Path, control_plane: ControlPlane) -> int:
    companions = Companions(control_plane)
    while (folder / RECORD).exists():
        for name in PARTS:
            code = control_plane.processes.code(name)
            if code is not None:
                print(f"{name} ended with {code}:\n{control_plane.processes.log(name)[-1000:]}", flush=True)
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


def _write_kubeconfig(folder: Path, control_plane: ControlPlane) -> None:
    """Whole or not at all, and readable for its owner only."""
    beside = folder / f"{KUBECONFIG}.new"
    beside.touch(mode=0o600)
    beside.write_text(json.dumps(json.loads(control_plane.kubeconfig.read_text()), indent=2) + "\n")
    beside.replace(folder / KUBECONFIG)


if __name__ == "__main__":
    sys.exit(main())
