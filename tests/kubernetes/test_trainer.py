"""Kubeflow's real Trainer makes a JobSet of our TrainJob: pods, counts and variables as they were said, in the job's own runtime."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from local_kubernetes.api import Api, wait
from local_kubernetes.control_plane import ControlPlane
from tests.kubernetes.conftest import Programs
from tests.kubernetes.trainer import trainer
from tests.training.sites import EVERYTHING, job
from training.launchers import launcher

pytestmark = pytest.mark.kubernetes


@pytest.fixture(scope="module", autouse=True)
def controllers(programs: Programs, control_plane: ControlPlane) -> Iterator[None]:
    """Trainer's."""
    with trainer(programs, control_plane):
        yield


@pytest.mark.parametrize(("toolchain", "variable"), [("xla-2.30", "PET_NNODES"), ("jax-2.32", "JAX_NUM_PROCESSES")])
def test_a_train_job_becomes_a_job_set_of_its_own_pod(toolchain: str, variable: str, api: Api, namespace: str):
    """What runs then is a JobSet like that of the launcher `jobset`, without defaults of Trainer's."""
    on = replace(EVERYTHING, namespace=namespace, gang=False, queues={})
    made = launcher("trainjob").render(job(launcher="trainjob", toolchain=toolchain, nodes=3), on)
    for item in made:
        api.create(item).ok()
    own = {**made[-1], "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}
    wait(lambda: api.get(own).status == 200, "there is a JobSet")
    spec = api.get(own).ok()["spec"]
    (step,) = spec["replicatedJobs"]
    child = step["template"]["spec"]
    (container,) = child["template"]["spec"]["containers"]
    (expected,) = made[1]["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"]
    assert (child["parallelism"], child["completions"], spec["failurePolicy"]["maxRestarts"]) == (3, 3, 3)
    assert (container["command"], container["image"]) == (expected["command"], expected["image"])
    assert container["resources"]["limits"] == expected["resources"]["limits"]
    variables = {item["name"]: item.get("value") for item in container["env"]}
    assert variables[variable] == "3"
    assert {item["name"] for item in expected["env"]} <= variables.keys()
