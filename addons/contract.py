"""The contracts of the pinned charts, which must be of the pinned version."""

from functools import cache

from addons.versions import Chart
from facts.charts import Contract, ContractError, contract_file, contract_of


def load(chart: Chart) -> Contract:
    """The contract of a pinned chart.

    Raises ContractError where there is none, or where it was written for another version than the pinned one.
    """
    contract = contract_of(chart.name)
    if contract.version != chart.version:
        raise ContractError(
            f"{chart.name} is pinned at {chart.version}, its contract was written for {contract.chart} {contract.version}",
            f"read values.yaml of {chart.version} and change {contract_file(chart.name)}",
        )
    return contract


@cache
def parts_of(path: str) -> tuple[str, ...]:
    """Parts of a dotted path; a part that has dots of its own, such as a file name, is written in `[...]`."""
    found: list[str] = []
    for part in path.split("."):
        if found and found[-1].startswith("[") and not found[-1].endswith("]"):
            found[-1] += f".{part}"
        else:
            found.append(part)
    return tuple(part.strip("[]") for part in found)
