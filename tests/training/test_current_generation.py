"""Samples of Trainium2: each job fits its stack, and each launcher renders it or says why it does not."""

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from facts.names import EFA_RESOURCE, NEURON_RESOURCE
from stacks.config import parse_settings
from stacks.stack_yaml import read_yaml
from tests.support import ROOT
from training import launchers
from training.check import problems
from training.job import Job
from training.plan import plan
from training.site import Site
from trn.engine.job_site import site_of
from trn.jobs.rendering import read_job

NAMES = {"trn2": (4, 16, 16, 64), "trn2-small": (1, 1, 1, 4), "ultraserver": (4, 16, 16, 64)}
"""By sample: nodes, chips, EFA interfaces and processes of each."""
ON_KUBERNETES = ("volcano", "jobset", "indexed-job", "trainjob", "pytorchjob")


@cache
def site(name: str) -> Site:
    """The sample's cluster, with every add-on that a launcher may need."""
    values = {
        key.removeprefix("trn:"): value for key, value in read_yaml((ROOT / f"docs/samples/{name}.yaml").read_text())["config"].items()
    }
    found = site_of(parse_settings(values, name, rehearsal=True), name)
    return replace(found, addons=found.addons | {launcher.addon for launcher in launchers.launchers() if launcher.addon})


def sample(name: str, **changes: Any) -> Job:
    """The sample's job."""
    return read_job(ROOT / f"docs/samples/jobs/{name}.yaml").model_copy(update=changes)


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_takes_all_of_its_nodes(name: str):
    """Logical cores of two physical ones, EFA on every card, one process for each core."""
    found = plan(sample(name), site(name))
    assert problems(sample(name), site(name)) == []
    assert (found.job.nodes, found.chip_count, found.interface_count, found.workers_per_node) == NAMES[name]
    assert (found.nodes.logical_core_size, found.toolchain and found.toolchain.name) == (2, "torch-2.33")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("launcher", launchers.names())
def test_each_launcher_renders_a_sample_or_says_why_not(name: str, launcher: str):
    """Those on Kubernetes with the devices of whole nodes."""
    made, on = sample(name, launcher=launcher), site(name)
    refused = problems(made, on)
    assert all(each.hint for each in refused)
    if launcher in ON_KUBERNETES:
        assert refused == []
    if not refused:
        found = launchers.launcher(launcher)
        text = repr([*found.render(made, on), *found.documents(made, on)])
        assert launcher not in ON_KUBERNETES or {NEURON_RESOURCE in text, EFA_RESOURCE in text} == {True}


def test_there_is_no_type_of_trainium3():
    """Until EC2 has one, nothing is invented; docs/current-generation.md says so."""
    from facts.catalogue import NEURON_TYPES

    assert not any(name.startswith("trn3") for name in NEURON_TYPES)
    assert "EC2 has no instance type of it" in (ROOT / "docs/current-generation.md").read_text()
