"""`trn engine` with a stand-in for the Pulumi CLI: what it is given, what is made of its answer."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from simulator.account.disk import FORMAT
from simulator.providers.cloud import Cloud
from tests.support import ROOT, SHEBANG, copy_project
from trn.app import app
from trn.cli.errors import CommandError
from trn.practice.engine.project import EngineFolder, environment, project_settings, stack_settings
from trn.practice.engine.run import refuse_arguments, with_event_log

runner = CliRunner()
VPC = "urn:pulumi:dev::trn::aws:ec2/vpc:Vpc::network"
STAND_IN = """import json, os, sys
from pathlib import Path
arguments = sys.argv[1:]
kept = Path(os.environ["KEPT"])
with kept.open("a") as file:
    file.write(json.dumps({"arguments": arguments, "environment": dict(os.environ), "directory": os.getcwd()}) + "\\n")
if "init" in arguments:
    file = Path(os.environ["PULUMI_BACKEND_URL"].removeprefix("file://").partition("?")[0]) / ".pulumi/stacks/trn/dev.json"
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    with Path("Pulumi.dev.yaml").open("a") as file:
        file.write("encryptionsalt: v1:ours\\n")
    sys.exit(int(os.environ.get("INIT_EXIT", "0")))
if "--event-log" in arguments:
    Path(arguments[arguments.index("--event-log") + 1]).write_text(os.environ.get("EVENTS", ""))
if os.environ.get("KILL_PROVIDERS"):
    os.kill(int((Path(os.environ["PULUMI_HOME"]).parent / "account" / "lock").read_text()), 9)
print("the CLI's own words")
sys.exit(int(os.environ.get("EXIT", "0")))
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project to stand in, with a CLI on PATH that keeps what it is given."""
    folder = tmp_path / "project"
    folder.mkdir()
    copy_project(folder)
    binaries = tmp_path / "bin"
    binaries.mkdir()
    for name in ("pulumi", "pulumi-language-python"):
        (binaries / name).write_text(SHEBANG + STAND_IN)
        (binaries / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(binaries))
    monkeypatch.setenv("KEPT", str(tmp_path / "kept.jsonl"))
    monkeypatch.chdir(folder)
    return folder


def engine(*arguments: str) -> tuple[int, str]:
    """Exit code, and standard error, of `trn engine`."""
    result = runner.invoke(app, ["engine", *arguments], catch_exceptions=False)
    return result.exit_code, result.stderr


def runs(project: Path) -> list[dict[str, object]]:
    """What the CLI was given, run by run."""
    return [json.loads(line) for line in (project.parent / "kept.jsonl").read_text().splitlines()]


def event(op: str, urn: str, *, planning: bool = False) -> str:
    """A line of the engine's event log."""
    step = {"op": op, "urn": urn, "type": urn.split("::")[2].split("$")[-1], "new": {"custom": True}}
    return json.dumps({"resourcePreEvent": {"metadata": step, "planning": planning}})


def test_the_stack_is_made_once_and_the_arguments_are_passed_on(project: Path):
    """With and without the `--`."""
    assert engine("--", "up", "--yes")[0] == 0
    assert engine("stack", "export", "--file", "x.json")[0] == 0
    events = str(project / "build/practice/dev/events.jsonl")
    assert [run["arguments"] for run in runs(project)] == [
        ["--non-interactive", "stack", "init", "dev"],
        ["up", "--event-log", events, "--yes"],
        ["stack", "export", "--file", "x.json"],
    ]


@pytest.mark.parametrize("code", [0, 1, 255])
def test_the_exit_code_is_the_clis(project: Path, monkeypatch: pytest.MonkeyPatch, code: int):
    """Scripts go by it."""
    monkeypatch.setenv("EXIT", str(code))
    assert engine("--", "preview")[0] == code


def test_the_cli_works_in_a_stand_in_and_the_users_project_stays_as_it_is(project: Path):
    """Pulumi writes into the folder that it takes for the project."""
    before = {path: path.read_bytes() for path in project.iterdir()}
    engine("--", "up")
    engine("--", "up")
    assert {path: path.read_bytes() for path in project.iterdir() if path.name != "build"} == before
    stand_in = project / "build/practice/dev/project"
    assert {run["directory"] for run in runs(project)} == {str(stand_in)}
    assert yaml.safe_load((stand_in / "Pulumi.yaml").read_text())["main"] == str(project)
    assert (stand_in / "Pulumi.dev.yaml").read_text() == (project / "Pulumi.dev.yaml").read_text() + "encryptionsalt: v1:ours\n"


def test_the_cli_gets_no_account_and_the_simulated_cloud(project: Path, monkeypatch: pytest.MonkeyPatch):
    """Fails closed: every package of the program is named."""
    monkeypatch.setenv("AWS_PROFILE", "production")
    engine("--", "up")
    made, up = (run["environment"] for run in runs(project))
    assert isinstance(up, dict)
    assert isinstance(made, dict)
    assert not any(key.startswith("AWS_") for key in up)
    packages = [item.split(":")[0] for item in up["PULUMI_DEBUG_PROVIDERS"].split(",")]
    assert packages == ["aws", "eks", "kubernetes"]
    root = project / "build/practice/dev"
    wanted = {
        "PULUMI_BACKEND_URL": f"file://{root}/state?metadata=skip",
        "PULUMI_HOME": f"{root}/home",
        "PULUMI_PYTHON_CMD": sys.executable,
        "PULUMI_CONFIG_PASSPHRASE": "",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_DEBUG_COMMANDS": "true",
        "PULUMI_STACK": "dev",
        "TRN_REHEARSAL": "1",
    }
    assert {key: up[key] for key in wanted} == wanted
    assert "PULUMI_STACK" not in made


def test_an_environment_is_made_from_any_other(tmp_path: Path):
    """What is not ours or an account's is kept."""
    made = environment(EngineFolder(tmp_path), "dev", "aws:1", {"HOME": "/h", "AWS_REGION": "x", "PULUMI_HOME": "/elsewhere"})
    assert made["HOME"] == "/h"
    assert made["PULUMI_HOME"] == f"{tmp_path}/home"
    assert "AWS_REGION" not in made


def test_the_program_runs_where_it_is_in_the_interpreter_that_runs_trn():
    """Its folder need not hold a virtual environment; plug-ins and a backend of its own are left out."""
    settings = {
        "name": "trn", "main": "program", "backend": {"url": "s3://state"}, "plugins": {"providers": []},
        "runtime": {"name": "python", "options": {"virtualenv": ".venv", "toolchain": "uv", "typechecker": "pyright"}},
    }  # fmt: skip
    assert project_settings(settings, Path("/home/me/project")) == {
        "name": "trn",
        "main": "/home/me/project/program",
        "runtime": {"name": "python", "options": {"typechecker": "pyright"}},
    }
    short = project_settings({"name": "trn", "runtime": "python"}, Path("/home/me"))
    assert short == {"name": "trn", "main": "/home/me", "runtime": {"name": "python", "options": {}}}


def test_a_stack_file_keeps_its_words_and_gets_our_salt():
    """The user's salt belongs to another backend, and 1.30 must stay what it is."""
    theirs = "encryptionsalt: v1:theirs\nconfig:\n  trn:name: x  # kept\n  trn:v: 1.30\nsecretsprovider: awskms\nencryptedkey: k\n"
    kept = "config: {}\nencryptionsalt: v1:ours\n"
    assert stack_settings(theirs, kept) == "config:\n  trn:name: x  # kept\n  trn:v: 1.30\nencryptionsalt: v1:ours\n"


def test_an_encrypted_value_is_refused(project: Path):
    """Its key is in another backend; the CLI's own message would speak of padding."""
    file = project / "Pulumi.dev.yaml"
    file.write_text(file.read_text() + "  trn:deep:\n    list: [{secure: v1:abc}]\n")
    code, error = engine("--", "up")
    assert code == 2
    assert "encrypted values, which only its own backend can open: trn:deep" in error
    assert "hint: rehearse with a copy" in error


def test_without_a_cli_one_sentence_says_where_to_get_it(project: Path, monkeypatch: pytest.MonkeyPatch):
    """Nothing else is needed for a rehearsal, so many will not have it."""
    monkeypatch.setenv("PATH", "/nowhere")
    code, error = engine("--", "up")
    assert code == 2
    assert error == "error: there is no Pulumi CLI on PATH; https://www.pulumi.com/docs/install/ says how to get it\n"
    assert not (project / "build").exists()


def test_a_cli_without_its_language_host_is_reported_apart(project: Path, tmp_path: Path):
    """The host may be beside the CLI that a link on PATH leads to."""
    beside = tmp_path / "bin" / "pulumi-language-python"
    beside.unlink()
    code, error = engine("--", "up")
    assert code == 2
    assert f"pulumi-language-python is neither on PATH nor beside {tmp_path}/bin/pulumi" in error
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "bin" / "pulumi").rename(elsewhere / "pulumi")
    (tmp_path / "bin" / "pulumi").symlink_to(elsewhere / "pulumi")
    (elsewhere / "pulumi-language-python").touch()
    assert engine("--", "up")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["up", "--stack", "prod"], "the stack is named before the `--`"),
        (["up", "-s=prod"], "the stack is named before the `--`"),
        (["up", "-C", "/"], "the project is the one in which trn is run"),
        (["up", "--cwd=/"], "the project is the one in which trn is run"),
        (["config", "set", "trn:name", "x"], "the configuration comes from Pulumi.dev.yaml at each run"),
        (
            ["stack", "rename", "prod"],
            "a stack here is its file and the folder of its name: by `pulumi stack rename` the state would be of a stack",
        ),
        (
            ["-v", "9", "stack", "--logflow", "rename", "prod"],
            "a stack here is its file and the folder of its name: by `pulumi stack rename`",
        ),
        (["stack", "init", "prod"], "a stack here is its file and the folder of its name: by `pulumi stack init`"),
        (["stack", "migrate"], "a stack here is its file and the folder of its name: by `pulumi stack migrate`"),
        (["state", "move", "--dest", "x", VPC], "a stack here is its file and the folder of its name: by `pulumi state move`"),
        (
            ["stack", "rm", "--yes", "--force"],
            "a stack here is its file and the folder of its name: by `pulumi stack rm` nothing would know",
        ),
    ],
)
def test_arguments_that_would_leave_the_folder_are_refused(project: Path, arguments: list[str], wrong: str):
    """Or be lost with the next run."""
    code, error = engine("--", *arguments)
    assert code == 2
    assert error.startswith(f"error: {wrong}")
    assert "\n\nhint: " in error
    assert not (project / "build").exists()


def test_reading_the_configuration_is_allowed():
    """Only writing it is not."""
    refuse_arguments(("config", "get", "trn:name"), "dev")
    refuse_arguments(("config",), "dev")
    with pytest.raises(CommandError):
        refuse_arguments(("config", "rm", "trn:name"), "dev")


@pytest.mark.parametrize("arguments", [("stack",), ("stack", "rm", "--yes"), ("stack", "export"), ("state", "delete", VPC), ("up", "-f")])
def test_what_keeps_the_stack_is_allowed(arguments: tuple[str, ...]):
    """`stack rm` refuses a stack with resources by itself; one resource of a state is what its user names."""
    refuse_arguments(arguments, "dev")


def test_the_hint_that_stands_in_for_writing_the_configuration_works_as_it_is_typed(project: Path):
    """It named `up --config-path -c 'trn:nodeGroups.trn1-32xl.size=1'`, by which the CLI replaces all of `trn:nodeGroups`."""
    with pytest.raises(CommandError) as refusal:
        refuse_arguments(("config", "set", "--path", "trn:nodeGroups.trn1-32xl.size", "1"), "dev")
    typed = refusal.value.hint.split("`")[1]
    done = runner.invoke(app, typed.split()[1:])
    assert done.exit_code == 1, "a node goes, which is red"
    assert "NodeGroup trn1-32xl: scalingConfig.desiredSize" in done.output
    assert project.exists()


def test_commands_without_events_get_no_flag():
    """`pulumi stack import` and `pulumi config refresh` are not the commands of those names."""
    log = Path("/e")
    assert with_event_log(("--color", "never", "up", "--yes"), log) == ["--color", "never", "up", "--event-log", "/e", "--yes"]
    for untouched in (("stack", "import", "--file", "x"), ("whoami",), ("config", "refresh")):
        assert with_event_log(untouched, log) == list(untouched)


def test_a_wrong_fault_stops_before_anything_runs(project: Path):
    """With what is allowed."""
    code, error = engine("--fault", "no-capcity@trn1-32xl", "--", "up")
    assert code == 2
    assert "did you mean `no-capacity`?" in error
    assert not (project / "build").exists()


def test_a_fault_without_a_resource_to_strike_stops_before_anything_runs(project: Path):
    """A slip in the resource's name would look like a success; values of the command line may make what the file does not name."""
    code, error = engine("--fault", "no-capacity@trn1-32x", "--", "up")
    assert code == 2
    assert "`no-capacity@trn1-32x` strikes nothing" in error
    assert "hint: near: NodeGroup/trn1-32xl" in error
    assert not (project / "build" / "practice" / "dev" / "account").exists()
    assert engine("--fault", "no-capacity@other", "--", "up", "--config-path", "-c", "trn:nodeGroups.other.size=1")[0] == 0


def test_a_fault_that_met_nothing_is_reported(project: Path):
    """The stand-in makes no group."""
    code, error = engine("--fault", "no-capacity@trn1-32xl:2", "--", "up")
    assert code == 0
    assert "note: the fault no-capacity@trn1-32xl:2 did not happen: no trn1-32xl was made" in error


def test_a_change_that_the_simulator_never_saw_fails_the_run(project: Path, monkeypatch: pytest.MonkeyPatch):
    """Somebody else has answered: perhaps a real plug-in, with a real account."""
    monkeypatch.setenv("EVENTS", event("create", VPC))
    code, error = engine("--", "up")
    assert code == 1
    assert "error: the engine took 1 steps that call Create of aws, and the simulator saw none of them" in error


def test_the_last_runs_events_do_not_count(project: Path, monkeypatch: pytest.MonkeyPatch):
    """A run that ends before it logs anything claims nothing."""
    monkeypatch.setenv("EVENTS", event("create", VPC))
    engine("--", "up")
    assert engine("--", "whoami")[0] == 0


def test_a_provider_that_dies_unasked_fails_the_run(project: Path, monkeypatch: pytest.MonkeyPatch):
    """Whatever the CLI made of it."""
    monkeypatch.setenv("KILL_PROVIDERS", "1")
    code, error = engine("--", "up")
    assert code == 1
    assert f"error: the provider process died; {project}/build/practice/dev/providers.log has its last words" in error


def test_a_half_made_object_is_named(project: Path):
    """Its id is what an import needs."""
    cloud = Cloud(project / "build/practice/dev/account")
    cloud.begin_create(VPC, "aws:ec2/vpc:Vpc", "vpc-1", {}, {})
    error = engine("--", "up")[1]
    assert "note: aws:ec2/vpc:Vpc vpc-1 was being made when its provider died" in error
    assert error.endswith(f"simulated cloud: asked for nothing; 1 objects in {project}/build/practice/dev/account\n")


def test_a_cli_that_cannot_make_the_stack_is_quoted(project: Path, monkeypatch: pytest.MonkeyPatch):
    """It knows why."""
    monkeypatch.setenv("INIT_EXIT", "255")
    code, error = engine("--", "up")
    assert code == 2
    assert "error: the CLI could not make the stack" in error
    assert len(runs(project)) == 1


def test_two_runs_cannot_share_a_folder(project: Path, tmp_path: Path):
    """They would write over each other."""
    command = [sys.executable, "-m", "simulator.providers", str(tmp_path / "one/account"), "--calls", str(tmp_path / "calls")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as other:
        assert other.stdout is not None
        other.stdout.readline()
        code, error = engine("--folder", str(tmp_path / "one"), "--", "up")
        other.communicate("")
    assert code == 1
    assert f"(process {other.pid})" in error
    assert "hint: let the other run end; `trn engine` takes a folder of its own with --folder" in error


def test_a_broken_object_is_named(project: Path):
    """A slip while making drift by hand."""
    broken = project / "build/practice/dev/account/aws.ec2.Vpc/vpc-1.json"
    broken.parent.mkdir(parents=True)
    broken.write_text("{")
    (broken.parents[1] / "format.json").write_text(json.dumps({"format": FORMAT}))
    code, error = engine("--", "up")
    assert code == 1
    assert f"error: {broken} is no object of the simulated account" in error
    assert "hint: correct the file, or delete it to lose the object" in error


def test_a_folder_that_cannot_be_written_is_reported(project: Path):
    """No traceback for a slip in a path."""
    code, error = engine("--folder", "Pulumi.yaml", "--", "up")
    assert code == 1
    assert f"error: cannot write `{project}/Pulumi.yaml`" in error
    assert "hint: name a folder with --folder" in error


def test_what_is_reported_keeps_its_brackets(project: Path):
    """In a message with markup `[blue]` would be a colour, and the name a wrong one."""
    code, error = engine("--stack", "[blue]", "--", "up")
    assert code == 2
    assert "[blue]" in error
    code, error = engine("--folder", "Pulumi.yaml/[blue]", "--", "up")
    assert code == 1
    assert "/Pulumi.yaml/[blue]" in error
    engine("--folder", "[blue]", "--", "up")
    assert "objects in " in engine("--folder", "[blue]", "--", "up")[1]
    assert "/[blue]/" in engine("--folder", "[blue]", "--", "up")[1].splitlines()[-1]


def test_an_unknown_stack_is_reported_as_everywhere(project: Path):
    """With those that are there."""
    code, error = engine("--stack", "prod", "--", "up")
    assert code == 2
    assert "there is no Pulumi.prod.yaml" in error
    assert "hint: stacks with a file here: dev" in error


def test_help_shows_how_it_is_typed():
    """`--` is easily forgotten, and the scale needs an example."""
    help_text = " ".join(runner.invoke(app, ["engine", "--help"], env={"COLUMNS": "200"}).stdout.split())
    assert "trn engine dev -- up --yes" in help_text
    assert "Real seconds for each virtual one; 0.001 makes a ten-minute control plane in 0.6 s." in help_text
