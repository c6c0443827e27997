"""CustomResourceDefinitions for the tests: those that are made get the short schemas of tests/addons/schemas."""

from operations.local_kubernetes import crds
from operations.local_kubernetes.api import NAMES_ONLY, Api, Object, wait
from tests.addons.custom_resources import schemas


def of_chart(chart: str) -> list[Object]:
    """What a release of a chart, or an EKS add-on, brings."""
    return crds.of_chart(chart, schemas())


def made(name: str, qualified: str) -> Object:
    """A CRD from what a contract says of it: `jobs.batch.volcano.sh`, `batch.volcano.sh/Job`."""
    return crds.made(name, qualified, schemas())


def remove_all(api: Api) -> None:
    """Delete every CRD, and with it every object of its kind."""
    api.call("DELETE", crds.PATH, accept=NAMES_ONLY).ok()
    wait(lambda: not api.names(crds.PATH), "no CRD is left")
