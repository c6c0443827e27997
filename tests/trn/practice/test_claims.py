"""A stack by claims in practice, from `up` to a job's end: the commands count what is published and what is claimed."""

from pathlib import Path

import pytest
import yaml

from tests.support import copy_project
from tests.trn.practice.commands import UP, trn

pytestmark = pytest.mark.long

JOB = "name: bert\nrecipe: bert\nargs: [--steps, '10', --data, generated]\nnodes: 2\nlauncher: NAME\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shipped stack with both DRA drivers, up."""
    copy_project(tmp_path)
    stack = tmp_path / "Pulumi.dev.yaml"
    document = yaml.safe_load(stack.read_text())
    addons = document["config"].setdefault("trn:addons", {})
    for key, change in (("neuron", {"devices": "dra"}), ("efa", {"devices": "dra"}), ("neuronMonitor", {"enabled": False})):
        addons[key] = {**addons.get(key, {}), **change}
    stack.write_text(yaml.safe_dump(document))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("trn.practice.engines.shutil.which", lambda _name: None)
    assert trn(UP)[0] == 0
    return tmp_path


def test_a_stack_by_claims_is_healthy_and_takes_jobs(project: Path):
    """BERT's recipe, unchanged: its pods are placed by their claims; a second job of whole nodes finds none free."""
    code, said, _ = trn("--practice status dev")
    assert code == 0
    assert said.count("deviceclass/neuron.aws.com 16, deviceclass/efa.networking.k8s.aws 8") == 2
    (project / "job.yaml").write_text(JOB.replace("NAME", "volcano"))
    code, said, complaint = trn("--practice submit dev job.yaml")
    assert code == 0, complaint
    assert "2 of 2" in trn("--practice jobs dev")[1]
    assert trn("practice job dev late")[0] == 0
    assert "0 of 2 nodes run" in trn("--practice why dev late")[1]
    code, _, complaint = trn("--practice top dev")
    assert "does not support devices by claims" in complaint
    assert trn("--practice cancel dev bert --yes")[0] == 0
    assert "2 of 2" in trn("--practice jobs dev")[1]
