"""What a site cannot run is refused before anything is submitted, each mistake with its fix."""

from typing import Any

import pytest

from facts.problems import Problem
from tests.training.sites import BLOCK, NEWEST, group, job, site, site_of_type
from training.check import problems
from training.site import JobQueue, Site


def found(site_: Site, **keys: Any) -> list[tuple[str, str]]:
    """Path and text of every problem of a job."""
    return [(problem.path, str(problem)) for problem in problems(job(**keys), site_)]


def test_a_job_without_mistakes_can_be_submitted():
    """A check that always finds something is not read."""
    assert found(site()) == []


WRONG: dict[str, tuple[Site, dict[str, Any], str, str]] = {
    "unknown launcher": (site(), {"launcher": "vulcano"}, "launcher", "did you mean `volcano`?"),
    "Slurm without its add-on": (site(), {"launcher": "slurm"}, "launcher", "`addons.slurm.enabled: true`"),
    "Batch without its add-on": (site(), {"launcher": "batch", "nodes": 1}, "launcher", "`addons.batch.enabled: true`"),
    "launcher without its add-on": (site(addons=frozenset()), {"launcher": "volcano"}, "launcher", "`addons.volcano.enabled: true`"),
    "more nodes than the group may have": (site(), {"nodes": 5}, "nodes", "`nodeGroups.trn1-32xl.maxSize`"),
    "unknown group": (site(), {"nodeGroup": "trn1-32x"}, "nodeGroup", "did you mean `trn1-32xl`?"),
    "unknown pool": (site(), {"pool": "p"}, "pool", "no such Karpenter pool"),
    "no nodes at all": (site(node_groups={}), {}, "nodeGroup", "has no Neuron nodes"),
    "workers": (site(), {"workersPerNode": 16}, "workersPerNode", "allowed: 1, 2, 8, 32"),
    "part of the chips": (site(), {"devices": 3}, "devices", "allowed: 1, 4, 8, 16"),
    "EFA without EFA": (site_of_type("trn1.2xlarge"), {"efa": True}, "efa", "trn1.2xlarge has no EFA"),
    "no claim": (site(claim=None), {"mounts": [{"path": "/fsx"}]}, "mounts[0].claim", "no file system"),
    "image without a tag": (site(), {"image": "registry.example.com/train"}, "image", "not pinned"),
    "image with a floating tag": (site(), {"image": "registry.example.com:5000/train:latest"}, "image", "not pinned"),
    "unknown queue": (site(), {"queue": "tests"}, "queue", "allowed: training, test"),
    "queue above others": (
        site(queues={"all": JobQueue("all", takes_jobs=False), "a": JobQueue("a")}), {"queue": "all"}, "queue", "name one below it",
    ),
    "toolchain against hardware": (site(), {"toolchain": "torch-2.33", "image": "r.example/t:1"}, "toolchain", "not on trn1.32xlarge"),
    "toolchain against driver": (site_of_type("trn1.32xlarge", release_version=NEWEST), {}, "toolchain (of the stack)", "20260409"),
    "toolchain against the newest driver": (site_of_type("trn1.32xlarge", release_version=None), {}, "toolchain (of the stack)", "driver 2.29"),
    "toolchain without an image": (site_of_type("trn2.48xlarge"), {"toolchain": "torch-2.33"}, "image", "Ubuntu 26.04"),
    "no toolchain and no image": (site(toolchain=None), {}, "image", "`training.toolchain`"),
    "checkpoints that die with the pod": (site(), {"checkpoints": {"path": "/tmp/c"}}, "checkpoints.path", "allowed: /fsx"),
    "checkpoints on a read-only mount": (
        site(), {"mounts": [{"path": "/fsx", "readOnly": True}], "checkpoints": {"path": "/fsx/c"}}, "checkpoints.path", "there is none",
    ),
    "cache that dies with the pod": (site(), {"cache": {"path": "/var/tmp/cache"}}, "cache.path", "not on a mount"),
    "data beside the mounts": (site(), {"data": {"path": "/data/x"}}, "data.path", "not on a mount"),
    "rendezvous without etcd": (site(etcd=None), {"rendezvous": "etcd"}, "rendezvous", "`addons.etcd.enabled: true`"),
    "a checkpoint that takes longer than a block leaves": (
        site_of_type("trn1.32xlarge", block=BLOCK), {"checkpoints": {"path": "/fsx/c", "grace": "31m"}}, "checkpoints.grace", "allowed: at most 30m",
    ),
    "a job without checkpoints longer than its block": (
        site_of_type("trn1.32xlarge", block=BLOCK), {"timeLimit": "48h"}, "timeLimit", "has nodes for 47 hours",
    ),
    "unknown recipe": (site(), {"command": [], "recipe": "brt"}, "recipe", "unknown recipe"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_run_is_refused(case: str):
    """Refused here, it costs a second; in the cluster it costs a queue's time, or a job that hangs."""
    on, keys, path, says = WRONG[case]
    ((where, text),) = found(on, **keys)
    assert where == path
    assert says in text


@pytest.mark.parametrize("case", WRONG)
def test_every_refusal_says_what_to_do(case: str):
    """A reader must not have to search."""
    on, keys, _, _ = WRONG[case]
    problem: Problem
    for problem in problems(job(**keys), on):
        assert problem.hint


@pytest.mark.parametrize(
    "keys",
    [
        {"checkpoints": {"path": "/fsx/c", "grace": "30m"}},
        {"checkpoints": {"path": "/fsx/c"}, "timeLimit": "7d"},
        {"timeLimit": "47h"},
        {},
    ],
)
def test_a_job_that_can_save_may_outlast_its_block(keys: dict[str, Any]):
    """It goes on in the next one; one without a limit may be short."""
    assert found(site_of_type("trn1.32xlarge", block=BLOCK), **keys) == []


def test_all_mistakes_come_at_once():
    """One run, one list."""
    assert len(found(site(), nodes=9, queue="x", launcher="y", workersPerNode=5)) == 4


def test_a_job_finds_the_group_that_can_run_it():
    """A stack has several; a job file names none."""
    groups = {name: group(name, kind) for name, kind in (("small", "trn1.2xlarge"), ("a", "trn1.32xlarge"), ("b", "trn2.48xlarge"))}
    mixed = site(node_groups={**groups, "a": group("a", "trn1.32xlarge", size=0, largest_size=1)})
    assert found(mixed, toolchain="torch-2.33", image="r.example/t:1") == []
    assert found(mixed, toolchain="jax-2.32", nodes=1, devices=16) == []


def test_an_image_of_ones_own_needs_no_known_toolchain():
    """What it brings is not known, so nothing of it is judged."""
    assert found(site(), toolchain="none", image="r.example/t@sha256:" + "a" * 64, workersPerNode=5) == []
