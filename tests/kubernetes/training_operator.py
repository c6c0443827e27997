"""Kubeflow's real training operator beside a control plane, for the tests of a module."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import yaml

from local_kubernetes import build
from local_kubernetes.api import Api, Object, wait
from local_kubernetes.certificates import Authority
from local_kubernetes.clients import answers
from local_kubernetes.control_plane import ControlPlane
from tests.kubernetes import crds
from tests.kubernetes.conftest import Programs

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""A definition has 10,000 lines: the plain loader takes seconds for each."""
MODULE = "github.com/kubeflow/training-operator"


@contextmanager
def training_operator(programs: Programs, control_plane: ControlPlane, kinds: Sequence[str]) -> Iterator[None]:
    """The operator's controllers for some kinds, such as `pytorchjob`, without its webhooks; gone at the end, with the definitions."""
    program = programs("training-operator")["training-operator"]
    api, (port, probes) = control_plane.api(), control_plane.ranges.ports(2)
    paths = (f"manifests/base/crds/kubeflow.org_{kind}s.yaml" for kind in kinds)
    definitions = [crds.undescribed(yaml.load(build.module_file("training-operator", MODULE, path).read_text(), LOADER)) for path in paths]
    # Another operator's definition of the name, of another version, may be left by other tests: MPIJobs are v2beta1 elsewhere.
    for each in definitions:
        api.delete(each, foreground=False)
    wait(lambda: not any(api.exists(each) for each in definitions), "no definition of these kinds is left")
    for each in definitions:
        api.apply(each).ok()
    for kind in kinds:
        wait(lambda kind=kind: api.call("GET", f"/apis/kubeflow.org/v1/{kind}s").status == 200, f"{kind}s are known")
    authority = Authority(control_plane.folder / "training-operator")
    authority.server("tls", ("localhost",))
    options = [f"--cert-dir={authority.folder}", f"--webhook-server-port={port}", *(f"--enable-scheme={kind}" for kind in kinds)]
    command = [program, f"--kubeconfig={control_plane.kubeconfig}", f"--health-probe-bind-address=127.0.0.1:{probes}", *options]
    control_plane.processes.start("training-operator", command)
    control_plane.processes.wait(lambda: answers(f"http://127.0.0.1:{probes}/readyz"), "training-operator")
    yield
    control_plane.processes.stop("training-operator")
    for each in definitions:
        api.delete(each)


def succeeded(api: Api, item: Object) -> bool:
    """The operator says so. AssertionError where it says that the job failed."""
    conditions = api.get(item).ok().get("status", {}).get("conditions") or ()
    assert not any(each["type"] == "Failed" and each["status"] == "True" for each in conditions), conditions
    return any(each["type"] == "Succeeded" and each["status"] == "True" for each in conditions)
