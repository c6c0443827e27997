"""Jobs without devices: ordinary nodes, for every launcher that has them; no Neuron node is held for what runs on processors."""

from typing import Any

import pytest

from tests.training.objects import errors, pods
from tests.training.sites import EVERYTHING, job, site
from training import launchers
from training.check import problems
from training.plan import plan
from trn.jobs.cost import cost_of

ON = {"devices": 0, "toolchain": "none", "image": "r.example/cpu:1"}
KUBERNETES = [found.name for found in launchers.launchers() if found.resource is not None]
OTHERS = [found.name for found in launchers.launchers() if found.resource is None]
MORE: dict[str, dict[str, Any]] = {"tfjob": {"start": "tensorflow"}}


@pytest.mark.parametrize("name", KUBERNETES)
def test_every_launcher_on_kubernetes_takes_ordinary_nodes(name: str):
    """No device, no toleration of the Neuron nodes' taint, and the core group's label."""
    asked = job(**ON, launcher=name, **MORE.get(name, {}))
    assert problems(asked, EVERYTHING) == []
    objects = launchers.launcher(name).render(asked, EVERYTHING)
    assert [errors(body) for body in objects] == [[] for _ in objects]
    text = str(objects[1:])
    assert "aws.amazon.com/neuron" not in text
    assert "vpc.amazonaws.com/efa" not in text
    workers = [pod["spec"] for pod in pods(objects) if pod["spec"].get("nodeSelector")]
    assert {spec["nodeSelector"]["trn/node-group"] for spec in workers} == {"core"}
    assert not any(spec.get("tolerations") for spec in workers)


@pytest.mark.parametrize("name", OTHERS)
def test_a_launcher_with_neuron_nodes_alone_refuses_it(name: str):
    groups = EVERYTHING.node_groups
    on = site(addons=EVERYTHING.addons | {"slurm", "batch"}, slurm_groups=groups, batch_groups=frozenset(groups))
    found = [str(problem) for problem in problems(job(**ON, launcher=name, nodes=1), on) if problem.path == "devices"]
    assert any("Neuron nodes alone" in text and "launcher: volcano" in text for text in found)


def test_a_worker_has_a_core_and_memory_of_its_own():
    found = plan(job(**ON, workersPerNode=2), site())
    assert (found.chip_count, found.interface_count, found.core_count) == (0, 0, 0)
    assert (found.share.cpu_millis, found.share.memory_mib) == (2000, 8192)


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ({"nodeGroup": "trn1-32xl"}, "nodeGroup"),
        ({"workersPerNode": 4}, "workersPerNode"),
        ({"efa": True}, "efa"),
    ],
)
def test_what_ordinary_nodes_do_not_have_is_refused(keys: dict[str, Any], path: str):
    assert [problem.path for problem in problems(job(**ON, **keys), EVERYTHING)] == [path]


def test_it_costs_its_part_of_the_ordinary_nodes():
    """Half of an m5.xlarge's four virtual processors, twice."""
    assert cost_of(plan(job(**ON, workersPerNode=2), site())).usd_per_hour == pytest.approx(0.192)
