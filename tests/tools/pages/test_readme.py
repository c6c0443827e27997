"""The README's path is walked: each line of its blocks is run, in its order, on the simulated account."""

import contextlib
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from simulator.engine import crash
from tests.engine.cli import needs_cli
from tests.support import ROOT, copy_project
from tests.trn.practice.commands import leftovers
from trn.app import app
from trn.practice.access import LINE
from trn.practice.words import in_practice

README = (ROOT / "README.md").read_text()
STEPS = ("Rehearse", "Write your stack file", "Check", "Up", "Verify", "Run your first job", "Destroy")


TOOLS = {"pulumi": "3.272.0", "aws": "aws-cli/2.20.0", "kubectl": '{"clientVersion": {"gitVersion": "v1.35.0"}}'}
"""What the tools on PATH say, where a reader has installed them."""
WALK = pytest.mark.engine
"""The path takes longer than a default test may; it needs no CLI, and is walked where there is none."""


@dataclass(frozen=True)
class Run:
    """One line of the README, and what became of it."""

    line: str
    code: int
    said: str


def lines() -> list[str]:
    """All lines that a reader types, in order."""
    blocks = re.findall(r"^ *```console\n(.*?)^ *```", README, re.MULTILINE | re.DOTALL)
    return [line[2:].partition("  #")[0].strip() for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def _trn(words: list[str], answers: str = "") -> tuple[int, str]:
    result = CliRunner().invoke(app, words, input=answers, catch_exceptions=False)
    return result.exit_code, result.output


def _rehearsed(line: str) -> tuple[int, str]:
    """As it stands."""
    return _trn(shlex.split(line)[1:])


def _practised(line: str) -> tuple[int, str]:
    """As it is typed in practice; with the defaults of all questions; `watch` looks once, since it would never end."""
    words = shlex.split(in_practice(line, "night"))[1:]
    if words[0] != "--practice" and words[0] != "practice":
        words = ["--practice", *words]
    more = {"watch": ["--once"], "destroy": ["--yes"], "cancel": ["--yes"]}.get(words[1], [])
    return _trn([*words, *more], "\n" * 30)


def _made(line: str) -> tuple[int, str]:
    """What the Makefile runs for it; `make test` is this very run."""
    recipe = re.search(rf"^{line.split()[1]}: .*\n\t@(.+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe is not None, line
    if line == "make test":
        return 0, recipe[1]
    command = recipe[1].replace("$(BIN)/", "").replace("$(or $(STACK),dev)", "dev").replace("--stack ", "")
    return _rehearsed(command)


def _set_path(line: str) -> tuple[int, str]:
    """In the folder of the checkout."""
    done = subprocess.run(["bash", "-c", f"{line}; command -v trn"], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def _up(line: str) -> tuple[int, str]:
    return _trn([*shlex.split(in_practice(line, "night"))[1:], "--quiet"])


WAYS: dict[str, Callable[[str], tuple[int, str]]] = {
    r"make (rehearse|test)": _made,
    r"export PATH=.*": _set_path,
    r"trn rehearse .*": _rehearsed,
    # Practice makes the stack with `up`; the engine's tests run it with the real CLI.
    r"pulumi stack init night": lambda line: (0, ""),
    r"pulumi up --stack night": _up,
    r"trn .*": _practised,
}
"""How each line is run; the first that fits counts."""


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Run]]:
    """The whole path, once."""
    root = tmp_path_factory.mktemp("readme")
    copy_project(root)
    (root / "training").symlink_to(ROOT / "training")
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(root):
        patch.setenv("XDG_STATE_HOME", str(root / "state"))
        patch.setattr("trn.practice.engines.shutil.which", lambda _name: None)
        patch.setattr("trn.before.check.tools.tool_answer", lambda command: TOOLS[command[0]])
        # Each kill is a run of its own; all 840 of them take a minute.
        every = crash.cases
        patch.setattr(crash, "cases", lambda recording: every(recording)[::200])
        runs = []
        for line in lines():
            way = next(way for pattern, way in WAYS.items() if re.fullmatch(pattern, line))
            runs.append(Run(line, *way(line)))
        assert leftovers("night") == []
        yield runs


@WALK
def test_each_line_does_what_it_says(walked: list[Run]):
    """All end well but a few, of which it is known why."""
    expected = {
        "trn watch night bert-large": 1,  # no container runs in practice, so nothing is measured
        "trn cancel night bert-large": 1,  # nor is a checkpoint saved
    }
    assert {run.line: run.code for run in walked if run.code != expected.get(run.line, 0)} == {}


@WALK
@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("make rehearse", "left     nothing"),
        ("trn rehearse dev --fault no-capacity@NodeGroup/trn1-32xl", "InsufficientInstanceCapacity"),
        ("trn rehearse crash dev", "kills converged, nothing was made twice, nothing was left behind"),
        ("trn rehearse change dev --set nodeGroups.trn1-32xl.size=4", "trn1-32xl: 2 nodes added"),
        ("trn init night", "wrote Pulumi.night.yaml"),
        ("trn cost night", "idle"),
        ("trn check night", "quota"),
        ("trn status night", "trainium-night is as it should be"),
        ("trn verify night", "is ready for training"),
        ("trn submit night training/recipes/bert/job.yaml --dry-run", "kind: Job"),
        ("trn submit night training/recipes/bert/job.yaml", "bert-large is submitted"),
        ("trn why night bert-large", "2 of 2 nodes run"),
        ("trn cancel night bert-large", "jobs.batch.volcano.sh/bert-large is gone"),
        ("trn destroy night", "nothing of trainium-night is left over"),
        ("trn sweep night", "nothing of trainium-night is left over"),
    ],
)
def test_a_line_says_what_the_readme_promises(walked: list[Run], line: str, says: str):
    """What stands behind it as a comment comes true."""
    (run,) = [run for run in walked if run.line == line]
    assert says in run.said


@WALK
def test_nothing_of_the_path_touches_aws(walked: list[Run]):
    """Steps 3 to 7 ran in practice, and say so."""
    ran = [run.line for run in walked if LINE in run.said]
    assert len(ran) >= 10


def test_the_steps_are_in_the_order_in_which_they_are_walked():
    """Numbered, and the set-up is the two commands that CI reads."""
    headings = re.findall(r"^## (\d)\. (.+)$", README, re.MULTILINE)
    assert headings == [(str(number), title) for number, title in enumerate(STEPS, 1)]
    assert [line for line in lines() if line.startswith("make")] == ["make rehearse", "make test"]
    first = [re.split(r"\s+", line)[1] for line in lines() if line.startswith("trn")]
    order = ["rehearse", "init", "check", "status", "verify", "submit", "destroy"]
    assert sorted(order, key=first.index) == order


def test_the_beginning_says_for_whom_it_is_in_two_sentences():
    """A reader who is no user of it sees that first."""
    paragraph = README.split("\n\n")[1]
    assert len(re.findall(r"[.!?](?: |$)", paragraph)) == 2
    assert paragraph.startswith("For teams that train on AWS Trainium")
    assert len(README.splitlines()) <= 200


def test_the_comparison_is_dated_and_names_its_sources():
    """And says what this program lacks: an honest table has a row that others win."""
    section = README.partition("## Why not")[2].partition("\n## ")[0]
    assert re.search(r"As of 20\d\d-\d\d-\d\d", section)
    assert "**not yet**" in section
    assert section.partition("Sources:")[2].count("https://") >= 4
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    assert {line.count("|") for line in rows} == {6}


def test_the_picture_is_there_for_light_and_dark():
    """One file, which follows the reader's system."""
    assert "](docs/cluster.svg)" in README
    assert "prefers-color-scheme:dark" in (ROOT / "docs/cluster.svg").read_text()


@pytest.mark.engine
@needs_cli
def test_the_lines_of_pulumi_run_as_they_are_written(tmp_path: Path):
    """With the real CLI, up to what would touch AWS."""
    copy_project(tmp_path)
    (tmp_path / "Pulumi.night.yaml").write_text((tmp_path / "Pulumi.dev.yaml").read_text())
    (line,) = [line for line in lines() if line.startswith("pulumi stack")]
    variables = {"PULUMI_BACKEND_URL": f"file://{tmp_path}", "PULUMI_CONFIG_PASSPHRASE": "x", "PULUMI_SKIP_UPDATE_CHECK": "true"}
    subprocess.run(
        ["env", *(f"{key}={value}" for key, value in variables.items()), *shlex.split(line)], cwd=tmp_path, check=True, capture_output=True
    )
