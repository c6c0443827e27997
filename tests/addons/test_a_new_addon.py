"""A new add-on by the three steps of docs/contributing/addon.md: a folder, a pin, a line in the registry."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import PACKAGES, ROOT, dev_configuration, merged

FILES = ("__main__.py", "Pulumi.yaml", "pyproject.toml")
PIN = 'PODINFO = Chart("podinfo", "6.9.0", "podinfo", "https://stefanprodan.github.io/podinfo")\n'
DECLARATION = '''"""podinfo: a small web service, for trying things."""

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import PODINFO

NAMESPACE = "podinfo"


class PodinfoSettings(AddonSettings):
    """podinfo."""

    enabled: bool = False
    """A small web service."""
    replicas: int = 2
    """Pods of it."""


DECLARATION = Declaration(
    key="podinfo",
    title="podinfo",
    purpose="A small web service, for trying things",
    component="podinfo",
    namespace=NAMESPACE,
    nodes="core",
    settings=PodinfoSettings,
    charts=(PODINFO,),
)
'''
COMPONENT = '''"""podinfo as a component."""

from addons.base import Addon
from addons.plain import PlainChart
from addons.podinfo import NAMESPACE, PodinfoSettings
from addons.site import Site
from addons.versions import PODINFO


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    values = {"replicaCount": site.cluster.section(PodinfoSettings).replicas}
    return PlainChart("Podinfo", "podinfo", PODINFO, NAMESPACE, values, site)
'''
CONTRACT = """chart: podinfo
version: 6.9.0
source: invented for this test
values: {replicaCount: 1, image.repository: ghcr.io/stefanprodan/podinfo}
kubernetes: ['1.34', '1.35', '1.36']
pods:
- {object: Deployment/podinfo/podinfo, nodes: core}
images:
- {image: 'ghcr.io/stefanprodan/podinfo:6.9.0', repository: image.repository}
latency_s:
  create: [90, 95, 100, 'inferred: nothing else takes as long']
  delete: [1, 2, 3, inferred]
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with the add-on, switched on in the dev stack."""
    root = tmp_path_factory.mktemp("tree")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, root / package)  # what is compiled, too: its files are as old as they were
    for name in FILES:
        shutil.copy(ROOT / name, root / name)
    configuration = merged(dev_configuration(), addons={"podinfo": {"enabled": True, "replicas": 3}})
    pairs = {"config": {f"trn:{key}": value for key, value in configuration.items()}}
    (root / "Pulumi.dev.yaml").write_text(yaml.safe_dump(pairs))
    folder = root / "addons" / "podinfo"
    (folder / "contracts").mkdir(parents=True)
    (folder / "__init__.py").write_text(DECLARATION)
    (folder / "component.py").write_text(COMPONENT)
    (folder / "contracts" / "podinfo.yaml").write_text(CONTRACT)
    versions, registry = root / "addons" / "versions.py", root / "addons" / "registry.py"
    versions.write_text(versions.read_text().replace("\nETCD_IMAGE", f"\n{PIN}\nETCD_IMAGE", 1))
    registry.write_text(registry.read_text().replace('    "batch",\n', '    "batch",\n    "podinfo",\n', 1))
    return root


PROGRAM = """
import contextlib, io, json
from tools.pages import pages
from trn.app import app

def trn(*arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        app(list(arguments))
    return out.getvalue()

answers = {
    "report": json.loads(trn("rehearse", "--json", "-")),
    "rows": json.loads(trn("addons", "--json", "-"))["addons"],
    "images": trn("images").splitlines(),
    "schema": pages.configuration_schema(),
    "page": pages.configuration_page(),
}
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def answers(tree: Path) -> dict[str, Any]:
    """What `trn` and the pages say in the copy, in one process: the imports take longest."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_it_is_rehearsed_from_up_to_destroy(answers: dict[str, Any]):
    """Its latency, its need for a node and its namespace come from the contract and the declaration alone."""
    report = answers["report"]
    (release,) = [item for item in report["up"]["resources"] if item["type"].endswith(":Release") and item["name"] == "podinfo"]
    assert 90 <= release["endSeconds"] - release["startSeconds"] <= 100
    assert (report["up"]["ended"], report["destroy"]["leftovers"]) == ("well", [])
    assert "podinfo" in report["outputs"]["namespaces"]


def test_it_is_listed_with_its_version_and_its_image(answers: dict[str, Any]):
    """Users choose from the one list, and fill their mirrors from the other."""
    (row,) = [row for row in answers["rows"] if row["key"] == "podinfo"]
    assert (row["on"], row["versions"], row["namespace"]) == (True, ["podinfo 6.9.0"], "podinfo")
    assert "ghcr.io/stefanprodan/podinfo:6.9.0" in answers["images"]


def test_its_keys_are_in_the_schema_and_on_the_page(answers: dict[str, Any]):
    """Editors complete them, and a wrong one is refused."""
    assert set(answers["schema"]["$defs"]["PodinfoSettings"]["properties"]) == {"enabled", "replicas"}
    assert "| `addons.podinfo.replicas` | number | `2` | Pods of it. |" in answers["page"]


def test_the_steps_change_three_places(tree: Path):
    """What else had to change would be missing here: everything but the folder, the pin and the line is as it was."""
    changed = {
        path.relative_to(tree).as_posix()
        for package in PACKAGES
        for path in (tree / package).rglob("*.*")
        if path.is_file() and "__pycache__" not in path.parts
        if not (ROOT / path.relative_to(tree)).is_file() or path.read_bytes() != (ROOT / path.relative_to(tree)).read_bytes()
    }
    folder = {f"addons/podinfo/{name}" for name in ("__init__.py", "component.py", "contracts/podinfo.yaml")}
    assert changed == folder | {"addons/versions.py", "addons/registry.py"}
