"""Every recipe is complete: a script, a job file for each toolchain it is for, and a page."""

import ast
from pathlib import Path

import pytest
import yaml

from addons.registry import SWITCHED
from tests.training.sites import group, site
from training import payload
from training.check import problems
from training.job import parse_job

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
    assert f"$ trn submit training/recipes/{recipe}/job.yaml" in page


@pytest.mark.parametrize("page", sorted((DOCS / "recipes").glob("*.md")), ids=lambda page: page.stem)
def test_there_is_no_page_without_its_recipe(page):
    assert page.stem in payload.recipes()


@pytest.mark.parametrize("path", JOBS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_recipes_job_can_be_submitted(path):
    """On a stack with its hardware and its add-on: a recipe that is refused there is none."""
    groups = {name: group(name, name) for name in ("trn1.32xlarge", "trn2.48xlarge")}
    found = site(node_groups=groups, addons=frozenset(SWITCHED))
    assert problems(parse_job(yaml.safe_load(path.read_text()), path.name), found) == []
