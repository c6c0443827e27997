"""Which provider makes a stack's objects of Kubernetes, and what the CLI gets for the real one: with a plug-in that is an empty program."""

import json
import os
import subprocess
from base64 import b64encode
from pathlib import Path

import pytest

from local_kubernetes.clients import kubeconfig
from local_kubernetes.running import KUBECONFIG
from trn.practice.engine.project import EngineFolder, environment
from trn.practice.engine.real_provider import PROGRAM, chosen, environment_with, keep, plugin_on

PLUGIN = Path("/plugins/pulumi-resource-kubernetes")


def installed(place: Path) -> Path:
    """An empty program."""
    place.mkdir(parents=True)
    (place / PROGRAM).write_text("#!/bin/sh\n")
    (place / PROGRAM).chmod(0o755)
    return place / PROGRAM


def test_a_plug_in_is_looked_for_where_pulumi_looks(tmp_path: Path):
    """On PATH first; else the newest of its own folder; else there is none."""
    home = tmp_path / "home"
    variables = {"HOME": str(home), "PATH": str(tmp_path / "bin")}
    assert plugin_on(variables) is None
    for version in ("4.9.0", "4.34.2", "4.10.1"):
        newest = installed(home / f".pulumi/plugins/resource-kubernetes-v{version}")
        newest = home / ".pulumi/plugins/resource-kubernetes-v4.34.2" / PROGRAM if version != "4.9.0" else newest
    assert plugin_on(variables) == newest
    assert plugin_on({**variables, "PULUMI_HOME": str(tmp_path / "elsewhere")}) is None
    on_path = installed(tmp_path / "bin")
    assert plugin_on(variables) == on_path


@pytest.mark.parametrize(
    ("plugin", "has_stack", "kept", "has_charts", "expected", "said"),
    [
        (None, False, None, False, None, f"no {PROGRAM} is on this machine"),
        (PLUGIN, False, None, False, PLUGIN, f"by the real provider, {PLUGIN}"),
        (PLUGIN, False, None, True, None, "would install charts"),
        # What a stack was brought up with goes on with it.
        (PLUGIN, True, None, False, None, "as before"),
        (PLUGIN, True, PLUGIN, True, PLUGIN, "by the real provider"),
        (None, True, PLUGIN, False, PLUGIN, "by the real provider"),
    ],
)
def test_the_choice(plugin: Path | None, has_stack: bool, kept: Path | None, has_charts: bool, expected: Path | None, said: str):
    """It is said, and why."""
    found, words = chosen(plugin, has_stack=has_stack, kept=kept, has_charts=has_charts)
    assert found == expected
    assert said in words


@pytest.fixture
def folder(tmp_path: Path) -> EngineFolder:
    """A stack whose control plane has its kubeconfig."""
    made = EngineFolder(tmp_path / "dev")
    (made.kubernetes / "identity").mkdir(parents=True)
    pair = {name: b64encode(name.encode()).decode() for name in ("client-certificate-data", "client-key-data")}
    (made.kubernetes / KUBECONFIG).write_text(json.dumps(kubeconfig("https://127.0.0.1:1", b"authority", pair)))
    return made


def test_the_real_one_takes_the_place_of_the_simulated_one(folder: EngineFolder, tmp_path: Path):
    """The CLI starts it itself, from its own folder of plug-ins; and the program that the stack's kubeconfig names gives it a certificate."""
    plugin = installed(tmp_path / "bin")
    attach = "aws:1,eks:2,kubernetes:3"
    assert environment(folder, "dev", attach, {"PATH": "/usr/bin:/bin"})["PULUMI_DEBUG_PROVIDERS"] == attach
    keep(folder, plugin)
    assert folder.real_provider == plugin
    variables = environment(folder, "dev", attach, {"PATH": "/usr/bin:/bin"})
    assert variables["PULUMI_DEBUG_PROVIDERS"] == "aws:1,eks:2"
    (linked,) = Path(variables["PULUMI_HOME"]).glob(f"plugins/resource-kubernetes-v*/{PROGRAM}")
    assert linked.resolve() == plugin.resolve()
    asked = subprocess.run(["aws", "eks", "get-token"], env=variables, capture_output=True, text=True, check=True).stdout
    assert json.loads(asked)["status"] == {"clientCertificateData": "client-certificate-data", "clientKeyData": "client-key-data"}
    assert not (folder.kubernetes / "bin/credential.json").stat().st_mode & 0o077
    # Twice is as once.
    assert environment_with(folder, plugin, {**variables, "PATH": os.defpath})["PULUMI_DEBUG_PROVIDERS"] == "aws:1,eks:2"
    keep(folder, None)
    assert folder.real_provider is None
