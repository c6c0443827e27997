"""`trn engine` on a copy of the project, as a user runs it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.account.disk import Object
from simulator.engine.order import creation_dependencies, in_order
from simulator.providers.calls import Call, read_calls
from simulator.providers.cloud import Cloud
from simulator.recording import Recording
from tests.support import copy_project, record_stack
from trn.practice.engine.project import EngineFolder

needs_cli = pytest.mark.skipif(
    shutil.which("pulumi") is None or shutil.which("pulumi-language-python") is None,
    reason="no Pulumi CLI with pulumi-language-python on PATH",
)
TRN = [sys.executable, "-c", "from trn.app import main; main()"]
PATIENCE_S = 300
"""How long a test waits for something to be under way before it gives up: long, since it only ends what will never be."""
LOOK_S = 0.02
"""Between two looks."""


@dataclass
class Engine:
    """One stack, `dev`, in a folder."""

    root: Path

    @property
    def project(self) -> Path:
        """The user's project: trn must not write to it."""
        return self.root / "project"

    @property
    def folder(self) -> EngineFolder:
        """What trn keeps."""
        return EngineFolder(self.root / "engine")

    @classmethod
    def new(cls, root: Path) -> "Engine":
        """A copy of the shipped project, nothing brought up."""
        engine = cls(root)
        engine.project.mkdir(parents=True)
        copy_project(engine.project)
        return engine

    @classmethod
    def lean(cls, root: Path) -> "Engine":
        """The shipped project without the add-ons that are off by default: what fails and is fixed is the same, in half the time."""
        engine = cls.new(root)
        document = yaml.safe_load(engine.stack_file.read_text())
        document["config"]["trn:addons"] = {"volcano": document["config"]["trn:addons"]["volcano"]}
        engine.stack_file.write_text(yaml.safe_dump(document, sort_keys=False))
        return engine

    @property
    def stack_file(self) -> Path:
        """The user's configuration."""
        return self.project / "Pulumi.dev.yaml"

    @property
    def recording(self) -> Recording:
        """The stack as it is configured now, as a rehearsal records it."""
        return _record(self.stack_file.read_text())

    def copy(self, root: Path) -> "Engine":
        """The same stack, brought as far, to go on with."""
        shutil.copytree(self.root, root)
        return Engine(root)

    def command(self, *arguments: str, options: tuple[str, ...] = ()) -> list[str]:
        """`trn engine` with Pulumi arguments."""
        own = [*TRN, "engine", "--folder", str(self.folder.root), *options, "--"]
        return [*own, "--non-interactive", "--color", "never", *arguments]

    def run(self, *arguments: str, options: tuple[str, ...] = (), fails: bool = False, quiet: bool = False) -> str:
        """Run it; gives what it printed, without its complaints where quiet. One that should fail and does not, or the reverse, fails the test."""
        done = subprocess.run(self.command(*arguments, options=options), cwd=self.project, capture_output=True, text=True, check=False)
        text = done.stdout if quiet else done.stdout + done.stderr
        assert (done.returncode != 0) is fails, text
        return text

    def up(self, *arguments: str, options: tuple[str, ...] = (), fails: bool = False) -> str:
        """`pulumi up` without asking or previewing."""
        return self.run("up", "--yes", "--skip-preview", *arguments, options=options, fails=fails)

    def destroy_all(self) -> None:
        """Destroy, and find the world empty."""
        self.run("destroy", "--yes", "--skip-preview")
        assert self.world == {}
        assert self.resources() == {}

    @contextmanager
    def running(self, *arguments: str, until: Callable[[], bool], time_scale: float) -> Iterator[subprocess.Popen[str]]:
        """A command in the background, from the moment that something is so."""
        command = self.command(*arguments, "--yes", "--skip-preview", options=("--time-scale", str(time_scale)))
        with subprocess.Popen(
            command, cwd=self.project, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            deadline = time.monotonic() + PATIENCE_S
            while not until():
                assert time.monotonic() < deadline, "it did not come to that"
                assert process.poll() is None, process.communicate()[0]
                time.sleep(LOOK_S)
            yield process

    def is_making(self, pattern: str) -> bool:
        """Whether an object with a file of this name is being made."""
        return any('"creating"' in path.read_text() for path in self.folder.account.glob(pattern))

    def is_waiting_for(self, *urns: str) -> bool:
        """Whether the engine has written down that just these are being made, and that all is there which can be without them."""
        try:
            return set(self.pending()) == set(urns) and self._possible_without(frozenset(urns)) <= set(self.resources())
        except (OSError, ValueError):
            # It is being written, or not there yet.
            return False

    def _possible_without(self, urns: frozenset[str]) -> frozenset[str]:
        """What a cloud has of the stack before these are made."""
        needs = creation_dependencies(self.recording)
        blocked = set(urns)
        for urn in in_order(needs):
            if needs[urn] & blocked:
                blocked.add(urn)
        return frozenset(item.urn for item in self.recording.resources() if item.urn not in blocked)

    def kill_cli(self, trn: subprocess.Popen[str], *urns: str, when: Callable[[], bool] | None = None) -> str:
        """Kill the CLI, as a machine that loses power does, while it waits for just these, or when something is so; gives what was printed.

        It is stopped to be looked at, so that nothing begins or is half written between the look and the end.
        """
        deadline = time.monotonic() + PATIENCE_S
        while True:
            found = subprocess.run(["pgrep", "-x", "-P", str(trn.pid), "pulumi"], capture_output=True, text=True, check=False)
            assert found.stdout, trn.communicate()[0]
            child = int(found.stdout)
            os.kill(child, signal.SIGSTOP)
            while not _is_stopped(child):
                time.sleep(LOOK_S)
            if when() if when is not None else self.is_waiting_for(*urns):
                os.kill(child, signal.SIGKILL)
                return trn.communicate()[0]
            os.kill(child, signal.SIGCONT)
            assert time.monotonic() < deadline, f"it never waited for just {urns}"
            time.sleep(LOOK_S)

    def configure(self, path: str, value: str) -> None:
        """Change one key in the user's stack file."""
        document = yaml.safe_load(self.stack_file.read_text())
        first, *rest = path.split(".")
        node, keys = document["config"], [f"trn:{first}", *rest]
        for key in keys[:-1]:
            node = node.setdefault(key, {})
        node[keys[-1]] = yaml.safe_load(value)
        self.stack_file.write_text(yaml.safe_dump(document, sort_keys=False))

    @property
    def stored(self) -> Path:
        """The file that the engine keeps its state in."""
        return self.folder.state / ".pulumi" / "stacks" / "trn" / "dev.json"

    @property
    def world(self) -> dict[tuple[str, str], Object]:
        """What exists in the simulated cloud."""
        return Cloud.load(self.folder.account).objects

    def object_named(self, name: str, kind: str) -> Object:
        """The one of a logical name and kind."""
        (found,) = [item for item in self.world.values() if item.urn.endswith(f":{kind}::{name}")]
        return found

    def lose(self, item: Object) -> None:
        """Take an object out of the world behind the engine's back."""
        Cloud.load(self.folder.account).lose(item.type, item.id)

    def calls(self, *methods: str) -> list[Call]:
        """What the last run asked of providers, previews left out."""
        return [call for call in read_calls(self.folder.calls) if call.method in methods and not call.preview]

    def resources(self) -> dict[str, dict[str, Any]]:
        """The engine's state: URN to resource, the stack itself left out."""
        resources = self.deployment().get("resources") or []
        return {item["urn"]: item for item in resources if item["type"] != "pulumi:pulumi:Stack"}

    def pending(self) -> dict[str, dict[str, Any]]:
        """Creates whose end the engine does not know: URN to resource."""
        operations = self.deployment().get("pending_operations") or []
        return {item["resource"]["urn"]: item["resource"] for item in operations if item["type"] == "creating"}

    def operations(self) -> set[tuple[str, str]]:
        """URN, and what is under way or has an unknown end; empty while the state is being written."""
        try:
            return {(item["resource"]["urn"], item["type"]) for item in self.deployment().get("pending_operations") or []}
        except (OSError, ValueError):
            return set()

    def deployment(self) -> dict[str, Any]:
        """The engine's state as its backend keeps it."""
        # A stack that has just been made has no deployment until its first checkpoint.
        return json.loads(self.stored.read_text())["checkpoint"].get("latest") or {}

    def planned(self, *arguments: str) -> dict[str, list[str]]:
        """What a preview plans: operation to URNs, unchanged ones left out."""
        text = self.run("preview", "--json", *arguments)
        steps = json.loads(text[text.index("{") : text.rindex("}") + 1])["steps"]
        planned: dict[str, list[str]] = {}
        for step in steps:
            if step["op"] not in ("same", "read"):
                planned.setdefault(step["op"], []).append(step["urn"])
        return planned


def _is_stopped(process: int) -> bool:
    """Whether no thread of a process runs any more."""
    states = [path.read_text().rpartition(")")[2].split()[0] for path in Path(f"/proc/{process}/task").glob("*/stat")]
    return set(states) == {"T"}


def name_of(urn: str) -> str:
    """Logical name of a URN."""
    return urn.rsplit("::", 1)[-1]


@cache
def _record(stack_file: str) -> Recording:
    pairs = yaml.safe_load(stack_file)["config"]
    return record_stack({key.removeprefix("trn:"): value for key, value in pairs.items()}, stack="dev")


def kind_of(urn: str) -> str:
    """Kind of a URN, such as NodeGroup."""
    return urn.split("::")[2].rsplit(":", 1)[-1]
