"""kwok: what it takes to play the fake nodes of one cluster and their pods.

Nodes with the annotation of `nodes.KWOK` are kwok's: it renews their leases, says they are ready, and plays their pods by the stages of
stages.yaml (run at once; those of Jobs complete); their logs are one text, and what is executed in them runs here, or is refused.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from local_kubernetes.nodes import KWOK

LEASE_S = 40
"""As a kubelet's (kubernetes.io, Leases)."""
STAYING = {"key": '.metadata.annotations["trn.example/after"]', "operator": "Exists"}
"""What a pod of a Job must have besides, where Jobs stay."""


@dataclass(frozen=True)
class Kwok:
    """One kwok of one cluster."""

    program: Path
    folder: Path
    """Where its files are written: whoever made it deletes it."""
    kubeconfig: Path
    """An administrator's."""
    certificate: Path
    key: Path
    """Of its own API, which is a kubelet's."""
    port: int
    pod_range: str
    """Addresses of pods: `10.64.0.0/16`."""
    log: Sequence[str]
    """What every container is said to have printed."""
    runs_commands: bool
    """Whether what is executed in a pod runs on this machine; else it is refused."""
    jobs_stay: bool
    """Whether pods of Jobs run until they are deleted, unless annotations say how long."""

    @property
    def log_file(self) -> Path:
        """What every container is said to have printed."""
        return self.folder / "pods.log"

    def write(self) -> list[str]:
        """Write its files; gives the command that starts it."""
        # As a container runtime writes it (kubernetes.io, CRI logging).
        self.log_file.write_text("".join(f"2026-11-22T10:00:00.000000000Z stdout F {line}\n" for line in self.log))
        stages, kubelet = self.folder / "stages.yaml", self.folder / "kubelet.yaml"
        stages.write_text(_documents(stages_of(jobs_stay=self.jobs_stay)))
        kubelet.write_text(_documents(_kubelet(self.log_file, runs_commands=self.runs_commands)))
        (annotation,) = KWOK.items()
        return [
            str(self.program),
            f"--kubeconfig={self.kubeconfig}",
            "--manage-all-nodes=false",
            f"--manage-nodes-with-annotation-selector={'='.join(annotation)}",
            f"--server-address=127.0.0.1:{self.port}",
            f"--node-port={self.port}",
            f"--tls-cert-file={self.certificate}",
            f"--tls-private-key-file={self.key}",
            f"--cidr={self.pod_range}",
            f"--node-lease-duration-seconds={LEASE_S}",
            f"--config={stages}",
            f"--config={kubelet}",
        ]


def stages_of(*, jobs_stay: bool) -> list[dict[str, Any]]:
    """Those of stages.yaml."""
    made = list(yaml.safe_load_all(Path(__file__).with_name("stages.yaml").read_text()))
    for item in made if jobs_stay else ():
        if item["metadata"]["name"] == "pod-complete":
            item["spec"]["selector"]["matchExpressions"].append(STAYING)
    return made


def _kubelet(log: Path, *, runs_commands: bool) -> list[dict[str, Any]]:
    """kwok's answers to the kubelet's API: one log for all containers, and commands run on this machine (kwok.sigs.k8s.io, Logs and Exec)."""
    version = "kwok.x-k8s.io/v1alpha1"
    logs = {"logs": [{"containers": [], "logsFile": str(log), "follow": False}]}
    commands = {"execs": [{"containers": [], "local": {"workDir": str(log.parent)}}]}
    made = [{"apiVersion": version, "kind": "ClusterLogs", "metadata": {"name": "logs"}, "spec": logs}]
    if runs_commands:
        made.append({"apiVersion": version, "kind": "ClusterExec", "metadata": {"name": "exec"}, "spec": commands})
    return made


def _documents(items: Sequence[Mapping[str, Any]]) -> str:
    return "\n---\n".join(json.dumps(item) for item in items)
