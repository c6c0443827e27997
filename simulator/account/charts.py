"""What the releases and EKS add-ons of the simulated cluster bring, from the charts' contracts."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from facts.charts import Contract, contracts
from simulator.account.kinds import ADDON, RELEASE
from simulator.errors import UnknownType
from simulator.recording import Registration


def chart_of(registration: Registration) -> Contract | None:
    """The contract of a release, or of an EKS add-on; None for anything else, and for an EKS add-on without one.

    Raises UnknownType for a release whose chart has no contract.
    """
    if registration.type == ADDON:
        return contracts().get(registration.inputs["addonName"])
    if registration.type != RELEASE:
        return None
    name = str(registration.inputs["chart"]).rstrip("/").rsplit("/", 1)[-1]
    if name not in contracts():
        raise UnknownType(f"the simulated cloud does not know the chart {name}; write its contract, addons/NAME/contracts/{name}.yaml")
    return contracts()[name]


def needs_node(registration: Registration) -> bool:
    """Whether a release, or an EKS add-on, is ready only with pods on a node that carries no Neuron taint."""
    chart = chart_of(registration)
    return chart is not None and chart.needs_node and not registration.inputs.get("skipAwait")


def kinds_brought(registration: Registration) -> tuple[str, ...]:
    """Custom kinds (`group/Kind`) that a release, or an EKS add-on, brings."""
    chart = chart_of(registration)
    return () if chart is None else (*chart.kinds, *(() if registration.inputs.get("skipCrds") else chart.kinds_that_stay))


def guards(registration: Registration, kind: str, operation: str) -> bool:
    """Whether fail-closed webhooks of a release, with its values, are asked about an operation on a kind."""
    chart = chart_of(registration)
    if chart is None or operation not in chart.guards.get(kind, ()):
        return False
    switch = chart.guards_off_by.get(kind)
    return switch is None or _value(registration, switch) is not False


def runs_delete_jobs(registration: Registration) -> bool:
    """Whether the deletion of a release, with its values, runs a hook Job."""
    chart = chart_of(registration)
    if chart is None or not chart.delete_jobs_with:
        return False
    return _switched_on((registration.inputs.get("values") or {}).get(chart.delete_jobs_with))


def _switched_on(values: object) -> bool:
    if isinstance(values, Mapping):
        return any(_switched_on(value) for value in values.values())
    return values is True


def cluster_objects(registration: Registration) -> tuple[str, ...]:
    """Cluster-wide objects of a release, with its values, that another chart brings too."""
    chart = chart_of(registration)
    if chart is None or (chart.cluster_objects_off_by and _value(registration, chart.cluster_objects_off_by) is False):
        return ()
    return tuple(chart.cluster_objects)


def _value(registration: Registration, path: str) -> Any:
    """A release's value at a dotted path; None where it is not set."""
    value: Any = registration.inputs.get("values") or {}
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


@cache
def kinds_with_finalizers() -> frozenset[str]:
    """Kinds (`group/Kind`) whose objects only a controller can release."""
    return frozenset(kind for chart in contracts().values() for kind in chart.finalizers)
