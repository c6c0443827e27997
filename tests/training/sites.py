"""Clusters and jobs that the tests of training start from."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from facts.capacity_blocks import Use, window
from facts.catalogue import CORE_TYPES, NEURON_TYPES
from training.job import Job, parse_job
from training.site import JobQueue, Nodes, Site

RELEASE = "1.35.4-20260505"
NEWEST = "1.35.4-20260714"


def group(name: str, instance_type: str, **changes: Any) -> Nodes:
    """Two nodes of a type, pinned to a release that starts every toolchain of its hardware."""
    instance = NEURON_TYPES[instance_type]
    found = Nodes(name, instance, 2, 4, uses_efa=instance.has_efa, release_version=RELEASE)
    return replace(found, **changes)


SITE = Site(
    cluster="trainium-dev",
    stack="dev",
    region="us-west-2",
    namespace="training",
    claim="fsx-claim",
    node_groups={"trn1-32xl": group("trn1-32xl", "trn1.32xlarge")},
    core=Nodes("core", CORE_TYPES["m5.xlarge"], 2, 8, uses_efa=False),
    queues={"training": JobQueue("training"), "test": JobQueue("test")},
    toolchain="xla-2.30",
    etcd="etcd-client:2379",
    addons=frozenset({"volcano", "trainer", "etcd", "efa", "neuron"}),
)
"""The shipped stack, as jobs meet it."""


BLOCK = Use(window("2026-12-01T11:30:00Z", "2026-12-03T11:30:00Z"), timedelta(minutes=60))
"""Two days from the first of December on; drained an hour before its end."""


def site(**changes: Any) -> Site:
    """The shipped stack with changes."""
    return replace(SITE, **changes)


def site_of_type(instance_type: str, **changes: Any) -> Site:
    """A stack with one group, named `g`, of a type."""
    return site(node_groups={"g": group("g", instance_type, **changes)})


def job(**keys: Any) -> Job:
    """A job of two nodes, with keys as its file spells them."""
    return parse_job({"name": "bert", "command": ["python3", "/fsx/train.py"], "nodes": 2, **keys})


EVERYTHING = site(addons=SITE.addons | {"trainingOperator", "mpiOperator", "kubeRay"})
"""A stack with every operator."""
NEEDED: dict[str, dict[str, Any]] = {
    "mpijob": {"toolchain": "jax-2.32"},
    "rayjob": {"image": "r.example/train:1"},
    "tfjob": {"toolchain": "none", "image": "r.example/tensorflow:1", "start": "tensorflow"},
}
"""What a job must say for some launchers."""
