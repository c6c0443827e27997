"""The MPI operator's real controller in a cluster: the add-on's own objects, whose Deployment's pod runs the release's program as a process."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from local_kubernetes import build
from local_kubernetes.api import Api, Object, wait
from tests.kubernetes.stack import objects
from tests.stacks.test_addons import alone

NAME = "mpi-operator"
SERVED = "/apis/kubeflow.org/v2beta1/mpijobs"


def image(programs: Mapping[str, Path]) -> Mapping[str, Object]:
    """The operator's image as a process kubelet knows it."""
    return {"mpioperator/mpi-operator": {"path": [str(programs[NAME].parent)], "entrypoint": [NAME]}}


def version() -> str:
    """Of the program that is run."""
    return build.version(NAME)


@contextmanager
def mpi_operator(api: Api) -> Iterator[None]:
    """The add-on, up: its definition, rights and Deployment as the program sends them; gone at the end. A process kubelet must run."""
    own = [item for item in objects(alone("mpiOperator", on=True)) if NAME in _names(item) or "mpijobs.kubeflow.org" in _names(item)]
    definition = next(item for item in own if item["kind"] == "CustomResourceDefinition")
    # The training operator's of the name, v1, may be left by other tests.
    api.delete(definition, foreground=False)
    wait(lambda: not api.exists(definition), "no definition of the kind is left")
    for item in own:
        api.apply(item).ok()
    wait(lambda: api.call("GET", SERVED).status == 200, "MPIJobs are known")
    deployment = next(item for item in own if item["kind"] == "Deployment")
    wait(lambda: api.get(deployment).ok().get("status", {}).get("readyReplicas"), "the operator runs")
    yield
    for item in reversed(own):
        api.delete(item, foreground=False)
    wait(lambda: not api.exists(definition), "the definition is gone")


def _names(item: Object) -> tuple[str, str]:
    return str(item["metadata"].get("name")), str(item["metadata"].get("namespace"))
