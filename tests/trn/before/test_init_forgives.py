"""`trn init` in conversation: wrong answers are explained and asked again, `q` and Ctrl-C leave no file, and the answers wait."""

import fcntl
import json
import os
import pty
import select
import stat
import subprocess
import sys
import termios
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.trn.aws.healthy import HealthyAccount
from tests.trn.before.init_project import empty_project, trn
from tests.trn.given import Given
from trn.aws.api import BotoApi
from trn.before.init.kept import DAYS, Kept
from trn.engine.stack_file import read_stack_file

RESERVATION = "cr-0123456789abcdef0"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Given) -> Path:
    """The project without a stack file."""
    return empty_project(tmp_path, monkeypatch, given)


def typed(*lines: str) -> str:
    """Lines as they are typed."""
    return "".join(f"{line}\n" for line in lines)


WRONG = {
    "region": (["us-wset-2", "us-west-2", *[""] * 6, "later", ""], "did you mean us-west-2?"),
    "type": (["", "trn1.32xlrge", "", *[""] * 5, "later", ""], "did you mean trn1.32xlarge?"),
    "zone": (["", "", "usw2-az9", "", *[""] * 4, "later", ""], "did you mean usw2-az4?"),
    "zone of another region": (["", "", "use1-az1", "", *[""] * 4, "later", ""], "did you mean usw2-az1?"),
    "name": (["", "", "", "My Cluster", "", *[""] * 3, "later", ""], "for example my-cluster"),
    "nodes": (["", "", "", "", "many", "", "", "", "later", ""], "write a whole number"),
    "capacity": (["", "", "", "", "", "spott", "", "", "later", ""], "did you mean spot?"),
    "file system": (["", "", "", "", "", "", "1300", "1200", "later", ""], "the nearest are 1200 and 2400"),
    "address without a mask": ([*[""] * 7, "198.18.0.7", "198.18.0.7/32", ""], "write `198.18.0.7/32` for this one address"),
    "no address": ([*[""] * 7, "", "later", ""], "docs/private.md says what private takes"),
    "add-ons": ([*[""] * 7, "later", "volcno", ""], "did you mean volcano?"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_answer_is_explained_and_asked_again(project: Path, case: str):
    """The answers before it are kept: the file comes out as if it had not been given."""
    lines, says = WRONG[case]
    code, _, err = trn("night", answers=typed(*lines))
    assert (code, says in err) == (0, True), err
    night = read_stack_file("night", project).configuration
    assert (night["region"], night["nodeGroups"]["trn1-32xl"]["size"]) == ("us-west-2", 2)


def test_a_type_that_the_region_has_not_leads_to_regions_that_have_it(project: Path):
    """And the answer that leads there is taken at once."""
    code, _, err = trn(
        "night", answers=typed("", "trn2.48xlarge", "us-east-2", "", "", "1", "capacity-block", RESERVATION, "", "later", "")
    )
    assert (code, "the region is us-east-2" in err) == (0, True), err
    assert read_stack_file("night", project).configuration["network"]["zones"] == ["use2-az3", "use2-az1"]
    code, _, err = trn("night", "--force", answers=typed("", "trn2.48xlarge", "", "trn1.32xlarge", *[""] * 5, "later", ""))
    assert code == 0, err
    assert read_stack_file("night", project).configuration["region"] == "us-west-2"


def test_what_only_the_whole_shows_leads_back_to_its_question(project: Path):
    """A thousand nodes with EFA have no room in their subnet: the number is asked for again, and nothing else."""
    code, _, err = trn("night", answers=typed("", "", "", "", "1000", "", "", "later", "", "4"))
    assert (code, "1 mistake in the configuration" in err, err.count("Region (")) == (0, True, 1), err
    assert read_stack_file("night", project).configuration["nodeGroups"]["trn1-32xl"]["size"] == 4


@pytest.mark.parametrize(("word", "code"), [("q", 1), ("Q", 1), ("quit", 1)])
def test_q_writes_nothing_and_keeps_the_answers_for_the_user_alone(project: Path, word: str, code: int):
    """In the state folder, with a day on which they end, and said in one line."""
    found, out, err = trn("night", answers=typed("us-east-1", "", word))
    assert (found, "wrote" in out) == (code, False)
    assert list(project.glob("Pulumi.*.yaml")) == []
    (path,) = (project / "state" / "trn" / "init").iterdir()
    assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode)) == (0o600, 0o700)
    last = err.splitlines()[-1]
    until = f"{datetime.now(UTC) + timedelta(days=DAYS):%Y-%m-%d}"
    for words in (
        "stopped: nothing was written; 2 answers are kept until",
        until,
        str(path),
        "`trn init night` goes on",
        "--fresh` forgets",
    ):
        assert words in last


def test_q_at_the_first_question_leaves_nothing_at_all(project: Path):
    """There is nothing to keep."""
    assert trn("night", answers="q\n")[0] == 1
    assert sorted(path.name for path in project.iterdir()) == ["Pulumi.yaml", "__main__.py"]


def test_kept_answers_are_taken_up_and_forgotten_when_the_file_is_written(project: Path):
    """What was answered is not asked again."""
    trn("night", answers=typed("us-east-1", "", "", "mine", "4", "q"))
    code, _, err = trn("night", answers=typed("", "", "0", "later", ""))
    assert (code, "kept: region us-east-1" in err, "Region (" in err, "Nodes" in err) == (0, True, False, False), err
    found = read_stack_file("night", project).configuration
    assert (found["region"], found["name"], found["nodeGroups"]["trn1-32xl"]["size"]) == ("us-east-1", "mine", 4)
    assert list((project / "state" / "trn" / "init").iterdir()) == []


@pytest.mark.parametrize("arguments", [(), ("--fresh",)])
def test_kept_answers_can_be_declined(project: Path, arguments: tuple[str, ...]):
    """By an answer, or by an option."""
    trn("night", answers=typed("us-east-1", "", "q"))
    lines = [*([] if arguments else ["n"]), *[""] * 7, "later", ""]
    assert trn("night", *arguments, answers=typed(*lines))[0] == 0
    assert read_stack_file("night", project).configuration["region"] == "us-west-2"


def test_an_option_wins_over_a_kept_answer(project: Path):
    """It is what the user says now."""
    trn("night", answers=typed("us-east-1", "trn1.32xlarge", "q"))
    code, _, err = trn("night", "--region", "us-east-2", answers=typed("y", *[""] * 5, "later", ""))
    assert code == 0, err
    assert read_stack_file("night", project).configuration["region"] == "us-east-2"


def test_answers_are_kept_for_a_week(project: Path):
    """After it they are deleted; a damaged file is none."""
    trn("night", answers=typed("us-east-1", "q"))
    kept = Kept.of(project, "night")
    assert kept.read() == {"region": "us-east-1"}
    held = json.loads(kept.path.read_text())
    kept.path.write_text(json.dumps({**held, "until": (datetime.now(UTC) - timedelta(hours=1)).isoformat()}))
    assert kept.read() is None
    assert not kept.path.exists()
    for damaged in ("{", "[]", '{"until": 1}', '{"until": "2999-01-01T00:00:00+00:00", "answers": []}'):
        kept.path.write_text(damaged)
        assert kept.read() is None
    assert trn("night", answers=typed(*[""] * 7, "later", ""))[0] == 0


def test_answers_of_another_stack_or_project_are_not_these(project: Path):
    """Two folders may have a stack of the same name."""
    trn("night", answers=typed("us-east-1", "q"))
    assert Kept.of(project, "day").read() is None
    assert Kept.of(project / "other", "night").read() is None


def test_a_state_folder_that_cannot_be_written_is_said(project: Path):
    """And the command ends as it would have."""
    (project / "state").write_text("a file")
    code, _, err = trn("night", answers=typed("us-east-1", "q"))
    assert (code, "the answers could not be kept in" in err) == (1, True)


def test_the_end_of_input_is_as_ctrl_c(project: Path):
    """Both reach the prompt as one: nothing is written, one line is said, and the answers are kept."""
    code, out, err = trn("night", answers=typed("us-east-1", ""))
    assert (code, "wrote" in out, list(project.glob("Pulumi.*.yaml"))) == (130, False, [])
    assert "interrupted: nothing was written; 2 answers are kept until" in err
    assert "Traceback" not in err


def test_ctrl_c_while_the_cost_is_counted_is_the_same(project: Path, monkeypatch: pytest.MonkeyPatch):
    """Not only at a prompt."""

    def interrupted(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("trn.before.init.making.File.cost", interrupted)
    code, _, err = trn("night", answers=typed("us-east-1", "", "", "", ""))
    assert (code, "interrupted: nothing was written; 4 answers are kept" in err) == (130, True)
    assert os.listdir(project / "state" / "trn" / "init") == [Kept.of(project, "night").path.name]


def until(terminal: int, words: str, again: bytes = b"") -> str:
    """What the terminal shows until these words, or its end. `again`: typed whenever nothing comes for a while.

    A signal that comes just before Python begins to read is seen when something is typed: a person presses the key once more.
    """
    shown = ""
    while words not in shown:
        if not select.select([terminal], [], [], 5)[0]:
            os.write(terminal, again)
            continue
        try:
            shown += os.read(terminal, 4096).decode()
        except OSError:
            break
    return shown


def test_ctrl_c_on_a_terminal_ends_in_one_line_and_130(project: Path):
    """On a real one, where the key is a signal."""
    own, other = pty.openpty()
    command = [sys.executable, "-c", "from trn.app import main; main()", "init", "night", "--allow", "198.18.0.7/32"]
    running = subprocess.Popen(
        command, stdin=other, stdout=other, stderr=other, start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    )
    os.close(other)
    try:
        until(own, "[us-west-2]:")
        os.write(own, b"us-east-1\n")
        until(own, "Instance type")
        os.write(own, b"\x03")
        shown = until(own, "--fresh` forgets them", again=b"\x03")
        assert running.wait(30) == 130
    finally:
        running.kill()
        running.wait()
        os.close(own)
    assert "interrupted: nothing was written; 2 answers are kept until" in shown
    assert "Traceback" not in shown
    assert Kept.of(project, "night").read() == {"region": "us-east-1", "allow": "198.18.0.7/32"}


def test_live_zones_are_asked_for_again_too(project: Path, given: Given):
    """What the account does not offer cannot be had, wherever the catalogue has seen it."""
    aws = HealthyAccount()
    aws.around.offered["trn1.2xlarge"] = ["usw2-az2", "usw2-az3"]
    given.api = lambda region: BotoApi(region, aws.wire.session())
    code, _, err = trn(
        "night", "--live", answers=typed("", "inf2.xlarge", "", "trn1.2xlarge", "usw2-az4", "usw2-az2", *[""] * 4, "later", "")
    )
    assert (code, "inf2.xlarge is not offered in us-west-2" in err) == (0, True), err
    assert ("Zone of the nodes (usw2-az3, usw2-az2)" in err, "did you mean usw2-az" in err) == (True, True)
    assert read_stack_file("night", project).configuration["network"]["zones"][0] == "usw2-az2"
