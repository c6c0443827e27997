"""`trn rehearse` with trouble, and its sisters rules, crash, chaos and change, from the command line."""

import json
import os
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.support import ROOT, copy_project
from trn.app import app
from trn.rehearsal.rules.book import rule_book


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project's files that a command reads, as the working folder."""
    copy_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def trn(*arguments: str) -> Result:
    """Run the command line."""
    return CliRunner().invoke(app, ["rehearse", *arguments], catch_exceptions=False)


def test_a_fault_is_reported_with_code_cause_fix_and_cost(project: Path):
    """What a user reads on failure is the point."""
    result = trn("-q", "--fault", "no-capacity@NodeGroup/trn1-32xl", "--json", "report.json")
    lines = {line.split(" ", 1)[0]: line for line in result.output.splitlines()}
    assert "up stopped after" in lines["ready"]
    assert "USD an hour is running" in lines["ready"]
    assert "InsufficientInstanceCapacity" in lines["refused"]
    assert "no capacity for 2 nodes of trn1-32xl" in lines["cause"]
    assert "pulumi up --replace" in lines["fix"]
    assert lines["left"].endswith("nothing")
    assert result.exit_code == 0
    report = json.loads((project / "report.json").read_text())
    assert report["faults"] == ["no-capacity@NodeGroup/trn1-32xl"]
    assert [run["ended"] for run in (report["up"], *report["reruns"])] == ["refused", "well"]
    failed = next(item for item in report["up"]["resources"] if item["error"])
    assert failed["attempts"] > 1
    # No instance ever ran, so none is paid for.
    assert report["up"]["cost"][-1]["usdPerHour"] < 2


def test_a_scenario_is_read_by_its_name():
    """And its story is in the summary."""
    result = trn("-q", "--scenario", "careless-users")
    assert "trn drain" in result.output
    assert "trn sweep --delete" in result.output
    assert result.exit_code == 0


def test_what_a_rehearsal_cannot_fix_fails_it():
    """A quota is asked for by people."""
    result = trn("-q", "--scenario", "no-quota")
    assert "ask for 256 in Service Quotas (L-2C3B7624)" in result.output
    assert result.exit_code == 1


@pytest.mark.parametrize(
    "arguments", [("--fault", "nonsense"), ("--scenario", "nonsense"), ("change", "--set", "nonsense"), ("change", "--set", "name.x=1")]
)
def test_misuse_is_reported_with_a_hint(arguments: tuple[str, ...]):
    """Exit code 2, and no traceback."""
    result = trn(*arguments)
    assert result.exit_code == 2
    assert "\nhint: " in result.stderr


def test_a_slip_in_a_subcommand_is_no_stack(project: Path):
    """`trn rehearse NAME` is a stack; a word near a subcommand is one only where its file is."""
    slip = trn("crahs")
    assert slip.exit_code == 2
    assert "did you mean `trn rehearse crash`?" in slip.stderr
    (project / "Pulumi.crahs.yaml").write_text("config: {}\n")
    assert "did you mean" not in trn("crahs").stderr


def test_a_project_without_a_program_is_refused(project: Path):
    """Where only the YAML files were copied; each command that records the program said that the mistake was its own."""
    (project / "__main__.py").unlink()
    result = trn("dev", "-q")
    assert (result.exit_code, "there is no __main__.py, the program, beside" in result.stderr) == (2, True)


def test_a_stack_file_that_is_a_pipe_is_refused(project: Path):
    """It is there, and was called missing; and not among the stacks that are offered."""
    os.mkfifo(project / "Pulumi.pipe.yaml")
    assert "/Pulumi.pipe.yaml is a folder or a pipe" in trn("pipe", "-q").stderr
    assert "stacks with a file here: dev\n" in trn("prod", "-q").stderr


@pytest.mark.parametrize("command", [(), ("crash",)])
def test_h_is_help(command: tuple[str, ...]):
    """At every level."""
    assert trn(*command, "-h").stdout == trn(*command, "--help").stdout != ""


def test_a_fault_without_a_resource_to_strike_is_refused():
    """A slip in the resource's name would otherwise rehearse fair weather."""
    result = trn("-q", "--fault", "no-capacity@NodeGroup/trn1-32x")
    assert result.exit_code == 2
    assert "`no-capacity@NodeGroup/trn1-32x` strikes nothing" in result.stderr
    assert "hint: near: NodeGroup/trn1-32xl" in result.stderr


def test_a_fault_that_never_strikes_is_reported():
    """Its provider process does not die in a rehearsal, which has none."""
    assert "the fault kill-provider@lustre never struck" in trn("-q", "--fault", "kill-provider@lustre").output


def test_rules_lists_all_with_their_sources(project: Path):
    """By name, when, what and who says so."""
    result = trn("rules", "--json", "rules.json")
    assert result.exit_code == 0
    book = json.loads((project / "rules.json").read_text())
    assert book == json.loads(rule_book().as_json())
    assert min(len(book[key]) for key in ("rules", "consequences", "faults", "scenarios")) > 4
    assert "subnet-has-interfaces" in result.output


def test_crash_prints_and_writes_the_matrix(project: Path, monkeypatch: pytest.MonkeyPatch):
    """`cases`, `converged` and `failures`; all moments are met in tests/simulator."""
    monkeypatch.setattr("simulator.engine.crash.MOMENTS", (0.5,))
    # The small stack: each of its resources is a kill.
    shutil.copy(ROOT / "Pulumi.learn.yaml", project)
    result = trn("crash", "learn", "-q", "--json", "crash.json")
    report = json.loads((project / "crash.json").read_text())
    assert (result.exit_code, report["failures"]) == (0, [])
    assert report["cases"] == report["converged"] > 80
    assert "kills converged" in result.output


def test_chaos_prints_and_writes_its_runs(project: Path):
    """`runs`, `endedWell`, `leftovers` and `failures`; in processes of its own the same as in one."""
    result = trn("chaos", "-q", "--runs", "8", "--seed", "40", "--json", "chaos.json")
    report = json.loads((project / "chaos.json").read_text())
    assert result.exit_code == 0
    assert (report["runs"], report["endedWell"], report["leftovers"], report["failures"]) == (8, 8, 0, [])
    one = trn("chaos", "-q", "--runs", "1", "--seed", "41", "--json", "-")
    assert json.loads(one.stdout)["runs"] == 1


def test_change_prints_and_writes_what_it_would_do(project: Path):
    """A red line fails it, so that a pipeline stops there."""
    result = trn("change", "--set", "storage.lustre.zoneId=usw2-az1", "--json", "change.json")
    assert result.exit_code == 1
    assert "its data is lost" in result.output
    report = json.loads((project / "change.json").read_text())
    assert report["counts"] == {"replace": 5}
    assert report["cautions"][0]["severity"] == "red"
    page = (project / "build/rehearsal/index.html").read_text()
    assert "change" in page
    assert "its data is lost" in page


def test_change_between_two_stack_files(project: Path):
    """The same file twice changes nothing."""
    shutil.copy("Pulumi.dev.yaml", "Pulumi.other.yaml")
    result = trn("change", "--from", "dev", "--to", "other")
    assert result.exit_code == 0, result.output


def test_the_file_that_cannot_be_written_is_named():
    """A full device says no name by itself, and the folder of the other files is not it."""
    result = trn("-q", "--json", "/dev/full")
    assert result.exit_code == 1
    assert "error: cannot write `/dev/full`: No space left on device\n" in result.stderr
    assert "--json" in result.stderr


def test_a_policy_says_what_a_change_may_do_and_a_comment_what_it_does(project: Path):
    """A pipeline without any credential stops a pull request, and says why."""
    smaller = "change dev --set nodeGroups.trn1-32xl.size=1 --markdown comment.md"
    refused = trn(*smaller.split(), "--allow", "restarts")
    assert (refused.exit_code, "--allow jobs does" in " ".join(refused.output.split())) == (1, True)
    assert "**Refused by the policy: jobs.**" in Path("comment.md").read_text()
    assert trn(*smaller.split(), "--allow", "restarts,jobs").exit_code == 0
    assert "Allowed by the policy." in Path("comment.md").read_text()
    # No policy allows what the program refuses.
    line = "change dev --set iam.path=/teams/ --markdown comment.md --allow restarts,jobs,data,final"
    assert trn(*line.split()).exit_code == 1
    assert Path("comment.md").read_text().startswith("**The change is refused.** before hook failed: EKS keeps the role")


def test_a_change_is_killed_at_each_of_its_operations(project: Path):
    """Before its request has left, half-way, and when it has ended but is not saved."""
    result = trn("crash", "dev", "-q", "--change", "nodeGroups.trn1-32xl.size=4", "--json", "crash.json")
    report = json.loads((project / "crash.json").read_text())
    assert (result.exit_code, report["changed"], report["refused"]) == (0, ["nodeGroups.trn1-32xl.size=4"], [])
    assert report["cases"] == report["converged"] == 3
    assert result.output.startswith("3 of 3 kills converged")


def test_a_change_that_is_refused_cannot_be_killed(project: Path):
    """The sentence of the refusal is the answer."""
    result = trn("crash", "dev", "-q", "--change", "network.cidr=10.2.0.0/21")
    assert (result.exit_code, "cannot become 10.2.0.0/21" in result.output) == (0, True)
    assert "touches nothing that could be killed" in result.output


@pytest.mark.parametrize("command", [("change", "dev", "--set"), ("crash", "dev", "--change")])
def test_a_key_that_is_not_there_cannot_be_removed(project: Path, command: tuple[str, ...]):
    """A slip of the pen would say that nothing changes."""
    result = trn(*command, "nodeGroups.trn1-32xl.sise=")
    assert (result.exit_code, "removes a key that the stack file does not have" in result.output) == (2, True)
