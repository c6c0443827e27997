"""'Run your first job' in the README, and the command that the stack tells its users: they lead to a job file that is there and is taken."""

import re
import shlex
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from facts.toolchains import TOOLCHAINS
from stacks.config import parse_settings
from stacks.outputs import next_command
from tests.support import ROOT, copy_project, dev_configuration, merged
from trn.app import app


def lines() -> list[list[str]]:
    """The words of each command of the section."""
    section = (ROOT / "README.md").read_text().partition("## 6. Run your first job\n")[2].partition("\n## ")[0]
    return [shlex.split(line, comments=True) for line in re.findall(r"^\$ (.+)$", section, re.MULTILINE)]


def test_it_has_five_lines_of_trn():
    """From a look without a cluster to the end of the job."""
    assert [line[:2] for line in lines()] == [["trn", verb] for verb in ("submit", "submit", "watch", "why", "cancel")]


def test_its_first_line_prints_the_job_that_the_others_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Run as it is written, beside the files of the checkout and a stack file of the README's name."""
    copy_project(tmp_path)
    (tmp_path / "Pulumi.night.yaml").write_text((ROOT / "Pulumi.dev.yaml").read_text())
    (tmp_path / "training").symlink_to(ROOT / "training")
    monkeypatch.chdir(tmp_path)
    first, submit, *others = lines()
    result = CliRunner().invoke(app, first[1:], catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    job = list(yaml.safe_load_all(result.stdout))[-1]
    assert job["kind"] == "Job"
    assert first == [*submit, "--dry-run"]
    assert {line[3] for line in others} == {job["metadata"]["name"]}


def test_the_stack_leads_to_it():
    """The next command of the shipped stack submits the README's job."""
    settings = parse_settings(dev_configuration(), "dev", rehearsal=True)
    assert next_command(settings, "organization/trainium/dev").endswith(f" && trn submit dev {lines()[1][-1]}")


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
def test_each_toolchain_has_a_first_job_of_its_own(toolchain: str):
    """A job file of this repository, for the same framework."""
    settings = parse_settings(dev_configuration(), "dev", rehearsal=True)
    chosen = settings.model_copy(update={"training": settings.training.model_copy(update={"toolchain": toolchain})})
    words = next_command(chosen, "organization/trainium/night").split()
    assert words[-4:-1] == ["trn", "submit", "night"]
    job = yaml.safe_load((ROOT / words[-1]).read_text())
    assert TOOLCHAINS[job["toolchain"]].framework == TOOLCHAINS[toolchain].framework


def test_a_stack_without_a_toolchain_is_looked_over_only():
    """Which job it can run is not known."""
    settings = parse_settings(merged(dev_configuration(), training={"toolchain": None}), "dev", rehearsal=True)
    assert next_command(settings, "organization/trainium/dev").endswith(" && trn status dev")
