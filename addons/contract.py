"""Which values the pinned charts have: Helm takes a misspelt key in silence, and the chart's default stays.

A contract stands in `contracts/`, one file per chart, written from the chart's own `values.yaml`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from addons.versions import Chart

DIRECTORY = Path(__file__).parent / "contracts"


@dataclass(frozen=True)
class Contract:
    """The values of one chart at one version, by dotted path."""

    chart: str
    version: str
    source: str
    """Where the values were read, and when."""
    values: Mapping[str, Any]
    """Defaults. A list is one value: what is given replaces it whole, so nothing below it is compared."""
    open: Mapping[str, Any]
    """Defaults of maps that the chart hands on to Kubernetes: anything may stand below."""


def load(chart: Chart) -> Contract:
    """The contract of a pinned chart.

    Raises ValueError where it was written for another version than the pinned one.
    """
    contract = Contract(**yaml.safe_load((DIRECTORY / f"{chart.name}.yaml").read_text()))
    if (contract.chart, contract.version) != (chart.name, chart.version):
        raise ValueError(
            f"{chart.name} is pinned at {chart.version}, its contract was written for {contract.chart} {contract.version}:"
            f" read values.yaml of {chart.version} and change addons/contracts/{chart.name}.yaml"
        )
    return contract


def unknown_keys(contract: Contract, values: Mapping[str, Any]) -> list[str]:
    """Dotted paths that `values` set and the chart does not have, sorted; empty where the chart knows them all."""
    return sorted(path for key in values for path in _unknown(contract, str(key), values[key]))


def _unknown(contract: Contract, path: str, value: Any) -> Iterator[str]:
    if path in contract.open:
        return
    inside = value if isinstance(value, Mapping) else {}
    if path in contract.values:
        # A map where the chart expects one value: none of its keys is the chart's.
        yield from (f"{path}.{key}" for key in inside)
    elif isinstance(value, Mapping) and any(known.startswith(f"{path}.") for known in (*contract.values, *contract.open)):
        for key in inside:
            yield from _unknown(contract, f"{path}.{key}", inside[key])
    else:
        yield path
