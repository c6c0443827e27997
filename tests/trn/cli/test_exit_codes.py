"""The same cause has the same exit code and the same shape for every command: the table in docs/operations.md."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperCommand, TyperGroup
from typer.testing import CliRunner, Result

from tests.support import ROOT, copy_project
from tests.trn.cli.test_placement import COMMANDS
from tests.trn.given import Given
from trn.app import app
from trn.cli.errors import INTERRUPTION, CommandError
from trn.cli.usage import EXIT_CODES
from trn.commands import READING, line_of
from trn.run_command import run_command

ARGUMENTS: dict[str, tuple[str, ...]] = {
    "JOB": ("bert",),
    "FILE": ("job.yaml",),
    "SCRIPT": ("src/train.py",),
    "FOLDER": ("src",),
    "GROUP": ("trn1-32xl",),
    "COUNT": ("0",),
    "OFFER": ("cb-0123456789abcdef0",),
}
ARGUMENTS |= {
    "SOURCE": ("s3://bucket/set/",),
    "PATH": ("/fsx/set",),
    "WHAT": ("claim-in-use",),
    "ARGUMENTS": ("--", "up"),
    "COMMAND": ("--", "ls"),
}
"""A word for each argument."""
LONG = "a" * 256
"""File systems take names of 255 bytes."""
ALL = ("trn rehearse", *COMMANDS)
WRITE_A_STACK = ("trn init", "trn import")
ABOUT_A_STACK = tuple(name for name in ALL if name == "trn rehearse" or (COMMANDS[name].stack is not None and name not in WRITE_A_STACK))
READ_A_STACK = tuple(name for name in ABOUT_A_STACK if name not in ("trn engine", "trn practice export", "trn practice down"))
"""engine wants the Pulumi CLI first, and the others an account on disk."""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a job file and a folder."""
    copy_project(tmp_path)
    (tmp_path / "job.yaml").write_text("")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def line(name: str, stack: str | None = "dev", *options: str) -> list[str]:
    """A whole line of a command."""
    given = [*name.split()[1:], *([stack] if stack and (name in ABOUT_A_STACK or name in WRITE_A_STACK) else [])]
    command = COMMANDS.get(name)
    words = [ARGUMENTS.get(slot.name, ()) for slot in line_of(command, name).slots] if command is not None else []
    choices = {"trn iam": ["--operator"], "trn import": ["--cluster", "theirs"]}
    choice = ["--to", "1.36"] if name.endswith(" upgrade") else choices.get(name, [])
    return [*given, *options, *choice, *(word for group in words for word in group)]


def trn(*words: str) -> Result:
    """One command line."""
    return CliRunner().invoke(app, list(words), catch_exceptions=False)


def is_one_error(result: Result) -> bool:
    """What is wrong, a blank line, and a hint; nothing else."""
    return result.stderr.startswith("error: ") and "\n\nhint: " in result.stderr and "Traceback" not in result.output


@pytest.mark.parametrize("name", [*(name for name in ALL if name != "trn engine"), "trn", "trn practice", "trn data", "trn image"])
def test_an_option_that_there_is_not_is_misuse(name: str):
    """For groups too; engine passes on to Pulumi what it does not know."""
    result = trn(*name.split()[1:], "--no-such-\x1b[31moption")
    assert (result.exit_code, is_one_error(result), "\x1b" in result.output) == (2, True, False)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("trn engine", "trn shell")])
def test_a_word_too_many_is_misuse(name: str):
    """engine and shell pass theirs on."""
    result = trn(*line(name, "dev"), "x", "y", "z")
    assert (result.exit_code, is_one_error(result), "too many words" in result.stderr) == (2, True, True)


@pytest.mark.parametrize(
    "name", ["trn practice nosuch", "trn data nosuch", "trn image nosuch", "trn nosuch", "trn rehears", "trn rehearse crsh"]
)
def test_a_command_that_there_is_not_is_misuse(name: str):
    """With the nearest, or where all are listed."""
    result = trn(*name.split()[1:])
    assert (result.exit_code, is_one_error(result)) == (2, True)


@pytest.mark.parametrize("words", [["rehearse", "--", "dve"], ["rehearse", "-q", "--", "dve"], ["rehearse", "--", "crash", "dve"]])
def test_the_end_of_the_options_may_stand_before_the_stack(words: list[str]):
    """It was handed on with the stack behind it as an option, which it then was not, and again, without end."""
    result = trn(*words)
    assert (result.exit_code, is_one_error(result), "did you mean `dev`?" in result.stderr) == (2, True, True)


@pytest.mark.parametrize(
    "words",
    [
        ["submit", "dev", LONG], ["lint", LONG], ["watch", "dev", "--log", LONG],
        ["rehearse", "dev", "--scenario", LONG], ["rehearse", "dev", "--existing", LONG], ["image", "push", "dev", LONG],
    ],
)  # fmt: skip
def test_a_name_that_no_file_can_have_is_misuse(words: list[str]):
    """The operating system refuses to look for it."""
    result = trn(*words)
    assert (result.exit_code, is_one_error(result), "File name too long" in result.stderr) == (2, True, True), result.output


@pytest.mark.parametrize("words", [["cost", "dev", "--hours"], ["shell", "dev", "--hours"], ["rehearse", "calendar", "dev", "--hours"]])
@pytest.mark.parametrize("value", ["inf", "nan"])
def test_a_number_without_an_end_is_misuse(words: list[str], value: str):
    """A training of so many hours has no price."""
    result = trn(*words, value)
    assert (result.exit_code, is_one_error(result), "--hours" in result.stderr) == (2, True, True)
    assert value == "nan" or words[0] == "shell" or "error: `--hours` is `inf`\n  allowed: " in result.stderr


@pytest.mark.parametrize("name", ABOUT_A_STACK)
def test_a_stack_without_a_file_is_misuse(name: str):
    """As the first word and as an option."""
    words = line(name, None)
    at = len(name.split()) - 1
    for given in (["dve"], ["--stack", "dve"]):
        result = trn(*words[:at], *given, *words[at:])
        assert (result.exit_code, is_one_error(result), "did you mean `dev`?" in result.stderr) == (2, True, True), result.output


@pytest.mark.parametrize("name", READ_A_STACK)
@pytest.mark.parametrize("text", ["config:\n\t- x", "config: {}"], ids=["no YAML", "nothing set"])
def test_a_stack_file_with_a_mistake_is_misuse(name: str, text: str, project: Path, given: Given):
    """One that is no YAML, and one that the settings refuse."""
    (project / "Pulumi.dev.yaml").write_text(text)
    (project / "job.yaml").write_text((ROOT / "docs/samples/jobs/bert.yaml").read_text())
    given.has_tools = True
    if name == "trn bundle":
        pytest.skip("a bundle is made of what can be read")
    result = trn(*line(name))
    assert (result.exit_code, "error: " in result.stderr, "Traceback" in result.output) == (2, True, False), result.output


@pytest.mark.parametrize("name", ABOUT_A_STACK)
def test_outside_of_a_project_it_is_misuse(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory):
    """And said where to go."""
    monkeypatch.chdir(tmp_path_factory.mktemp("empty"))
    result = trn(*line(name))
    assert (result.exit_code, is_one_error(result), "no Pulumi.yaml" in result.stderr) == (2, True, True)


def raising(error: BaseException) -> Callable[..., Any]:
    """In place of what a command does."""

    def act(*_: Any) -> Any:
        raise error

    return act


@pytest.mark.parametrize("name", ALL)
def test_ctrl_c_is_130_and_one_line(name: str, monkeypatch: pytest.MonkeyPatch):
    """Whichever command it ends."""
    for kind in (TyperCommand, TyperGroup):
        real = kind.invoke
        own = raising(KeyboardInterrupt())
        monkeypatch.setattr(kind, "invoke", lambda self, ctx, real=real, own=own: real(self, ctx) if _is_group(self, ctx) else own())
    result = trn(*line(name, "new" if name in WRITE_A_STACK else "dev"))
    assert (result.exit_code, result.stderr.endswith(INTERRUPTION)) == (130, True), result.output
    assert result.stderr.count("\n") == INTERRUPTION.count("\n") + ("practice:" in result.stderr)


@pytest.mark.parametrize("place", ["stacks_here", "refuse_early"])
def test_ctrl_c_before_a_command_begins_is_130_too(place: str, monkeypatch: pytest.MonkeyPatch):
    """While its line is read, and while its names are looked up."""
    monkeypatch.setattr(f"trn.commands.{place}", raising(KeyboardInterrupt()))
    result = trn("check", "dev")
    assert (result.exit_code, result.stderr) == (130, INTERRUPTION)


def _is_group(command: Any, context: Any) -> bool:
    return hasattr(command, "commands") and context.meta[READING].path.split()[-1] != command.name


@pytest.mark.parametrize("name", ALL)
def test_what_is_refused_or_failed_is_1(name: str, monkeypatch: pytest.MonkeyPatch):
    """An error of a command without a code of its own."""
    for kind in (TyperCommand, TyperGroup):
        real = kind.invoke
        own = raising(CommandError("it cannot be", "do another thing"))
        monkeypatch.setattr(kind, "invoke", lambda self, ctx, real=real, own=own: real(self, ctx) if _is_group(self, ctx) else own())
    result = trn(*line(name, "new" if name in WRITE_A_STACK else "dev"))
    assert (result.exit_code, "error: it cannot be\n\nhint: do another thing\n" in result.stderr) == (1, True)


def test_help_and_version_are_0():
    """At every level, by both names of the option."""
    for words in ((), ("rehearse",), ("practice",), ("logs",), ("data", "stage")):
        assert {trn(*words, option).exit_code for option in ("-h", "--help")} == {0}
    assert trn("--version").exit_code == 0


@pytest.mark.parametrize("name", ALL)
def test_help_names_values_as_people_do(name: str):
    """No types of Python."""
    text = trn(*name.split()[1:], "-h").stdout
    assert [word for word in ("<bool>", "<str>", "<path>", "<int", "<float", "<list", "bool") if word in text] == []


def test_help_has_each_command_in_a_section_and_the_everyday_ones_first():
    """A new one that is in none would come last, under no title."""
    text = trn("--help").stdout
    titles = [row.strip(":") for row in text.splitlines() if row and not row.startswith(" ")]
    assert titles[1:] == ["Options", "Every day", "Jobs and data", "The cluster", "Its end, and what went wrong", "Without an account"]
    assert text.index("  rehearse ") < text.index("  init ") < text.index("  drain ")


def test_the_table_in_the_docs_has_each_code_once():
    """What a script may rely on."""
    page = (ROOT / "docs/operations.md").read_text()
    assert sorted({code for code, _ in EXIT_CODES}) == [0, 1, 2, 130]
    for code, cause in EXIT_CODES:
        assert f"| {code} | {cause} |" in page


def test_a_code_of_a_command_is_not_changed():
    """That of a shell in a pod is the shell's own."""
    assert run_command(lambda: 7) == 7


@pytest.mark.parametrize("line", ["check dev --practice", "capacity find dev --practice"])
def test_practice_after_the_command_is_put_right(line: str):
    """It is an option of `trn` itself, and many look for it at the end of the line."""
    result = trn(*line.split())
    command = line.partition(" dev")[0]
    assert result.exit_code == 2
    assert "`--practice` comes before the command" in result.stderr
    assert f"hint: trn --practice {command}" in result.stderr
