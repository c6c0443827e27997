"""Every command that meets AWS, where AWS says no: one line that says what and how to fix it, the right exit code, no traceback."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer.main
from botocore.exceptions import EndpointConnectionError
from typer.testing import CliRunner, Result

from simulator.aws_endpoint.wire import Refused
from tests.support import ROOT, copy_project
from tests.trn.aws.cloud import Cloud
from tests.trn.aws.leftovers import leave_control_plane, leave_everything
from tests.trn.before.test_cost import product
from tests.trn.change.owned import EMPTY, stack_of
from tests.trn.cli.lines import taken
from tests.trn.given import Given
from tests.trn.jobs.test_logs import put
from tests.trn.kubernetes.healthy_cluster import NAME, Healthy
from trn.app import app

COMMANDS: dict[str, tuple[str, ...]] = {
    "init": ("init", "night", "--live", "--yes"),
    "cost": ("cost", "dev", "--live"),
    "status": ("status", "dev"),
    "kubeconfig": ("kubeconfig", "dev"),
    "logs": ("logs", "bert", "--stack", "dev"),
    "jobs": ("jobs",),
    "why": ("why", "bert", "--stack", "dev"),
    "cancel": ("cancel", "prepare", "--yes"),
    "scale": ("scale", "trn1-32xl", "0", "--stack", "dev", "--yes"),
    "drain": ("drain", "dev", "--yes"),
    "destroy": ("destroy", "dev", "--yes"),
    "sweep": ("sweep", "dev"),
}
"""Not check, whose every check is denied every call in test_check.py, and not recover: it reads Pulumi's state first."""
NEED_A_CLUSTER = ("status", "kubeconfig", "logs", "jobs", "why", "cancel", "drain")


class World:
    """A cluster that is up, and an account in which each command does what it should."""

    def __init__(self, given: Given, name: str) -> None:
        self.healthy = Healthy()
        self.cloud: Cloud = self.healthy.cloud
        if name in ("sweep", "destroy"):
            self.cloud.world.state.others.clear()
            if name == "sweep":  # A destroy's own sweep is the sweep, and is tried there with all kinds.
                leave_everything(self.cloud, NAME)
            leave_control_plane(self.cloud, NAME)
            self.cloud.of("cluster")[NAME]["endpoint"] = "https://example"
        put(self.healthy.cluster, "bert-worker-0", "bert", {"running": {}})
        update = {"update": {"id": "u-1", "status": "Successful"}}
        self.cloud.wire.handlers = {
            **self.cloud.wire.handlers,
            "eks.UpdateNodegroupConfig": lambda given: {"update": {"id": "u-1", "status": "InProgress"}},
            "eks.DescribeUpdate": lambda given: update,
            "pricing.GetProducts": lambda given: {"PriceList": [product("USW2-AmazonEKS-Hours:perCluster", "0.1")]},
        }
        given.api, given.cluster = self.cloud.api, self.healthy.cluster
        self.pulumi = given.engine = stack_of(NAME)
        self.pulumi.on_run = self._destroyed

    def _destroyed(self, command: tuple[str, ...]) -> tuple[int, str]:
        for kind in ("cluster", "node group", "access entry", "nat", "fsx", "instance"):
            self.cloud.of(kind).clear()
        self.pulumi.export = EMPTY
        return 0, ""

    def answer_all_with(self, error: Callable[[], Exception]) -> None:
        """No call gets any other answer."""

        def refuse(given: dict[str, Any]) -> dict[str, Any]:
            raise error()

        self.cloud.wire.handlers = dict.fromkeys(self.cloud.wire.handlers, refuse)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A copy of the project, with what makes worlds in it."""
    copy_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.sleep", lambda _: None)
    return monkeypatch


def trn(*arguments: str) -> Result:
    """One command; an exception that it does not tell is raised."""
    Path("Pulumi.night.yaml").unlink(missing_ok=True)
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


@pytest.mark.parametrize("name", COMMANDS)
def test_any_one_call_that_is_denied_is_reported(project: pytest.MonkeyPatch, given: Given, name: str):
    """One after the other is taken away: each time exit code 1, AWS's own word, and which document allows it."""
    world = World(given, name)
    assert trn(*COMMANDS[name]).exit_code == 0
    asked = set(world.cloud.wire.count())
    assert asked
    if name == "destroy":
        # Its own sweep is the sweep, and what that is denied is tried there: a part of it is enough here.
        swept = World(given, "sweep")
        trn(*COMMANDS["sweep"])
        shared = sorted(asked & set(swept.cloud.wire.count()))
        asked -= set(shared) - set(shared[::12])
    project.setattr("trn.ending.sweep.change.STALLED_ROUNDS", 2)
    for operation in sorted(asked):
        world = World(given, name)
        # Half the calls: what is asked, and denied, is the same on longer pages.
        world.cloud.wire.page_size = 100
        world.cloud.wire.denied.add(operation)
        result = trn(*COMMANDS[name])
        assert (operation, result.exit_code, "AccessDenied" in result.output) == (operation, 1, True)


@pytest.mark.parametrize("name", ["check", *COMMANDS])
def test_expired_credentials_are_misuse(project: pytest.MonkeyPatch, given: Given, name: str):
    """Everywhere alike: one line, and how to sign in."""
    world = World(given, name)
    world.answer_all_with(lambda: Refused("ExpiredToken", "The security token included in the request is expired", 403))
    Path("Pulumi.dev.yaml").write_text((ROOT / "Pulumi.dev.yaml").read_text().replace("203.0.113.0/24", "198.18.0.7/32"))
    result = trn(*COMMANDS.get(name, (name, "dev")))
    first, _, rest = result.stderr[result.stderr.index("error: ") :].partition("\n\n")
    assert (result.exit_code, first.startswith("error: ExpiredToken: "), "\n" in first) == (2, True, False)
    assert rest.startswith("hint: sign in again")


@pytest.mark.parametrize("name", ["check", *COMMANDS])
def test_a_region_that_does_not_answer_is_misuse(project: pytest.MonkeyPatch, given: Given, name: str):
    """A slip in `trn:region`, most often."""
    world = World(given, name)
    world.answer_all_with(lambda: EndpointConnectionError(endpoint_url="https://eks.us-west-9.amazonaws.com"))
    Path("Pulumi.dev.yaml").write_text((ROOT / "Pulumi.dev.yaml").read_text().replace("203.0.113.0/24", "198.18.0.7/32"))
    result = trn(*COMMANDS.get(name, (name, "dev")))
    assert (result.exit_code, "us-west-9" in result.stderr, "`trn:region`" in result.stderr) == (2, True, True)


@pytest.mark.parametrize("name", NEED_A_CLUSTER)
def test_without_a_cluster_it_is_misuse(project: pytest.MonkeyPatch, given: Given, name: str):
    """One line, and where to look."""
    World(given, name).cloud.of("cluster").clear()
    result = trn(*COMMANDS[name])
    assert (result.exit_code, f"error: there is no cluster `{NAME}` in us-west-2" in result.stderr) == (2, True)
    assert "`pulumi up` makes the cluster" in result.stderr


def leaves(command: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """All commands below one, groups that act by themselves among them."""
    children = [found for name, child in getattr(command, "commands", {}).items() for found in leaves(child, (*path, name))]
    return [*children, *([(path, command)] if path else [])]


ALL = leaves(typer.main.get_command(app))


@pytest.mark.parametrize(("path", "command"), ALL, ids=[" ".join(path) for path, _ in ALL])
def test_every_command_has_help_with_an_example_that_it_takes(path: tuple[str, ...], command: Any):
    """What a reader copies must be parsed."""
    result = trn(*path, "--help")
    assert (result.exit_code, "Example" in result.stdout) == (0, True)
    written = (command.epilog or "").partition(": ")[2]
    for example in written.replace(", then: ", "|").replace(", or: ", "|").split("|"):
        words = example.partition(" > ")[0].split()
        if words[:1] == ["trn"]:
            assert taken([word.strip("'") for word in words[1:]])[0][: len(path)] == path


def stack_parameter(command: Any) -> Any:
    """The parameter that names the stack, if there is one."""
    parameters = {parameter.name: parameter for parameter in command.params}
    return parameters.get("stack") or parameters.get("before")


READERS = [(path, command) for path, command in ALL if stack_parameter(command) and path not in (("init",), ("import",), ("engine",))]
"""Those that read a stack file: init and import write one, and the engine wants Pulumi first."""


@pytest.mark.parametrize(("path", "command"), READERS, ids=[" ".join(path) for path, _ in READERS])
def test_a_stack_that_is_not_there_is_misuse_for_every_command(project: pytest.MonkeyPatch, path: tuple[str, ...], command: Any):
    """With the stacks that are."""
    stack = stack_parameter(command)
    others = ["1" for item in command.params if item.param_type_name == "argument" and item.required and item is not stack]
    given = [stack.opts[0], "nope"] if stack.param_type_name == "option" else ["nope"]
    choice = {("iam",): ["--operator"], ("upgrade",): ["--to", "1.36"], ("rehearse", "upgrade"): ["--to", "1.36"]}.get(path, [])
    result = trn(*path, *given, *choice, *others)
    assert (result.exit_code, "stacks with a file here: dev" in result.stderr) == (2, True)


def completed(*words: str) -> list[str]:
    """What bash is offered for the last word."""
    environment = {"_TRN_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(("trn", *words)), "COMP_CWORD": str(len(words))}
    result = CliRunner().invoke(app, [], env=environment, prog_name="trn")
    return result.stdout.split()


def test_the_shell_completes_commands_options_and_stacks(project: pytest.MonkeyPatch):
    """From any folder of the project; outside of one there is nothing to offer, and no error."""
    assert completed("kubec") == ["kubeconfig"]
    assert completed("drain", "--y") == ["--yes"]
    Path("Pulumi.night.yaml").write_text("config: {}")
    Path("below").mkdir()
    project.chdir("below")
    assert completed("drain", "") == ["dev", "night"]
    assert completed("logs", "bert", "--stack", "n") == ["night"]
    project.chdir("/")
    assert completed("drain", "") == []
