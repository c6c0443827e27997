"""What is printed behind a run of the engine."""

import json
from pathlib import Path

import pytest

from simulator.faults_syntax import FaultRequest
from simulator.providers.cloud import Cloud
from trn.practice.engine.project import EngineFolder
from trn.practice.engine.run import report

PET, VPC = "random:index/[bold]:Pet", "aws:ec2/vpc:Vpc"


def test_names_and_paths_with_brackets_are_printed_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Rich takes `[bold]` for a style and drops it: a path that is printed without it leads nowhere."""
    monkeypatch.setenv("COLUMNS", "400")
    folder = EngineFolder(tmp_path / "[red]")
    folder.root.mkdir()
    folder.events.write_text(json.dumps({"resourcePreEvent": {"metadata": {"op": "create", "type": PET, "new": {"custom": True}}}}))
    urn = f"urn:pulumi:dev::trn::{VPC}::network"
    assert Cloud.load(folder.account).begin_create(urn, VPC, "vpc-[blue]", {"cidrBlock": "10.0.0.0/16"}, {}) is None
    assert report(0, folder, [FaultRequest("no-capacity", "[dim]")], died=True) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        f"error: {PET} is of a package that the simulator does not serve: a real plug-in has answered",
        "note: the fault no-capacity@[dim] did not happen: no [dim] was made",
        f"note: {VPC} vpc-[blue] was being made when its provider died; the engine does not know of it",
        f"error: the provider process died; {folder.provider_log} has its last words",
        f"simulated cloud: asked for nothing; 1 objects in {folder.account}",
    ]
