"""Kubeflow Trainer's runtimes: one for each toolchain, from the pod of all jobs, started as the toolchain is."""

from typing import Any

import pytest

from facts.toolchains import TOOLCHAINS, Toolchain
from training.environment import EFA, INTERFACE, TORCHRUN
from training.runtimes import runtime_labels, runtime_name, runtime_spec

ALL = pytest.mark.parametrize("toolchain", TOOLCHAINS.values(), ids=lambda toolchain: toolchain.name)


def container(spec: dict[str, Any]) -> dict[str, Any]:
    """The one container of a runtime."""
    (job,) = spec["template"]["spec"]["replicatedJobs"]
    (found,) = job["template"]["spec"]["template"]["spec"]["containers"]
    return found


@ALL
def test_processes_are_started_as_the_toolchain_is(toolchain: Toolchain):
    """torchrun in a JAX image is a command that is not there; the policy sets what the processes find each other by."""
    spec = runtime_spec(toolchain, "registry.example/train:1", None, gang=False)
    is_jax = toolchain.framework == "jax"
    assert spec["mlPolicy"] == {"numNodes": 1, "jax" if is_jax else "torch": {}}
    assert container(spec).get("command") == (None if is_jax else ["torchrun"])
    assert runtime_labels(toolchain)["trainer.kubeflow.org/framework"] == ("jax" if is_jax else "torch")


@ALL
def test_the_environment_is_that_of_every_job(toolchain: Toolchain):
    """Two lists of variables would drift apart."""
    spec = runtime_spec(toolchain, "registry.example/train:1", "fsx-claim", gang=True)
    found = {item["name"]: item["value"] for item in container(spec)["env"]}
    torchrun = TORCHRUN if toolchain.start == "torchrun" else {}
    cache = {"NEURON_COMPILE_CACHE_URL": f"/fsx/neuron-compile-cache/{toolchain.name}"}
    assert found == {**INTERFACE, **EFA, **torchrun, **cache}


@ALL
def test_what_a_trainjob_says_is_left_to_it(toolchain: Toolchain):
    """Its devices would be added to ours; a request of ours would be that of a small pod."""
    assert "resources" not in container(runtime_spec(toolchain, "registry.example/train:1", None, gang=False))


def test_names_are_one_for_each_toolchain():
    """A TrainJob names it."""
    assert [runtime_name(name) for name in TOOLCHAINS] == ["neuron-xla-2.28", "neuron-xla-2.30", "neuron-jax-2.32", "neuron-torch-2.33"]
