"""CustomResourceDefinitions for the tests: those that are made get the short schemas of tests/addons/schemas."""

from contextlib import suppress
from typing import Any

from local_kubernetes import crds
from local_kubernetes.api import NAMES_ONLY, Api, NotInTime, Object, wait
from tests.addons.custom_resources import schemas


def of_chart(chart: str) -> list[Object]:
    """What a release of a chart, or an EKS add-on, brings."""
    return [undescribed(item) for item in crds.of_chart(chart, schemas())]


def undescribed(node: Any) -> Any:
    """A definition without the texts that say what fields mean: two thirds of it, and the API server reads all definitions again for each
    one that comes or goes. A field of the name `description` is no text and stays."""
    if isinstance(node, list):
        return [undescribed(item) for item in node]
    if isinstance(node, dict):
        return {key: undescribed(value) for key, value in node.items() if key != "description" or not isinstance(value, str)}
    return node


def made(name: str, qualified: str) -> Object:
    """A CRD from what a contract says of it: `jobs.batch.volcano.sh`, `batch.volcano.sh/Job`."""
    return crds.made(name, qualified, schemas())


GONE_S = 330
"""Should the API server forget a definition that goes, it looks at all of them again after 5 minutes."""
OPEN_S = 10
"""How long a kind may take to be listed for the first time."""


def remove_all(api: Api) -> None:
    """Delete every CRD, and with it every object of its kind."""
    open_stores(api)
    api.call("DELETE", crds.PATH, accept=NAMES_ONLY).ok()
    wait(lambda: not api.names(crds.PATH), "no CRD is left", GONE_S)


def open_stores(api: Api) -> None:
    """List every custom kind once, so that its definition can go at the first attempt.

    The API server opens the store of a kind when it is first asked for, and one that opens answers "storage is (re)initializing". Where a
    definition's deletion is what asks first, that is a failure: it tries again 5 ms later, from a copy that may be older than what it has
    just written, takes the conflict for someone else's change, and waits for news of it that does not come before the next look at all, up
    to 5 minutes later (seen, and kubernetes/kubernetes:staging/src/k8s.io/apiextensions-apiserver/pkg/controller/finalizer/crd_finalizer.go).
    """
    for name in api.names(crds.PATH):
        plural, _, group = name.partition(".")
        # One whose names are another's was never taken up, and has none.
        with suppress(NotInTime):
            wait(lambda group=group, plural=plural: _is_open(api, group, plural), f"{name} can be listed", OPEN_S)


def _is_open(api: Api, group: str, plural: str) -> bool:
    versions = api.call("GET", f"/apis/{group}").body.get("versions", ())
    return any(api.call("GET", f"/apis/{version['groupVersion']}/{plural}", limit="1").status == 200 for version in versions)
