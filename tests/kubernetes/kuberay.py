"""KubeRay's real operator beside a control plane: it makes a RayCluster of a RayJob, and pods of that."""

from collections.abc import Iterator
from contextlib import contextmanager

import yaml

from local_kubernetes import build
from local_kubernetes.api import Object, wait
from local_kubernetes.control_plane import ControlPlane, answers
from tests.kubernetes import crds
from tests.kubernetes.conftest import Programs
from tests.kubernetes.training_operator import LOADER

MODULE = "github.com/ray-project/kuberay/ray-operator"
KINDS = ("rayclusters", "raycronjobs", "rayjobs", "rayservices")


@contextmanager
def kuberay(programs: Programs, control_plane: ControlPlane) -> Iterator[None]:
    """The operator, without its webhooks and its leader's election; gone at the end, with the definitions."""
    program = programs("kuberay")["ray-operator"]
    api, (probes,) = control_plane.api(), control_plane.ranges.ports(1)
    paths = (f"config/crd/bases/ray.io_{kind}.yaml" for kind in KINDS)
    definitions = [_current(yaml.load(build.module_file("kuberay", MODULE, path).read_text(), LOADER)) for path in paths]
    # Those of the chart, of another version, may be left by other tests.
    for each in definitions:
        api.delete(each, foreground=False)
    wait(lambda: not any(api.exists(each) for each in definitions), "no definition of these kinds is left")
    for each in definitions:
        api.create(each).ok()
    for kind in KINDS:
        wait(lambda kind=kind: api.call("GET", f"/apis/ray.io/v1/{kind}").status == 200, f"{kind} are known")
    options = ["--enable-leader-election=false", f"--health-probe-bind-address=127.0.0.1:{probes}", "--metrics-addr=0"]
    control_plane.processes.start("kuberay", [program, f"--kubeconfig={control_plane.kubeconfig}", *options])
    control_plane.processes.wait(lambda: answers(f"http://127.0.0.1:{probes}/readyz"), "kuberay")
    yield
    control_plane.processes.stop("kuberay")
    for each in definitions:
        api.delete(each)


def _current(definition: Object) -> Object:
    """A definition with the version that the operator and the launchers speak alone: an old one costs the API server as much again."""
    item = crds.undescribed(definition)
    return {**item, "spec": {**item["spec"], "versions": [each for each in item["spec"]["versions"] if each["storage"]]}}
