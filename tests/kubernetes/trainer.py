"""Kubeflow's real Trainer beside a control plane: it makes a JobSet of a TrainJob and its runtime."""

from collections.abc import Iterator
from contextlib import contextmanager

import yaml

from local_kubernetes import build
from local_kubernetes.api import wait
from local_kubernetes.certificates import Authority
from local_kubernetes.clients import answers
from local_kubernetes.control_plane import ControlPlane
from tests.kubernetes import crds
from tests.kubernetes.conftest import Programs
from tests.kubernetes.training_operator import LOADER

MODULE, JOB_SET = "github.com/kubeflow/trainer/v2", "sigs.k8s.io/jobset"
KINDS = ("clustertrainingruntimes", "trainingruntimes", "trainjobs")
DEFINITIONS = (
    *((MODULE, f"manifests/base/crds/trainer.kubeflow.org_{kind}.yaml") for kind in KINDS),
    (JOB_SET, "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml"),
)
SERVED = ("trainer.kubeflow.org/v1alpha1/trainjobs", "trainer.kubeflow.org/v1alpha1/trainingruntimes", "jobset.x-k8s.io/v1alpha2/jobsets")


@contextmanager
def trainer(programs: Programs, control_plane: ControlPlane) -> Iterator[None]:
    """Trainer's controllers, without its webhooks being called; gone at the end, with the definitions."""
    program = programs("trainer")["trainer"]
    api, (port, probes) = control_plane.api(), control_plane.ranges.ports(2)
    definitions = [
        crds.undescribed(yaml.load(build.module_file("trainer", module, path).read_text(), LOADER)) for module, path in DEFINITIONS
    ]
    for each in definitions:
        api.apply(each).ok()
    for path in SERVED:
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
