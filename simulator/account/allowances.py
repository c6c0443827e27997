"""What EC2 lets the account have, and the training job that its cluster is for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from facts.capacity_blocks import Window


@dataclass(frozen=True)
class Allowances:
    """Quotas and capacity. Without any, EC2 gives what is asked for in every zone that offers the type."""

    vcpu_quotas: Mapping[str, int] = field(default_factory=dict)
    """On-demand vCPU by quota family (`Trn`, `Inf`, `Standard`); a family that is not named has no limit."""
    spot_vcpu_quotas: Mapping[str, int] = field(default_factory=dict)
    capacity: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Free instances by (type, zone id); a pair that is not named has no limit."""
    blocks: Mapping[str, Window] = field(default_factory=dict)
    """Capacity blocks in time, by reservation id; one that is not named is active at all times."""


@dataclass(frozen=True)
class Job:
    """The training job that the cluster is for."""

    toolchain: str | None = None
    """Toolchain of its image (`facts.toolchains`); without it nothing is known about its runtime."""
