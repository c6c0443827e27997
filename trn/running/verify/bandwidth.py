"""What an all-reduce should reach, and what nccom-test says it reached."""

from collections.abc import Iterator
from dataclasses import dataclass

from facts.catalogue import InstanceType

GIB = 2**30
GB_PER_GIB = 2**30 / 10**9
EXAMPLES_GB_PER_S = {"trn1.32xlarge": 23.92 * GB_PER_GIB}
"""Algorithm bandwidth of an all-reduce of 1 GiB by AWS's own example, two instances of 32 ranks, which prints 23.92 GiB/s for 41,806 us
(aws-neuron/aws-neuron-sdk tools/neuron-sys-tools/nccom-test.rst, 2026-08-21). The page names no instance type (inferred from the ranks) and warns that its figures
are not kept up to date, so nothing is judged by it. None is published for the other types."""
FRACTION = 0.15
"""Below this share of the bound it warns. AWS's example reaches 26 % of its own; one of the eight interfaces of a trn1.32xlarge alone would
carry 12.5 %."""


@dataclass(frozen=True)
class Row:
    """One line of nccom-test's table."""

    size: int
    """Bytes."""
    algorithm_gb_per_s: float
    """Size by time, 10^9 bytes."""


def bound_gb_per_s(instance: InstanceType, node_count: int) -> float:
    """Most that the interfaces let through: every node sends and receives 2 (n - 1) / n of the data.

    The factor is that of nccom-test's guide for All-Reduce among ranks, taken for nodes (inferred).
    """
    return instance.network_gbps / 8 / (2 * (node_count - 1) / node_count)


def rows(text: str) -> Iterator[Row]:
    """Lines of the table in what nccom-test prints. Columns differ between releases and are found by their heads.

    Its head says GB/s, and its guide and the times beside the figures say that they are GiB/s.
    """
    heads: list[str] = []
    for line in text.splitlines():
        words = line.split()
        if "algbw(GB/s)" in words:
            heads = words
        elif heads and len(words) == len(heads) and words[0].isdigit():
            cells = dict(zip(heads, words, strict=True))
            yield Row(int(cells["size(B)"]), float(cells["algbw(GB/s)"]) * GB_PER_GIB)
