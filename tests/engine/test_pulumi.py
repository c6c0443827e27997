"""The real Pulumi engine runs the program: what its users see when the configuration is wrong."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.config import REHEARSAL_VARIABLE
from tests.support import ROOT

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(
        shutil.which("pulumi") is None or shutil.which("pulumi-language-python") is None,
        reason="no Pulumi CLI with pulumi-language-python on PATH",
    ),
]


def preview(folder: Path, stack_file: str) -> subprocess.CompletedProcess[str]:
    """`pulumi preview` of a copy of the program: the CLI writes into the stack file."""
    state, project = folder / "state", folder / "project"
    state.mkdir()
    project.mkdir()
    shutil.copy(ROOT / "__main__.py", project)
    (project / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text().replace("virtualenv: .venv", f"virtualenv: {sys.prefix}"))
    (project / "Pulumi.test.yaml").write_text(stack_file)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("AWS_") and key != REHEARSAL_VARIABLE}
    environment |= {
        "PULUMI_HOME": str(folder / "home"),
        "PULUMI_BACKEND_URL": f"file://{state}",
        "PULUMI_CONFIG_PASSPHRASE": "",
        "PULUMI_SKIP_UPDATE_CHECK": "1",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
    }
    base = ["pulumi", "--cwd", str(project), "--non-interactive", "--color", "never"]
    subprocess.run([*base, "stack", "init", "test"], env=environment, check=True, capture_output=True)
    return subprocess.run([*base, "preview", "--stack", "test"], env=environment, capture_output=True, text=True, check=False)


def test_the_shipped_address_is_refused_before_any_resource(tmp_path: Path):
    """One clean error with its mend, no traceback, and the engine asked for nothing."""
    done = preview(tmp_path, (ROOT / "Pulumi.dev.yaml").read_text())
    text = done.stdout + done.stderr
    assert done.returncode != 0
    assert "1 mistake in the configuration of stack `test`; nothing was created" in text
    assert "pulumi config set --path 'trn:controlPlane.publicAccessCidrs[0]'" in text
    assert "Traceback" not in text
    assert "aws:" not in text
