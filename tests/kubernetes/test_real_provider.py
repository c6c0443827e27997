"""Pulumi's own engine and its own Kubernetes provider on a real API server, the simulated account behind AWS; skipped where they are not here."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from addons.registry import SWITCHED
from local_kubernetes import running
from local_kubernetes.api import Object, wait
from tests.kubernetes.conftest import Programs
from tests.support import copy_project
from tests.trn.practice.commands import trn
from trn.practice.engine.project import EngineFolder, practice_folder
from trn.practice.engine.real_provider import PROGRAM, plugin_on

pytestmark = [
    pytest.mark.kubernetes,
    pytest.mark.skipif(plugin_on(os.environ) is None, reason=f"no {PROGRAM} on PATH or in Pulumi's folder of plug-ins"),
    pytest.mark.skipif(shutil.which("pulumi") is None, reason="no Pulumi CLI on PATH"),
]
WITHOUT_CHARTS = {"etcd", "lustreExporter", "mpiOperator"}
"""Add-ons whose objects are the program's own."""
ETCD: Object = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "etcd-server", "namespace": "training"}}


@pytest.fixture
def folder(programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EngineFolder]:
    """A project whose stack dev installs no chart; nothing is up. The working folder."""
    programs(*running.TOOLS)
    copy_project(tmp_path)
    path = tmp_path / "Pulumi.dev.yaml"
    document = yaml.safe_load(path.read_text())
    document["config"]["trn:addons"] = {key: {"enabled": key in WITHOUT_CHARTS} for key in SWITCHED}
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    monkeypatch.chdir(tmp_path)
    yield practice_folder("dev")
    running.stop(practice_folder("dev").kubernetes)


def managers(folder: EngineFolder, item: Object) -> set[str]:
    """Who has set fields of an object."""
    found = running.find(folder.kubernetes)
    assert found is not None
    return {entry["manager"] for entry in found.api().get(item).ok()["metadata"]["managedFields"]}


def test_a_stack_comes_up_is_brought_back_and_goes(folder: EngineFolder):
    """Its objects are the provider's; nodes follow the simulated node groups; a new API server gets all of it again; and nothing is left."""
    code, said, errors = trn("practice up dev --kubernetes=go --engine pulumi --quiet")
    assert code == 0, said + errors
    assert "objects of Kubernetes are made by the real provider" in errors
    assert any(name.startswith("pulumi-kubernetes") for name in managers(folder, ETCD))
    wait(lambda: trn("--practice status dev")[0] == 0, "all is well")
    found = running.find(folder.kubernetes)
    assert found is not None
    os.kill(found.record.process, signal.SIGKILL)
    wait(lambda: not Path(found.record.folder).exists(), "its processes are gone")
    code, said, errors = trn("practice up dev --quiet")
    assert code == 0, said + errors
    assert any(name.startswith("pulumi-kubernetes") for name in managers(folder, ETCD))
    code, said, errors = trn("practice down dev --quiet")
    assert code == 0, said + errors
    assert "left     0 objects" in said
    assert not folder.kubernetes.exists()
