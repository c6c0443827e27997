"""`trn upgrade` with the real Pulumi CLI: targets, whole runs, and going on after a kill."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.engine.cli import LOOK_S, PATIENCE_S, TRN, needs_cli
from tests.support import copy_project
from tests.trn.practice.test_upgrade import SMALL
from trn.practice.engine.project import practice_folder

pytestmark = [pytest.mark.engine, needs_cli]
UPGRADE = "--practice upgrade dev --to 1.35 --yes"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The small stack of 1.34, up by the CLI."""
    copy_project(tmp_path)
    (tmp_path / "Pulumi.dev.yaml").write_text(SMALL)
    code, said = trn(tmp_path, "practice up dev")
    assert code == 0, said
    return tmp_path


def trn(root: Path, command: str) -> tuple[int, str]:
    """Exit code, and all that was printed."""
    done = subprocess.run([*TRN, *command.split()], cwd=root, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def changed(said: str) -> list[str]:
    """Types and properties that the engine says it has changed, in its order."""
    return [line.split("aws:eks:", 1)[1].split(" ", 1)[0] for line in said.splitlines() if " updated (" in line and "aws:eks:" in line]


def test_each_step_changes_what_it_is_about(project: Path):
    """The control plane alone, then the add-ons alone, then each group: the engine's own words."""
    code, said = trn(project, UPGRADE)
    assert code == 0, said
    assert changed(said) == ["Cluster", "Addon", "Addon", "NodeGroup", "NodeGroup"]
    text = (project / "Pulumi.dev.yaml").read_text()
    assert ('kubernetesVersion: "1.35" # the platform team' in text, "releaseVersion: 1.35.4-20260505" in text) == (True, True)
    assert trn(project, "--practice plan dev")[0] == 0
    code, said = trn(project, UPGRADE)
    assert (code, "nothing to do" in said) == (0, True), said


def test_a_run_that_was_killed_in_the_middle_is_continued(project: Path):
    """trn and the CLI die at once while the second step runs; the lock that they leave is removed."""
    with subprocess.Popen(
        [*TRN, *UPGRADE.split()], cwd=project, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        deadline = time.monotonic() + PATIENCE_S
        while ": add-ons 1.35" not in process.stdout.readline() and time.monotonic() < deadline:
            assert process.poll() is None
        found = subprocess.run(["pgrep", "-x", "-P", str(process.pid), "pulumi"], capture_output=True, text=True, check=False)
        while not found.stdout and time.monotonic() < deadline:
            time.sleep(LOOK_S)
            found = subprocess.run(["pgrep", "-x", "-P", str(process.pid), "pulumi"], capture_output=True, text=True, check=False)
        os.kill(int(found.stdout), signal.SIGKILL)
        process.kill()
    assert practice_folder("dev", project).account.exists()
    code, said = trn(project, f"{UPGRADE} --break-lock")
    assert code == 0, said
    assert "small is of 1.35" in said
    assert trn(project, "--practice plan dev")[0] == 0
