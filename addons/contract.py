"""What is known of the pinned charts: values, pods, CRDs, webhooks, images.

Helm takes a misspelt key in silence, and the chart's default stays. There is one contract for each chart, in `contracts/` of its add-on's folder,
written from the chart's own files and from what it renders.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from addons.versions import Chart

FOLDER = Path(__file__).parent


def contract_files() -> dict[str, Path]:
    """Files of all contracts, by the chart's name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*/contracts/*.yaml"))}


@dataclass(frozen=True)
class Contract:
    """One chart at one version. Values by dotted path; a `*` in a path stands for any key."""

    chart: str
    version: str
    source: str
    """Where the values were read, and when."""
    values: Mapping[str, Any]
    """Defaults. A list is one value: what is given replaces it whole, so nothing below it is compared."""
    open: Mapping[str, Any]
    """Defaults of maps that the chart hands on to Kubernetes: anything may stand below."""
    kubernetes: Sequence[str]
    """Minors for which the chart renders."""
    pods: Sequence[Mapping[str, Any]]
    """What makes pods: `object`, the `nodes` it is meant for (core, neuron or all), the paths of its `tolerations`, `selector` and `requests`, what it `tolerates` by default, and the switch `when` it is made."""
    crds: Sequence[Mapping[str, Any]]
    """CRDs by `name`; one that `stays` is not deleted with the release."""
    fail_closed: Sequence[str]
    """Kinds of every namespace that cannot be made or changed while the chart's own webhook does not answer."""
    images: Sequence[Mapping[str, str]]
    """Images, each with the path of its `repository` or `registry`, and the switch `when` it is pulled."""


@cache
def load(chart: Chart) -> Contract:
    """The contract of a pinned chart.

    Raises ValueError where it was written for another version than the pinned one.
    """
    path = contract_files()[chart.name]
    contract = Contract(**yaml.safe_load(path.read_text()))
    if (contract.chart, contract.version) != (chart.name, chart.version):
        raise ValueError(
            f"{chart.name} is pinned at {chart.version}, its contract was written for {contract.chart} {contract.version}:"
            f" read values.yaml of {chart.version} and change {path.relative_to(FOLDER.parent)}"
        )
    return contract


def unknown_keys(contract: Contract, values: Mapping[str, Any]) -> list[str]:
    """Dotted paths that `values` set and the chart does not have, sorted; empty where the chart knows them all."""
    return sorted(path for key in values for path in _unknown(contract, (str(key),), values[key]))


def is_open(contract: Contract, path: Sequence[str]) -> bool:
    """Whether anything may stand below a path, given as its keys."""
    return _known(contract.open, path)


def _unknown(contract: Contract, path: tuple[str, ...], value: Any) -> Iterator[str]:
    if _known(contract.open, path):
        return
    inside = value if isinstance(value, Mapping) else {}
    if _known(contract.values, path):
        # A map where the chart expects one value: none of its keys is the chart's.
        yield from (".".join((*path, str(key))) for key in inside)
    elif isinstance(value, Mapping) and (_section(contract.values, path) or _section(contract.open, path)):
        for key in inside:
            yield from _unknown(contract, (*path, str(key)), inside[key])
    else:
        yield ".".join(path)


def _known(paths: Mapping[str, Any], path: Sequence[str]) -> bool:
    return any(len(parts) == len(path) and _matches(parts, path) for parts in map(_parts, paths))


def _section(paths: Mapping[str, Any], path: Sequence[str]) -> bool:
    return any(len(parts) > len(path) and _matches(parts, path) for parts in map(_parts, paths))


def _matches(parts: Sequence[str], path: Sequence[str]) -> bool:
    return all(part in ("*", key) for part, key in zip(parts, path, strict=False))


@cache
def _parts(path: str) -> tuple[str, ...]:
    """Parts of a dotted path; a part that has dots of its own, such as a file name, stands in `[...]`."""
    found: list[str] = []
    for part in path.split("."):
        if found and found[-1].startswith("[") and not found[-1].endswith("]"):
            found[-1] += f".{part}"
        else:
            found.append(part)
    return tuple(part.strip("[]") for part in found)
