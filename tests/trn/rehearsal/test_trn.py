"""The command line as a user meets it: exit codes, files, messages, speed of help."""

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from rich.console import Console
from typer.testing import CliRunner

from tests.documents import checked
from tests.sharing import forget
from tests.support import ROOT, copy_project
from tools.pages import launcher_pages, pages
from trn.app import app
from trn.cli.progress import Progress
from trn.engine.program import rehearse_stack
from trn.engine.stack_file import read_stack_file
from trn.engine.stack_names import StackFileError

runner = CliRunner()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project's own top level, to break."""
    copy_project(tmp_path)
    return tmp_path


def rehearse(folder: Path, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `trn rehearse` in a folder."""
    monkeypatch.chdir(folder)
    result = runner.invoke(app, ["rehearse", *arguments], catch_exceptions=False)
    return result.exit_code, result.stdout, result.stderr


def test_a_rehearsal_writes_its_three_files_and_says_what_matters(project: Path, monkeypatch: pytest.MonkeyPatch):
    """This is the first thing a newcomer sees."""
    code, out, _ = rehearse(project, monkeypatch=monkeypatch)
    assert code == 0
    assert {path.name for path in (project / "build/rehearsal").iterdir()} == {"report.json", "timeline.svg", "index.html"}
    for word in ("ready", "lower bound", "because", "USD an hour", "destroy", "left", "nothing", "documentation address"):
        assert word in out


def test_the_bill_of_the_report_is_the_one_of_its_lines(project: Path, monkeypatch: pytest.MonkeyPatch):
    """In each situation; an idle bill that is the running one would overstate the cost of a night."""
    _, out, _ = rehearse(project, "--quiet", "--json", "-", monkeypatch=monkeypatch)
    cost = json.loads(out)["cost"]
    for situation, line in (("now", "usdPerHour"), ("fullSize", "fullSizeUsdPerHour"), ("idle", "idleUsdPerHour")):
        assert cost[situation]["usdPerHour"] == pytest.approx(sum(item[line] or 0 for item in cost["items"]), abs=0.001)
    neuron = sum(item["usdPerHour"] for item in cost["items"] if "trn1" in item["what"])
    assert neuron == pytest.approx(43.0)
    assert cost["now"]["usdPerHour"] - cost["idle"]["usdPerHour"] == pytest.approx(neuron, abs=0.05)


def test_progress_names_what_is_made_and_what_waits(project: Path, monkeypatch: pytest.MonkeyPatch):
    """In a pipe there is one line per long operation, on standard error."""
    _, _, err = rehearse(project, monkeypatch=monkeypatch)
    assert "made Cluster control-plane-eksCluster in" in err
    assert "deleted NodeGroup trn1-32xl in" in err
    assert "under way:" in err
    assert " wait\n" in err


def test_the_report_satisfies_its_published_schema(project: Path, monkeypatch: pytest.MonkeyPatch):
    """Others read it by that schema."""
    rehearse(project, "--quiet", monkeypatch=monkeypatch)
    report = checked((project / "build/rehearsal/report.json").read_text())
    assert report["schema"] == "trn-rehearse"
    assert report["destroy"]["leftovers"] == []


def test_the_same_seed_gives_the_same_bytes(project: Path, monkeypatch: pytest.MonkeyPatch):
    """A report that differs by itself cannot be compared."""
    texts = []
    for name in ("one.json", "two.json"):
        rehearse(project, "--quiet", "--json", name, monkeypatch=monkeypatch)
        texts.append((project / name).read_bytes())
        forget()
    assert texts[0] == texts[1]
    rehearse(project, "--quiet", "--seed", "1", "--json", "three.json", monkeypatch=monkeypatch)
    assert (project / "three.json").read_bytes() != texts[0]


def test_json_to_standard_output_is_nothing_but_json(project: Path, monkeypatch: pytest.MonkeyPatch):
    """`trn rehearse --json - | jq` must work."""
    _, out, err = rehearse(project, "--json", "-", monkeypatch=monkeypatch)
    assert json.loads(out)["stack"] == "dev"
    assert "USD an hour" in err


def test_a_wrong_configuration_exits_with_2_and_no_traceback(project: Path, monkeypatch: pytest.MonkeyPatch):
    """All mistakes, their fix, and nothing written."""
    path = project / "Pulumi.dev.yaml"
    path.write_text(path.read_text().replace("nat: single", "nat: none").replace("capacityGib: 1200", "capacityGib: 1300"))
    code, out, err = rehearse(project, monkeypatch=monkeypatch)
    assert code == 2
    assert "2 mistakes in the configuration of stack `dev`" in err
    assert "`storage.lustre.capacityGib` is `1300`" in err
    assert err.count("hint: ") == 2
    assert "Traceback" not in err + out
    assert not (project / "build").exists()


def test_a_key_without_namespace_is_reported_its_name(project: Path, monkeypatch: pytest.MonkeyPatch):
    """Pulumi would prefix it on `config set`; a hand-written file does not."""
    path = project / "Pulumi.dev.yaml"
    path.write_text(path.read_text().replace("trn:name:", "name:"))
    code, _, err = rehearse(project, monkeypatch=monkeypatch)
    assert code == 2
    assert "write `trn:name` for `name`" in err


@pytest.mark.parametrize("arguments", [["--output", "Pulumi.yaml"], ["--json", "."]])
def test_a_place_that_cannot_be_written_is_reported(project: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]):
    """A slip in a path must not end in a traceback."""
    code, _, err = rehearse(project, "--quiet", *arguments, monkeypatch=monkeypatch)
    assert code == 1
    assert "error: cannot write" in err


def test_a_stack_can_be_named_without_its_option(project: Path, monkeypatch: pytest.MonkeyPatch):
    """It is what one types first, or last."""
    code, out, _ = rehearse(project, "--seed", "3", "dev", "--quiet", monkeypatch=monkeypatch)
    assert code == 0
    assert "stack dev, seed 3" in out
    for arguments in (["prod"], ["--quiet", "prod"]):
        code, _, err = rehearse(project, *arguments, monkeypatch=monkeypatch)
        assert code == 2
        assert "there is no Pulumi.prod.yaml" in err


def test_in_a_pipe_each_line_of_the_summary_is_one_line(project: Path, monkeypatch: pytest.MonkeyPatch):
    """`trn rehearse | grep cost` must show the whole of it."""
    _, out, _ = rehearse(project, "--quiet", monkeypatch=monkeypatch)
    (cost,) = [line for line in out.splitlines() if line.startswith("cost")]
    assert cost.endswith("USD a month)")
    assert all(line == line.rstrip() for line in out.splitlines())


def test_the_live_view_shows_what_is_made_and_what_waits_for_it(monkeypatch: pytest.MonkeyPatch):
    """A view that says nothing for ten minutes of virtual time is none."""
    monkeypatch.setattr("time.sleep", lambda _: None)
    shown = io.StringIO()
    progress = Progress(Console(file=shown, force_terminal=True, width=140), quiet=False, speed=500)
    with progress:
        rehearse_stack(read_stack_file("dev", ROOT), watch=progress.watch)
    assert "making Cluster control-plane-eksCluster" in shown.getvalue()
    assert "wait for it" in shown.getvalue()
    assert "deleting NodeGroup trn1-32xl" in shown.getvalue()


def test_an_unknown_stack_lists_those_that_are_there(project: Path, monkeypatch: pytest.MonkeyPatch):
    """A slip in the name should cost no search."""
    code, _, err = rehearse(project, "--stack", "prod", monkeypatch=monkeypatch)
    assert code == 2
    assert "there is no Pulumi.prod.yaml" in err
    assert "stacks with a file here: dev" in err


def test_a_stack_with_deletion_protection_says_what_would_stay(project: Path, monkeypatch: pytest.MonkeyPatch):
    """And exits with 1: its destroy does not end."""
    path = project / "Pulumi.dev.yaml"
    path.write_text(path.read_text().replace("deletionProtection: false", "deletionProtection: true"))
    code, out, _ = rehearse(project, "--quiet", monkeypatch=monkeypatch)
    assert code == 1
    assert "deletion protection" in out
    assert "aws:eks/cluster:Cluster trainium-dev" in out
    assert "more, all in report.json" in out


def test_a_program_that_asks_for_an_unknown_type_is_reported_so(project: Path, monkeypatch: pytest.MonkeyPatch):
    """Users extend the program; the rehearsal must say what it does not know, without a traceback."""
    main = project / "__main__.py"
    bucket = (
        "import pulumi_aws\npulumi_aws.s3.Bucket('b', opts=pulumi.ResourceOptions(provider=pulumi_aws.Provider('p', region='us-west-2')))\n"
    )
    main.write_text(main.read_text() + bucket)
    code, _, err = rehearse(project, "--quiet", monkeypatch=monkeypatch)
    assert code == 1
    assert "the simulated cloud does not know aws:s3/bucket:Bucket" in err


def test_a_file_that_is_no_yaml_is_reported_with_its_line(project: Path):
    """A tab in a YAML file is the usual reason."""
    (project / "Pulumi.dev.yaml").write_text("config:\n\ttrn:name: x\n")
    with pytest.raises(StackFileError, match="line 2"):
        read_stack_file("dev", project)


def test_another_checkout_is_refused(project: Path):
    """Its program would run with the modules of this one. A folder with the project's own files alone has none to mix."""
    own = project / "trn" / "engine" / "stack_names.py"
    own.parent.mkdir(parents=True)
    own.write_text("")
    with pytest.raises(StackFileError, match=f"this trn is that of {ROOT}, and {project} is another checkout") as refusal:
        read_stack_file("dev", project)
    assert (refusal.value.code, f"run {project}/.venv/bin/trn" in refusal.value.hint) == (2, True)


def test_help_answers_without_loading_pulumi():
    """The SDKs take a second; help must not."""
    script = "import sys; from trn.app import app\ntry: app(['rehearse', '--help'])\nexcept SystemExit: pass\nprint([m for m in sys.modules if m.split('.')[0] in ('pulumi', 'pulumi_aws', 'botocore')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip().endswith("[]")


@pytest.mark.parametrize("page", pages.makers())
def test_pages_made_from_the_code_are_up_to_date(page: str):
    """`make docs` writes them."""
    assert (ROOT / page).read_text() == pages.makers()[page]()


def test_pages_of_launchers_are_up_to_date():
    """They are made together."""
    made = launcher_pages.pages(ROOT)
    assert made
    assert {page: (ROOT / page).read_text() for page in made} == made


def test_the_shipped_stack_file_satisfies_the_schema_that_editors_use():
    """A file that works must not be marked red."""
    import yaml

    jsonschema.validate(yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text()), pages.configuration_schema())


def test_the_schema_marks_a_misspelt_key():
    """Completion is only useful if a slip is seen."""
    with pytest.raises(jsonschema.ValidationError, match="nodeGroup"):
        jsonschema.validate(
            {"config": {"trn:name": "x", "trn:region": "us-west-2", "trn:network": {"zones": ["a", "b"]}, "trn:nodeGroup": {}}},
            pages.configuration_schema(),
        )


def test_progress_counts_the_same_resources_as_the_summary(project: Path, monkeypatch: pytest.MonkeyPatch):
    """Components take no time and are nothing to wait for: a larger number beside the summary's would be a second truth."""
    _, out, err = rehearse(project, monkeypatch=monkeypatch)
    count = json.loads((project / "build/rehearsal/report.json").read_text())["program"]["resources"]
    assert f"made     {count} resources" in out
    waiting = [int(number) for number in re.findall(r"(\d+) wait\n", err)]
    # All deletions but the first of a destroy wait when it begins.
    assert max(waiting) < count


def test_each_number_has_one_word_in_terminal_page_report_and_docs(project: Path, monkeypatch: pytest.MonkeyPatch):
    """140 resources here, 137 steps there and 189 registrations elsewhere made a reader count by hand."""
    _, out, _ = rehearse(project, "--quiet", monkeypatch=monkeypatch)
    report = json.loads((project / "build/rehearsal/report.json").read_text())
    page, docs = (project / "build/rehearsal/index.html").read_text(), (ROOT / "docs/rehearsal.md").read_text()
    made = [item for item in report["up"]["resources"] if item["custom"] and not item["type"].startswith("pulumi:providers:")]
    count = report["program"]["resources"]
    assert count == len(made)
    assert f"made     {count} resources\n" in out
    assert f"<dt>Resources</dt><dd>{count}</dd>" in page
    assert page.count(f'<p class="muted">{count} resources.</p>') == 2
    assert report["program"]["registrations"] == len(report["up"]["resources"])
    for word, key in (("resource", "resources"), ("component", "components"), ("registration", "registrations")):
        (row,) = [line for line in docs.splitlines() if line.startswith(f"| {word} |")]
        assert f"| {report['program'][key]} |" in row
    assert not re.search(r"\d+ (registrations|steps) ", re.sub(r"\d+ of \d+ steps", "", page.split("<script>")[0]))
