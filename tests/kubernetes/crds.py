"""CustomResourceDefinitions for the tests: those that are made get the short schemas of tests/addons/schemas."""

from typing import Any

from operations.local_kubernetes import crds
from operations.local_kubernetes.api import NAMES_ONLY, Api, Object, wait
from tests.addons.custom_resources import schemas


def of_chart(chart: str) -> list[Object]:
    """What a release of a chart, or an EKS add-on, brings."""
    return [_undescribed(item) for item in crds.of_chart(chart, schemas())]


def _undescribed(node: Any) -> Any:
    """A definition without the texts that say what fields mean: two thirds of it, and the API server reads all definitions again for each
    one that comes or goes. A field of the name `description` is no text and stays."""
    if isinstance(node, list):
        return [_undescribed(item) for item in node]
    if isinstance(node, dict):
        return {key: _undescribed(value) for key, value in node.items() if key != "description" or not isinstance(value, str)}
    return node


def made(name: str, qualified: str) -> Object:
    """A CRD from what a contract says of it: `jobs.batch.volcano.sh`, `batch.volcano.sh/Job`."""
    return crds.made(name, qualified, schemas())


GONE_S = 600
"""The API server tries again after growing pauses where a definition still changes while it goes."""


def remove_all(api: Api) -> None:
    """Delete every CRD, and with it every object of its kind."""
    api.call("DELETE", crds.PATH, accept=NAMES_ONLY).ok()
    wait(lambda: not api.names(crds.PATH), "no CRD is left", GONE_S)
