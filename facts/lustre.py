"""Throughput of an FSx for Lustre file system, and what the original blueprint had.

Sources: FSx for Lustre user guide, performance of PERSISTENT_2 SSD; awslabs/ai-on-eks infra/base/terraform/fsx-for-lustre.tf, 2026-08.
"""

from facts.prices import hourly

GIB_PER_TIB = 1024
ORIGINAL_CAPACITY_GIB, ORIGINAL_MBPS_PER_TIB = 2400, 500
"""The static file system of the blueprint's newest form."""


def throughput_mbps(capacity_gib: int, mbps_per_tib: int) -> float:
    """MB/s that a file system gives without a burst: in proportion to its size."""
    return capacity_gib / GIB_PER_TIB * mbps_per_tib


def usd_per_hour(capacity_gib: int, mbps_per_tib: int) -> float:
    """What the file system costs. KeyError for a throughput that is not sold."""
    return capacity_gib * hourly(f"Lustre {mbps_per_tib}")


ORIGINAL_MBPS = throughput_mbps(ORIGINAL_CAPACITY_GIB, ORIGINAL_MBPS_PER_TIB)
