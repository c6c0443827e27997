"""What somebody meets first: the version, the installation, the files that an open project has."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from tests.support import ROOT
from tools.build_backend import REFUSAL
from trn.app import app

PINNED_ACTION = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")


def test_the_version_stands_once():
    """In pyproject.toml; a second place would be forgotten."""
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout.startswith(f"trn {stated} (Python {sys.version_info.major}.{sys.version_info.minor}")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What a build reads, elsewhere: it writes beside it."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    for folder in ("trn", "tools", "facts"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_a_wheel_is_refused_with_what_to_do_instead(copy: Path):
    """It would put folders named `components` and `facts` at the top of somebody's environment."""
    build = ["wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(copy / "out"), str(copy)]
    done = subprocess.run([sys.executable, "-m", "pip", *build], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert REFUSAL in done.stdout + done.stderr
    assert list(copy.rglob("*.whl")) == []


def test_an_editable_install_is_built(copy: Path):
    """`make venv` and the refusal's own advice need it."""
    script = "import sys; from tools.build_backend import build_editable; print(build_editable(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", script, str(copy)], capture_output=True, text=True, check=False, cwd=copy)
    assert done.returncode == 0, done.stderr
    assert len(list(copy.glob("*.whl"))) == 1


def test_in_the_checkouts_own_environment_an_install_is_an_editable_one(copy: Path):
    """`pulumi package add` makes that environment and installs there by `pip install`, without `--editable`."""
    script = "import sys; sys.prefix = sys.argv[1] + '/.venv'; from tools.build_backend import build_wheel; print(build_wheel(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", script, str(copy)], capture_output=True, text=True, check=False, cwd=copy)
    assert done.returncode == 0, done.stderr
    (wheel,) = copy.glob("*.whl")
    assert "editable" in wheel.name


def test_the_workflow_runs_what_a_developer_runs_with_pinned_actions():
    """An action that is named by a tag can change under us."""
    text = (ROOT / ".github/workflows/ci.yml").read_text()
    lines = [line.strip().removeprefix("- ") for line in text.splitlines() if "uses:" in line]
    assert [line for line in lines if not PINNED_ACTION.fullmatch(line)] == []
    steps = yaml.safe_load(text)["jobs"]["run"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == [".ci/run"]


def test_every_target_and_file_that_the_guide_names_is_there():
    """A newcomer types what it says."""
    guide, makefile = (ROOT / "CONTRIBUTING.md").read_text(), (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"(?:\$ |`)make (\w+)", guide))
    assert {name for name in targets if f"\n{name}:" not in makefile} == set()
    paths = re.findall(r"`((?:trn|tools|tests|\.ci|docs)/[\w./]+)`|\]\(([\w./]+)\)", guide)
    named = [path for pair in paths for path in pair if path and "NAME" not in path]
    assert len(named) > 4
    assert [path for path in named if not (ROOT / path).exists()] == []
