"""What is wrong on the line itself is said at once: nothing large is loaded before it."""

import os
import resource
import subprocess
import sys
from pathlib import Path

from tests.support import ROOT, copy_project

START = "import sys; from trn.start import main; sys.argv = ['trn', *sys.argv[1:]]; main()"
LINES = (
    "nosuch", "check --bogus", "check nosuch", "check dev extra", "logs dev", "scale dev nosuch 0", "scale dev trn1-32xl x",
    "rehearse nosuch", "rehearse crsh dev", "rehearse dev --fault nosuch", "rehearse dev --scenario nosuch", "rehearse change nosuch",
    "rehearse change dev --to nosuch", "cost dev --compare nosuch", "submit dev nosuch.yaml", "lint nosuch.yaml", "watch --log nosuch.log",
    "practice up nosuch", "--practice status nosuch", "practice event lod-balancer", "engine nosuch -- up", "shell nosuch", "init",
    "init dev --region us-west-2 --yes", "init a/b --yes", "init new --region us-wset-2 --yes", "init new --instance-type trn9 --yes",
)  # fmt: skip
"""Each is a mistake that needs no look at anything but names."""
LOADED = f"""
import io, sys
from contextlib import redirect_stderr
from trn.app import app
for line in {LINES!r}:
    said = io.StringIO()
    with redirect_stderr(said):
        try:
            app(line.split())
        except SystemExit as ended:
            code = ended.code
    loaded = sorted({{name.split(".")[0] for name in sys.modules}} & {{"boto3", "botocore", "pulumi", "pulumi_aws", "kubernetes", "jinja2"}})
    loaded += sorted({{"stacks.settings", "stacks.config", "training.job", "simulator.rehearsal"}} & set(sys.modules))
    if code != 2 or not said.getvalue().startswith("error: ") or loaded:
        sys.exit(f"{{line}}: {{code}}, {{loaded}}, {{said.getvalue()}}")
"""


def test_no_error_of_a_name_or_a_flag_loads_an_sdk_or_the_settings(tmp_path: Path):
    """They take two seconds, in which a reader has begun to wonder."""
    copy_project(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert (done.returncode, done.stderr) == (0, "")


def processor_s(*arguments: str) -> float:
    """Processor time of one run, which other processes on the machine hardly change."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", START, *arguments], capture_output=True, check=False, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_an_error_takes_hardly_longer_than_help():
    """The list of commands is the least that a line can cost; an error on a line took ten times as long."""
    help_s = min(processor_s("--help") for _ in range(2))
    error_s = min(processor_s("check", "nosuch") for _ in range(2))
    assert error_s < 2.5 * help_s
