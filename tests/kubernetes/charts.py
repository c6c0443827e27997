"""Charts installed by Helm itself, as the program's releases would install them: chart, values and namespace from the recording."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local_kubernetes.api import Api, Object, settled, wait
from local_kubernetes.control_plane import ControlPlane
from simulator.recording import Recording, Registration
from tests.kubernetes import crds
from tests.kubernetes.stack import chart_of
from tests.stacks.order_laws import RELEASE

TIMEOUT_S = 120
"""Longest wait of an installation."""


def release_of(recording: Recording, chart: str) -> Registration:
    """The release of a chart in a recorded stack."""
    (found,) = [item for item in recording.of_type(RELEASE) if chart_of(item) == chart]
    return found


@dataclass(frozen=True)
class Helm:
    """Helm with a control plane."""

    control_plane: ControlPlane
    program: Path

    def run(self, *arguments: str, fails: bool = False, stdin: str | None = None) -> str:
        """What it prints; AssertionError with its words where it fails, or should and does not."""
        done = subprocess.run(
            [str(self.program), *arguments], input=stdin, env=self.control_plane.environment(), capture_output=True, text=True, check=False
        )
        assert (done.returncode != 0) is fails, done.stdout + done.stderr
        return done.stdout + done.stderr

    def install(self, release: Registration, chart: Path, *more: str) -> None:
        """Install a chart with the release's values and flags, its namespace made before as the program makes it. Waits as the provider does."""
        inputs = release.inputs
        api = self.control_plane.api()
        settled(api, inputs["namespace"])
        api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": inputs["namespace"]}}).ok()
        flags = ["--namespace", inputs["namespace"], "--atomic", "--timeout", f"{TIMEOUT_S}s", "--values", "-"]
        self.run("install", inputs["name"], str(chart), *flags, *more, stdin=json.dumps(plain(inputs.get("values") or {})))

    def uninstall(self, release: Registration) -> None:
        """Delete the release, and wait for its objects."""
        inputs = release.inputs
        crds.open_stores(self.control_plane.api())
        self.run("uninstall", inputs["name"], "--namespace", inputs["namespace"], "--wait", "--timeout", f"{crds.GONE_S}s")


def plain(value: Any) -> Any:
    """Values of a release as JSON takes them."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def pods(api: Api, namespace: str, **labels: str) -> list[Object]:
    """Pods with labels, when all of them run."""
    selector = ",".join(f"{key}={value}" for key, value in labels.items())
    path = f"/api/v1/namespaces/{namespace}/pods"

    def running() -> list[Object]:
        found = [item for item in api.items(path, labelSelector=selector) if "deletionTimestamp" not in item["metadata"]]
        return found if found and all(item["status"]["phase"] == "Running" for item in found) else []

    return wait(running, f"pods {selector} in {namespace} run")


def nodes_of(api: Api, items: list[Object]) -> set[str]:
    """Node groups that pods run on."""
    found = (api.call("GET", f"/api/v1/nodes/{item['spec']['nodeName']}").ok()["metadata"]["labels"] for item in items)
    return {labels["eks.amazonaws.com/nodegroup"] for labels in found}
