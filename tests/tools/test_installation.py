"""`make` says what pip is at, and ends as pip ended."""

import subprocess
import sys
from pathlib import Path

from tests.support import ROOT
from tools.installation import locked, steps

PIP = """\
Collecting aiohttp==3.14.5 (from -r requirements.lock (line 4))
  Downloading aiohttp-3.14.5.whl (1.7 MB)
Collecting pulumi_aws==7.51.1
Installing collected packages: aiohttp, pulumi-aws
Successfully installed aiohttp-3.14.5
"""


def test_each_package_is_named_with_its_number():
    """Minutes of silence look like a hang."""
    said = list(steps(PIP.splitlines(keepends=True), 2))
    assert said == ["1 of 2 packages: aiohttp", "2 of 2 packages: pulumi_aws", "unpacking 2 packages, which takes longest"]


def test_the_lock_says_how_many_there_are():
    """Hashes and comments are none."""
    assert locked("# a\naiohttp==1 \\\n    --hash=sha256:0\n    # via b\nmoto[ec2,iam]==5\n") == 2
    assert locked((ROOT / "requirements.lock").read_text()) > 60


def test_what_pip_says_is_shown_where_it_fails(tmp_path: Path):
    """With its exit code, so that make stops."""
    (tmp_path / "requirements.lock").write_text("no such thing ==\n")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools/installation.py"), "requirements.lock"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 1
    assert "ERROR: " in done.stderr


def test_make_installs_by_it():
    """And quietly nowhere else but for the checkout itself, which takes a second."""
    makefile = (ROOT / "Makefile").read_text()
    assert "$(BIN)/python tools/installation.py requirements.lock" in makefile
    assert makefile.count("pip install --quiet") == 1
