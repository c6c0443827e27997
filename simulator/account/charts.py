"""What the pinned charts bring into the cluster, from `charts.yaml`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from simulator.account.kinds import ADDON, RELEASE
from simulator.errors import UnknownType
from simulator.recording import Registration

ADDONS_THAT_NEED_A_NODE = frozenset(
    {
        "coredns", "metrics-server", "aws-ebs-csi-driver", "aws-efs-csi-driver", "aws-fsx-csi-driver", "aws-mountpoint-s3-csi-driver",
        "amazon-cloudwatch-observability", "cert-manager", "external-dns", "kube-state-metrics", "snapshot-controller",
    }
)  # fmt: skip
"""Managed add-ons with Deployments, whose pods tolerate no Neuron taint."""


@dataclass(frozen=True)
class Chart:
    """One chart; kinds are `group/Kind`."""

    version: str
    """At which it was rendered."""
    needs_node: bool
    """Whether it has pods that tolerate no Neuron taint, so that its install waits for another node."""
    crds: tuple[str, ...] = ()
    """Kinds that go with the release, and all their objects with them."""
    crds_that_stay: tuple[str, ...] = ()
    """Kinds from the chart's `crds/` folder, which Helm never deletes."""
    install_jobs: bool = False
    """Whether hook Jobs run before it is installed."""
    delete_jobs_with: str = ""
    """Values section that brings hook Jobs before its deletion, when anything below it is switched on."""
    guards: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Kinds that its fail-closed webhooks are asked about, and on which operations."""
    guards_off_by: Mapping[str, str] = field(default_factory=dict)
    """Guarded kinds to the value that, set to false, takes the guard away."""
    cluster_objects: tuple[str, ...] = ()
    """Cluster-wide objects (`Kind/name`) that another chart brings too."""
    cluster_objects_off_by: str = ""
    """Value, dotted, that leaves them out when it is false."""
    finalizers: tuple[str, ...] = ()
    """Kinds whose objects only its controller lets go."""


@cache
def _table() -> Mapping[str, Chart]:
    entries = yaml.safe_load((Path(__file__).parent / "charts.yaml").read_text())
    return {name: _chart(**entry) for name, entry in entries.items()}


def _chart(**entry: Any) -> Chart:
    plain: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items() if key != "guards"}
    return Chart(**plain, guards={kind: tuple(operations) for kind, operations in entry.get("guards", {}).items()})


def chart_of(registration: Registration) -> Chart | None:
    """The chart behind a release, or behind a managed add-on that has one; None for anything else.

    Raises UnknownType for a release whose chart the table does not have.
    """
    if registration.type == ADDON:
        return _table().get(registration.inputs["addonName"])
    if registration.type != RELEASE:
        return None
    name = str(registration.inputs["chart"]).rstrip("/").rsplit("/", 1)[-1]
    if name not in _table():
        raise UnknownType(f"the simulated cloud does not know the chart {name}; add what it brings to simulator/account/charts.yaml")
    return _table()[name]


def needs_node(registration: Registration) -> bool:
    """Whether a release, or a managed add-on, is ready only with pods on a node that carries no Neuron taint."""
    if registration.type == ADDON:
        return registration.inputs["addonName"] in ADDONS_THAT_NEED_A_NODE
    chart = chart_of(registration)
    return chart is not None and chart.needs_node and not registration.inputs.get("skipAwait")


def brings_kind(registration: Registration, kind: str) -> bool:
    """Whether a release, or a managed add-on, brings a custom kind (`group/Kind`)."""
    chart = chart_of(registration)
    return chart is not None and kind in (*chart.crds, *(() if registration.inputs.get("skipCrds") else chart.crds_that_stay))


def guards(registration: Registration, kind: str, operation: str) -> bool:
    """Whether fail-closed webhooks of a release, with its values, are asked about an operation on a kind."""
    chart = chart_of(registration)
    if chart is None or operation not in chart.guards.get(kind, ()):
        return False
    switch = chart.guards_off_by.get(kind)
    return switch is None or (registration.inputs.get("values") or {}).get(switch) is not False


def cluster_objects(registration: Registration) -> tuple[str, ...]:
    """Cluster-wide objects of a release, with its values, that another chart brings too."""
    chart = chart_of(registration)
    if chart is None:
        return ()
    value: Any = registration.inputs.get("values") or {}
    for part in chart.cluster_objects_off_by.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return () if value is False else chart.cluster_objects


def known_charts() -> list[str]:
    """Names of all charts in the table."""
    return sorted(_table())


@cache
def kinds_with_finalizers() -> frozenset[str]:
    """Kinds (`group/Kind`) whose objects only a controller lets go."""
    return frozenset(kind for chart in _table().values() for kind in chart.finalizers)
