"""Kubeflow's real Trainer makes a JobSet of our TrainJob: pods, counts and variables as they were said, in the job's own runtime."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import yaml

from operations.local_kubernetes import build
from operations.local_kubernetes.api import Api, wait
from operations.local_kubernetes.certificates import Authority
from operations.local_kubernetes.control_plane import ControlPlane, answers, free_ports
from tests.kubernetes.conftest import Programs
from tests.kubernetes.training_operator import LOADER
from tests.training.sites import EVERYTHING, job
from training.launchers import launcher

pytestmark = pytest.mark.kubernetes

TRAINER, JOB_SET = "github.com/kubeflow/trainer/v2", "sigs.k8s.io/jobset"
DEFINITIONS = (
    *(
        (TRAINER, f"manifests/base/crds/trainer.kubeflow.org_{kind}.yaml")
        for kind in ("clustertrainingruntimes", "trainingruntimes", "trainjobs")
    ),
    (JOB_SET, "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml"),
)


@pytest.fixture(scope="module")
def trainer(programs: Programs, control_plane: ControlPlane) -> Iterator[None]:
    """Trainer's controllers, without its webhooks being called; gone after the module, with the definitions."""
    program = programs("trainer")["trainer"]
    api, (port, probes) = control_plane.api(), free_ports(2)
    definitions = [yaml.load(build.module_file("trainer", module, path).read_text(), LOADER) for module, path in DEFINITIONS]
    for each in definitions:
        api.apply(each).ok()
    for path in (
        "trainer.kubeflow.org/v1alpha1/trainjobs",
        "trainer.kubeflow.org/v1alpha1/trainingruntimes",
        "jobset.x-k8s.io/v1alpha2/jobsets",
    ):
        wait(lambda path=path: api.call("GET", f"/apis/{path}").status == 200, f"{path} is known")
    authority = Authority(control_plane.folder / "trainer")
    authority.server("tls", ("localhost",))
    options = [f"--cert-dir={authority.folder}", f"--webhook-server-port={port}", f"--health-probe-bind-address=127.0.0.1:{probes}"]
    control_plane.processes.start("trainer", [program, f"--kubeconfig={control_plane.kubeconfig}", *options])
    control_plane.processes.wait(lambda: answers(f"http://127.0.0.1:{probes}/readyz"), "trainer")
    yield
    control_plane.processes.stop("trainer")
    for each in definitions:
        api.delete(each)


@pytest.mark.usefixtures("trainer")
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
