"""Whether values keep to the contract of a chart: Helm accepts a misspelt key without a word, and the chart's default stays."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from addons.contract import parts_of
from addons.versions import SUPPORTED_KUBERNETES, managed_addon_version
from facts.charts import Contract, ContractError, contract_file, contract_of


def load_managed(addon: str) -> Contract:
    """The contract of a pinned EKS add-on.

    Raises ContractError where there is none, or where a Kubernetes minor has a build that it was not written for.
    """
    contract = contract_of(addon)
    pinned = sorted({managed_addon_version(addon, minor) for minor in SUPPORTED_KUBERNETES})
    if sorted(contract.managed) != pinned:
        written = ", ".join(contract.managed)
        wrong = f"{addon} is pinned at {', '.join(pinned)}, its contract was written for {written or 'no build'}"
        raise ContractError(wrong, f"change {contract_file(addon)}")
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
    return any(len(parts) == len(path) and _matches(parts, path) for parts in map(parts_of, paths))


def _section(paths: Mapping[str, Any], path: Sequence[str]) -> bool:
    return any(len(parts) > len(path) and _matches(parts, path) for parts in map(parts_of, paths))


def _matches(parts: Sequence[str], path: Sequence[str]) -> bool:
    return all(part in ("*", key) for part, key in zip(parts, path, strict=False))


def value_at(values: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path; None where there is none."""
    found: Any = values
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found
