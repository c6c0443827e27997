"""Whether pods can run as processes on this machine, and how a kubelet without root gets what it needs: a user namespace."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.kubernetes.kubelet import root
from tests.kubernetes.kubelet.processes import Process

PROGRAMS = ("hostname", "ip", "mount", "nsenter", "unshare")
"""Of the machine (util-linux, iproute2, hostname)."""
TREE = Path(__file__).parents[3]


def why_not(as_user: bool = False) -> str | None:
    """Why pods cannot run as processes on this machine; None where they can. Makes a throw-away container to find out.

    `as_user`: without root, also if this process has it.
    """
    if not sys.platform.startswith("linux"):
        return "pods as processes need Linux: namespaces and overlay mounts"
    if missing := [program for program in PROGRAMS if shutil.which(program) is None]:
        return f"pods as processes need the programs {', '.join(missing)}"
    network = "ip link add veth0 type veth peer name veth1 && ip link add bridge0 type bridge"
    with tempfile.TemporaryDirectory() as place:
        trial = f"{network} && exec {sys.executable} -S -E -m tests.kubernetes.kubelet.permission {place}"
        kinds = ["--mount", "--net", "--pid", "--fork", *(["--user", "--map-root-user"] if as_user or os.geteuid() else [])]
        tried = subprocess.run(["unshare", *kinds, "sh", "-c", trial], cwd=TREE, capture_output=True, text=True, check=False)
    said = tried.stderr.strip().rpartition("\n")[2]
    return f"namespaces, overlay mounts or virtual networks are not permitted here: {said}" if tried.returncode else None


def with_permission(command: list[str], network: Process | None, as_user: bool) -> list[str]:
    """The command that runs a kubelet: as it is for root, else in a user namespace in which it is root.

    `network`: what keeps the network of an earlier kubelet, whose user namespace is joined again: pods run in it.
    """
    if not as_user and os.geteuid() == 0:
        return command
    if network is not None and network.alive:
        return ["nsenter", "--target", str(network.pid), "--user", "--preserve-credentials", *command]
    return ["unshare", "--user", "--map-root-user", *command]


if __name__ == "__main__":
    root.build(sys.argv[1], [])
