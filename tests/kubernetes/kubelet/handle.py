"""A kubelet process for a test: started, killed, started again, ended with everything that it runs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from local_kubernetes.egress import WAYS
from tests.kubernetes.kubelet.attempts import ROOT, find
from tests.kubernetes.kubelet.network import find_network
from tests.kubernetes.kubelet.node import LABEL, POWER
from tests.kubernetes.kubelet.permission import with_permission
from tests.kubernetes.kubelet.processes import Process

START_S = 120


class RunningKubelet:
    """The kubelet of all nodes with its label. Its pods live until `close`, or until the process that made this object ends."""

    def __init__(self, kubeconfig: Path, folder: Path, *options: str, as_user: bool = False) -> None:
        """`folder` is the kubelet's own: it is removed at the end. Beside it, FOLDER.log says what the kubelet did.

        `as_user`: without root, also if this process has it.
        """
        self.folder, self._kubeconfig, self._options, self._as_user = folder, kubeconfig, options, as_user
        self._reader, self._life = os.pipe()
        self.log = folder.with_suffix(".log")
        # Beside the egress proxy's own socket, where it looks for ways.
        self._way = folder.with_suffix(WAYS)
        self.start()

    def start(self) -> None:
        """Start the process, or start it again; returns when its nodes are ready."""
        command = [
            sys.executable,
            "-m",
            "tests.kubernetes.kubelet",
            "--kubeconfig",
            str(self._kubeconfig),
            "--folder",
            str(self.folder),
            "--way",
            str(self._way),
        ]
        command = with_permission([*command, *self._options], find_network(self.folder), self._as_user)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=self._reader, stdout=subprocess.PIPE, stderr=log, cwd=ROOT, start_new_session=True
            )
        assert self._process.stdout is not None
        with self._process.stdout as said:
            first = said.readline()
        assert first == b"ready\n", f"the kubelet did not start:\n{self.log.read_text()[-2000:]}"

    def kill(self) -> None:
        """End the kubelet's process only, at once: its pods go on."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End everything; returns when no process and no file is left. Raises TimeoutExpired."""
        if self._life is not None:
            os.close(self._life)
            os.close(self._reader)
            self._life = None
        self._process.wait(START_S)
        # A kubelet that was killed before removes nothing.
        shutil.rmtree(self.folder, ignore_errors=True)
        self._way.unlink(missing_ok=True)

    def processes(self) -> list[Process]:
        """First processes of all containers that run."""
        folders = [path.parent for path in self.folder.glob("pods/*/containers/*/*/started.json")]
        return [each.main for each in (find(folder, int(folder.name)) for folder in folders) if each.shim.alive]

    def process_of(self, pod: Any, container: str) -> Process:
        """The first process of a container's last attempt. `pod`: its object as a dictionary."""
        home = self.folder / "pods" / pod["metadata"]["uid"] / "containers" / container
        return find(max(home.iterdir(), key=lambda each: int(each.name)), 0).main


def power(on: bool) -> dict[str, Any]:
    """A merge patch of a node: take its machine away, or bring it back."""
    return {"metadata": {"annotations": {POWER: "on" if on else "off"}}}


def process_node(number: int, label: str = LABEL, **allocatable: str) -> dict[str, Any]:
    """A node for this kubelet, `process-NUMBER`; devices or anything else that it offers come as keywords."""
    name = f"process-{number}"
    offered = {"cpu": "64", "memory": "256Gi", "pods": "110", "ephemeral-storage": "100Gi", **allocatable}
    key, _, value = label.partition("=")
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {key: value, "kubernetes.io/hostname": name}},
        "status": {"capacity": offered, "allocatable": offered, "addresses": [{"type": "InternalIP", "address": f"10.0.250.{number}"}]},
    }


def process_pod(name: str, namespace: str, script: str, *, image: str = "busybox", **spec: Any) -> dict[str, Any]:
    """A pod of one container `main` that runs a script (of the shell; of Python for image `python`) on one of this kubelet's nodes."""
    command = ["python3", "-c", script] if image == "python" else ["sh", "-c", script]
    container = {"name": "main", "image": image, "command": command, **spec.pop("container", {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
        "spec": {"restartPolicy": "Never", "nodeSelector": selector(), "containers": [container], **spec},
    }


def selector(label: str = LABEL) -> dict[str, str]:
    """The node selector that brings a pod to this kubelet's nodes."""
    key, _, value = label.partition("=")
    return {key: value}
