"""FSx for Lustre: ports, versions and throughput of a file system, and what the original blueprint had.

Sources: FSx for Lustre user guide, performance of PERSISTENT_2 SSD; awslabs/ai-on-eks infra/base/terraform/fsx-for-lustre.tf, 2026-08.
"""

from facts.prices import hourly
from facts.regions import dns_suffix

LUSTRE_PORTS = ((988, 988), (1018, 1023))
"""TCP ports between clients and servers, and between servers (FSx for Lustre guide, limit-access-security-groups)."""
READ_VERSIONS = ("2.12", "2.15")
"""File system versions that the Lustre client 2.15 of the AMIs speaks to (FSx for Lustre guide, lustre-client-matrix)."""
GIB_PER_TIB = 1024
ORIGINAL_CAPACITY_GIB, ORIGINAL_MBPS_PER_TIB = 2400, 500
"""The static file system of the blueprint's newest form."""


def dns_name(file_system_id: str, region: str) -> str:
    """Name under which a file system is mounted (FSx for Lustre guide, mounting-ec2-instance)."""
    return f"{file_system_id}.fsx.{region}.{dns_suffix(region)}"


def throughput_mbps(capacity_gib: int, mbps_per_tib: int) -> float:
    """MB/s that a file system gives without a burst: in proportion to its size."""
    return capacity_gib / GIB_PER_TIB * mbps_per_tib


def usd_per_hour(capacity_gib: int, mbps_per_tib: int) -> float:
    """What the file system costs. KeyError for a throughput that is not sold."""
    return capacity_gib * hourly(f"Lustre {mbps_per_tib}")


ORIGINAL_MBPS = throughput_mbps(ORIGINAL_CAPACITY_GIB, ORIGINAL_MBPS_PER_TIB)
