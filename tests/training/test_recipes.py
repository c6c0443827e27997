"""Every recipe is complete: a script, a job file for each toolchain it is for, a page, and what `trn watch` needs to know."""

import ast
import re
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from addons.registry import SWITCHED
from tests.training.objects import errors
from tests.training.sites import group, site
from training import payload
from training.check import problems
from training.job import parse_job
from training.lint import lint
from training.site import Site
from trn.app import app
from trn.jobs.lint.reader import read_manifest
from trn.jobs.rendering import as_yaml, rendered

JOBS = sorted(payload.RECIPES.glob("*/job*.yaml"))
DOCS = Path(__file__).parents[2] / "docs"


def test_every_recipe_has_a_job_file():
    assert {path.parent.name for path in JOBS} == set(payload.recipes())


@pytest.mark.parametrize("path", JOBS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_recipes_job_file_is_a_job(path):
    job = parse_job(yaml.safe_load(path.read_text()), path.name)
    assert job.recipe == path.parent.name


@pytest.mark.parametrize("recipe", payload.recipes())
def test_a_recipe_fits_into_a_pod(recipe):
    """No file of it has the name of one that every pod has, and together they fit into a ConfigMap."""
    assert payload.SCRIPT in payload.files(recipe)


@pytest.mark.parametrize("recipe", payload.recipes())
def test_a_recipes_files_are_python_of_the_oldest_image(recipe):
    for name, text in payload.files(recipe).items():
        ast.parse(text, name, feature_version=(3, 10))


@pytest.mark.parametrize("recipe", payload.recipes())
def test_a_recipe_has_a_page_with_its_command(recipe):
    """Which job file to submit is the first thing on it."""
    page = (DOCS / "recipes" / f"{recipe}.md").read_text()
    assert re.search(rf"^\$ trn submit (STACK )?training/recipes/{recipe}/job\.yaml", page, re.MULTILINE)


@pytest.mark.parametrize("page", sorted((DOCS / "recipes").glob("*.md")), ids=lambda page: page.stem)
def test_there_is_no_page_without_its_recipe(page):
    assert page.stem in payload.recipes()


def has_everything() -> Site:
    """A stack with the hardware and the add-ons of all recipes."""
    groups = {name: group(name, name) for name in ("trn1.32xlarge", "trn2.48xlarge")}
    return site(node_groups=groups, addons=frozenset(SWITCHED))


@pytest.mark.parametrize("path", JOBS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_recipes_job_can_be_submitted(path):
    """On a stack with its hardware and its add-on: a recipe that is refused there is none."""
    assert problems(parse_job(yaml.safe_load(path.read_text()), path.name), has_everything()) == []


@pytest.mark.parametrize("path", JOBS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_nothing_is_wrong_with_what_a_recipes_job_becomes(path):
    """`trn submit --dry-run` prints it, and `trn lint --stack` finds nothing in that."""
    found = rendered(parse_job(yaml.safe_load(path.read_text()), path.name), has_everything(), path.name)
    manifest = read_manifest(as_yaml(found.objects), path.name)
    assert [errors(document.value) for document in manifest.documents] == [[] for _ in found.objects]
    assert lint(manifest.documents, found.plan.site) == []
    # Without a stack nothing is known of the nodes, and that alone is said, with what they must have.
    without = lint(manifest.documents)
    assert {item.rule for item in without} <= {"image-and-driver"}
    assert all("give the nodes an AMI release" in item.fix and "--stack NAME" in item.fix for item in without)


@pytest.mark.parametrize("path", [path for path in JOBS if "trn1" in path.read_text()], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_recipe_for_trn1_runs_on_the_shipped_stack(path, monkeypatch):
    """As a user types it; those that need an add-on which is off there say which."""
    monkeypatch.chdir(DOCS.parent)
    result = CliRunner().invoke(app, ["submit", str(path), "--dry-run"], catch_exceptions=False)
    needs = {"ray-train": "set `addons.kubeRay.enabled: true`", "mpi": "set `addons.mpiOperator.enabled: true`"}.get(path.parent.name)
    assert (result.exit_code, needs is None or needs in result.stderr) == (2 if needs else 0, True)


KEEPING = sorted({path.parent.name for path in JOBS if parse_job(yaml.safe_load(path.read_text()), path.name).checkpoints is not None})


@pytest.mark.parametrize("recipe", KEEPING)
def test_a_recipe_tells_of_its_checkpoints_with_path_and_bytes(recipe):
    """`trn data status` knows no others: what it tells comes from the one place that writes both."""
    texts = [path.read_text() for path in (payload.RECIPES / recipe).glob("*.py")]
    assert any(f"checkpoints.{word}(" in text for word in ("write", "finish", "tell", "Background") for text in texts)
    assert not any('event("saved"' in text for text in texts)


NOT_SAID = {
    "collectives": ("steps", "flops_per_sample"),
    "file-system": ("steps", "flops_per_sample"),
    "mpi": ("flops_per_sample",),
    "ray-train": ("flops_per_sample",),
    "tf-distribute": ("flops_per_sample",),
}
"""What has no meaning for a recipe; its page says so."""
SHOWN = {"steps": "no time left", "flops_per_sample": "no share of the peak"}


@pytest.mark.parametrize("recipe", payload.recipes())
def test_a_recipe_says_what_trn_watch_needs(recipe):
    """Steps for the time left and operations for the share of the peak, in the line `started`; or its page says that there is none."""
    missing = NOT_SAID.get(recipe, ())
    scripts = [path for path in (payload.RECIPES / recipe).glob("train*.py") if "progress_lines.event(" in path.read_text()]
    assert scripts
    for path in scripts:
        said = started(path)
        assert {key for key in SHOWN if key not in said} == set(missing), path.name
    page = (DOCS / "recipes" / f"{recipe}.md").read_text()
    assert [key for key, text in SHOWN.items() if (text in page) != (key in missing)] == []


def started(path: Path) -> set[str]:
    """Keys of the line `started` that a script writes: those of the call, and those of a dictionary that it spreads."""
    tree = ast.parse(path.read_text())
    spread = {
        target.id: {str(key.value) for key in node.value.keys if isinstance(key, ast.Constant)}
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    (call,) = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value == "started"
    ]
    keys = {keyword.arg for keyword in call.keywords if keyword.arg}
    return keys.union(
        *(spread.get(keyword.value.id, set()) for keyword in call.keywords if isinstance(keyword.value, ast.Name) and not keyword.arg)
    )
