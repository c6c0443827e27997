"""Programs in YAML and TypeScript bring the cluster up on the simulated cloud, by the package that this repository is."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.providers.cloud import Cloud
from stacks.package import Package
from stacks.package_schema import COMPONENT
from tests.engine.cli import needs_cli
from tests.support import ROOT, dev_configuration, record_stack
from trn.practice.engine.process import Providers
from trn.practice.engine.project import EngineFolder, environment

pytestmark = [
    pytest.mark.engine,
    needs_cli,
    pytest.mark.skipif(not (ROOT / ".venv").is_dir(), reason="PulumiPlugin.yaml names .venv, which `make venv` makes"),
]
needs_yaml = pytest.mark.skipif(shutil.which("pulumi-language-yaml") is None, reason="no pulumi-language-yaml on PATH")
needs_node = pytest.mark.skipif(
    shutil.which("pulumi-language-nodejs") is None or shutil.which("npm") is None, reason="no pulumi-language-nodejs and npm on PATH"
)
TYPESCRIPT = """\
import * as trn from "@pulumi/trn";

const cluster = new trn.TrainiumCluster("training", KEYS);
export const name = cluster.clusterName;
export const groups = cluster.nodeGroups;
export const claim = cluster.claim;
"""


@dataclass
class Program:
    """Somebody's project, and a simulated account of its own."""

    root: Path
    variables: Mapping[str, str]
    folder: EngineFolder

    def pulumi(self, *arguments: str, fails: bool = False) -> str:
        """Run it in the project; gives all that it printed."""
        done = subprocess.run(
            ["pulumi", "--non-interactive", "--color", "never", *arguments],
            cwd=self.root, env=dict(self.variables), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode != 0) is fails, done.stdout + done.stderr
        return done.stdout if not fails else done.stdout + done.stderr

    def outputs(self) -> dict[str, Any]:
        """Of the stack."""
        return json.loads(self.pulumi("stack", "output", "--json"))

    def up(self) -> None:
        """Bring it up, without a question."""
        self.pulumi("stack", "init", "dev")
        self.pulumi("up", "--yes", "--skip-preview")

    def made(self) -> list[str]:
        """Types of what is in the account."""
        return sorted(item.type for item in Cloud.load(self.folder.account).objects.values())


@contextmanager
def program(root: Path, settings: Mapping[str, Any]) -> Iterator[Program]:
    """An empty project, with the simulated cloud behind it."""
    folder, project = EngineFolder(root / "engine"), root / "project"
    for path in (project, folder.state):
        path.mkdir(parents=True)
    packages = {"packages": {"trn": str(ROOT)}}
    (project / "Pulumi.yaml").write_text(yaml.safe_dump({"name": "mine", **packages, **settings}, sort_keys=False))
    providers = Providers(folder, time_scale=0, faults=())
    try:
        # The plug-in runs in the environment that PulumiPlugin.yaml names.
        kept = {key: value for key, value in environment(folder, "dev", providers.attach()).items() if key != "PULUMI_STACK"}
        yield Program(project, kept, folder)
    finally:
        providers.stop()


def in_yaml(keys: Mapping[str, Any]) -> dict[str, Any]:
    """A YAML program with one cluster."""
    return {
        "runtime": "yaml",
        "resources": {"training": {"type": "trn:TrainiumCluster", "properties": dict(keys)}},
        "outputs": {"name": "${training.clusterName}", "groups": "${training.nodeGroups}", "claim": "${training.claim}"},
    }


def of_a_stack_file() -> list[str]:
    """Types of all that the shipped stack makes."""
    recording = record_stack(dev_configuration(), stack="dev")
    return sorted(item.type for item in recording.resources() if item.custom and not item.type.startswith("pulumi:"))


def shows_the_cluster(mine: Program) -> None:
    """Same resources as by a stack file, outputs that a program uses, and nothing left behind."""
    assert mine.outputs() == {"name": "trainium-dev", "groups": ["core", *sorted(dev_configuration()["nodeGroups"])], "claim": "fsx-claim"}
    types = {item["type"] for item in json.loads(mine.pulumi("stack", "export"))["deployment"]["resources"]}
    assert COMPONENT in types
    assert set(of_a_stack_file()) <= types
    assert json.loads(mine.pulumi("preview", "--json"))["changeSummary"].keys() == {"same"}
    mine.pulumi("destroy", "--yes", "--skip-preview")
    assert mine.made() == []


@needs_yaml
def test_a_yaml_program_brings_the_cluster_up(tmp_path: Path):
    with program(tmp_path, in_yaml(dev_configuration())) as mine:
        mine.up()
        shows_the_cluster(mine)


@needs_yaml
def test_its_mistakes_are_those_of_a_stack_file(tmp_path: Path):
    """Nothing is made, and the words are the same."""
    keys = {**dev_configuration(), "region": "us-wset-2"}
    with program(tmp_path, in_yaml(keys)) as mine:
        mine.pulumi("stack", "init", "dev")
        text = mine.pulumi("up", "--yes", "--skip-preview", fails=True)
        assert "`region` is `us-wset-2`" in text
        assert "us-west-2" in text
        assert "Traceback" not in text
        assert mine.made() == []


PYTHON = """\
import json
import pulumi

class Cluster(pulumi.ComponentResource):
    def __init__(self, name, keys):
        super().__init__("trn:index:TrainiumCluster", name, keys, remote=True)

keys = json.loads(KEYS)
zone = pulumi.Output.secret("c4nary-zone")
Cluster("training", {**keys, "tags": {"team": pulumi.Output.secret("c4nary"), "cost": "a"}, "network": {**keys["network"], "cidr": zone}})
"""


def test_a_secret_that_is_refused_is_not_shown(tmp_path: Path):
    """The engine prints the value of each property that a component names in an error, a secret's too."""
    plugins = {"plugins": {"providers": [{"name": "trn", "path": str(ROOT)}]}}
    with program(tmp_path, {"runtime": "python", **plugins}) as mine:
        (mine.root / "__main__.py").write_text(PYTHON.replace("KEYS", repr(json.dumps(dev_configuration()))))
        mine.pulumi("stack", "init", "dev")
        for command in (("preview",), ("up", "--yes", "--skip-preview")):
            text = mine.pulumi(*command, fails=True)
            assert "`tags.team` is an output of another resource, or a secret" in text
            assert "`network.cidr` is an output of another resource, or a secret" in text
            assert "c4nary" not in text
        assert mine.made() == []


@needs_node
def test_a_typescript_program_brings_the_cluster_up(tmp_path: Path):
    """By the typed SDK that Pulumi makes from the package's schema; the compiler refuses a key that is not there."""
    with program(tmp_path, {"runtime": "nodejs"}) as mine:
        (mine.root / "schema.json").write_text(str(Package().schema))
        mine.pulumi("package", "gen-sdk", "schema.json", "--language", "nodejs", "--out", "sdks", "--local")
        (mine.root / "package.json").write_text(
            json.dumps({
                "name": "mine",
                "main": "index.ts",
                "dependencies": {"@pulumi/pulumi": "^3.200.0", "@pulumi/trn": "file:sdks/nodejs"},
                "devDependencies": {"typescript": "^5", "@types/node": "^20"},
            })
        )  # fmt: skip
        _install(mine.root)
        (mine.root / "index.ts").write_text(TYPESCRIPT.replace("KEYS", json.dumps({**dev_configuration(), "nodeGruops": {}})))
        assert "nodeGruops" in mine.pulumi("stack", "init", "dev") + mine.pulumi("up", "--yes", "--skip-preview", fails=True)
        (mine.root / "index.ts").write_text(TYPESCRIPT.replace("KEYS", json.dumps(dev_configuration())))
        mine.pulumi("up", "--yes", "--skip-preview")
        shows_the_cluster(mine)


def _install(folder: Path) -> None:
    """Node packages; the test is skipped where there is no registry."""
    done = subprocess.run(
        ["npm", "install", "--no-audit", "--no-fund", "--loglevel", "error"],
        cwd=folder, env=dict(os.environ), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        pytest.skip(f"npm could not install: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else done.returncode}")
