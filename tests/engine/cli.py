"""The real Pulumi CLI on a copy of the program, with a state folder of its own and the simulated cloud attached."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from simulator.providers.cloud import Cloud
from simulator.providers.serve import serving
from stacks.config import REHEARSAL_VARIABLE
from tests.support import ROOT

needs_cli = pytest.mark.skipif(
    shutil.which("pulumi") is None or shutil.which("pulumi-language-python") is None,
    reason="no Pulumi CLI with pulumi-language-python on PATH",
)


@dataclass
class Engine:
    """One stack, `dev`, in a folder."""

    folder: Path
    rehearsal: bool = True
    """Whether the program is told that it meets a simulated cloud."""
    cloud: Cloud = field(default_factory=Cloud)

    def __post_init__(self) -> None:
        (self.folder / "state").mkdir(parents=True)
        project = self.folder / "project"
        project.mkdir()
        shutil.copy(ROOT / "__main__.py", project)
        (project / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text().replace("virtualenv: .venv", f"virtualenv: {sys.prefix}"))
        shutil.copy(ROOT / "Pulumi.dev.yaml", project)
        self.run("stack", "init", "dev", stack=False)

    def run(self, *arguments: str, stack: bool = True, fails: bool = False) -> str:
        """Run the CLI; gives what it printed. A run that should fail and does not, or the reverse, fails the test."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith("AWS_") and key != REHEARSAL_VARIABLE}
        environment |= {
            "PULUMI_HOME": str(self.folder / "home"),
            "PULUMI_BACKEND_URL": f"file://{self.folder / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": "",
            "PULUMI_SKIP_UPDATE_CHECK": "1",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        }
        if self.rehearsal:
            environment[REHEARSAL_VARIABLE] = "1"
        command = ["pulumi", "--cwd", str(self.folder / "project"), "--non-interactive", "--color", "never", *arguments]
        with serving(self.cloud) as attach:
            environment["PULUMI_DEBUG_PROVIDERS"] = attach
            done = subprocess.run(
                [*command, *(["--stack", "dev"] if stack else [])], env=environment, capture_output=True, text=True, check=False
            )
        text = done.stdout + done.stderr
        assert (done.returncode != 0) is fails, text
        return text

    def configure(self, path: str, value: str) -> None:
        """Change one key of the configuration."""
        self.run("config", "set", "--path", f"trn:{path}", value)

    def resources(self) -> dict[str, dict[str, Any]]:
        """The engine's state: URN to resource, the stack itself left out."""
        deployment = json.loads(self.run("stack", "export"))["deployment"]
        return {item["urn"]: item for item in deployment.get("resources", []) if item["type"] != "pulumi:pulumi:Stack"}

    def operations(self, *arguments: str) -> dict[str, list[str]]:
        """What a preview plans: operation to URNs, unchanged ones left out."""
        steps = json.loads(self.run("preview", "--json", *arguments))["steps"]
        planned: dict[str, list[str]] = {}
        for step in steps:
            if step["op"] not in ("same", "read"):
                planned.setdefault(step["op"], []).append(step["urn"])
        return planned
