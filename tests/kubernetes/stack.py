"""A recorded stack's Kubernetes half, brought up on an API server in the graph's order and taken down in the reverse.

Every object is what the program registered: nothing is written again here. A chart's release, or an EKS add-on, stands for the
CRDs that it brings.
"""

from collections.abc import Iterator

from facts.charts import contracts
from local_kubernetes.api import Answer, Api, NotInTime, Object, wait
from local_kubernetes.crds import install, stays
from local_kubernetes.half import is_object, manifest
from simulator.engine.order import creation_order, deletion_levels
from simulator.recording import Recording, Registration
from tests.addons.test_kubernetes_objects import CONFIGURATIONS
from tests.kubernetes import crds
from tests.stacks.addon_sets import ALTERNATIVES
from tests.stacks.order_laws import RELEASE
from tests.stacks.test_addons import recorded
from tests.support import dev_configuration, merged, record_stack

ADDON = "aws:eks/addon:Addon"


def chart_of(item: Registration) -> str:
    """Name of the chart or EKS add-on that a resource installs; empty for all else."""
    if item.type == RELEASE:
        return str(item.inputs["chart"]).rpartition("/")[2]
    return str(item.inputs["addonName"]) if item.type == ADDON else ""


def objects(recording: Recording) -> Iterator[Object]:
    """Every object, in the graph's order."""
    for urn in creation_order(recording):
        if is_object(recording.registrations[urn]):
            yield manifest(recording.registrations[urn])


def recording_of(name: str) -> Recording:
    """A named configuration, recorded."""
    if name in ALTERNATIVES:
        return recorded(name)
    return record_stack(merged(dev_configuration(), **CONFIGURATIONS[name]))


class Deployed:
    """One stack on one API server."""

    def __init__(self, api: Api, recording: Recording) -> None:
        self._api, self._recording = api, recording
        self._order = [recording.registrations[urn] for urn in creation_order(recording)]

    def up(self) -> list[str]:
        """Bring all of it up; gives what was refused, with the server's words."""
        refused = []
        for item in self._order:
            if chart := chart_of(item):
                install(self._api, crds.of_chart(chart) if chart in contracts() else [])
            elif is_object(item):
                answer = self._applied(item)
                if answer.status >= 300:
                    refused.append(f"{item.name} ({item.type}): {answer.message}")
                elif manifest(item)["kind"] == "CustomResourceDefinition":
                    install(self._api, [manifest(item)])
        return refused

    def _applied(self, item: Registration) -> Answer:
        try:
            return self._api.apply(manifest(item))
        except LookupError as error:
            return Answer(404, {"message": str(error)})

    def contents(self) -> dict[str, Object]:
        """Every object as the server has it, without its status and the server's own notes on who wrote it when."""
        return {item.urn: _content(self._api.get(manifest(item)).ok()) for item in self._order if is_object(item)}

    def down(self) -> list[str]:
        """Delete all of it as the engine does: one level together, all of it gone before the next. Gives what is left, and why."""
        left = []
        for level in deletion_levels(self._recording):
            going = [item for urn in level for item in self._made_by(self._recording.registrations[urn])]
            for item in going:
                self._api.delete(item, foreground="." not in item["apiVersion"].replace(".k8s.io/", "/"))
            left += [said for item in going if (said := self._left(item))]
        return left

    def _made_by(self, item: Registration) -> list[Object]:
        """Objects that are deleted with a resource."""
        chart = chart_of(item)
        if chart in contracts():
            return [crd for crd in crds.of_chart(chart) if crd["metadata"]["name"] not in stays(chart)]
        return [manifest(item)] if is_object(item) else []

    def _left(self, item: Object) -> str:
        """Empty when it is gone; else what holds it."""
        try:
            wait(lambda: not self._api.exists(item), "it is gone")
        except NotInTime:
            found = self._api.get(item).body
            return f"{item['kind']} {item['metadata']['name']}: {found['metadata'].get('finalizers')} {found.get('status')}"
        return ""


def _content(found: Object) -> Object:
    metadata = {key: value for key, value in found["metadata"].items() if key not in ("managedFields", "resourceVersion")}
    return {key: value for key, value in found.items() if key != "status"} | {"metadata": metadata}
