"""The account that a cluster is made in: what EC2 lets it have. And the job that the cluster is for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

SEEN_QUOTAS: Mapping[str, int] = {"Trn": 256, "Inf": 64, "Standard": 64}
"""On-demand vCPU quotas as one account had them (Service Quotas, six regions, 2026-10-03; Standard inferred). New accounts have less."""
SEEN_SPOT_QUOTAS: Mapping[str, int] = {"Trn": 256, "Inf": 64, "Standard": 64}


@dataclass(frozen=True)
class Account:
    """Limits of the account. Without any, EC2 gives what is asked where the type is offered at all."""

    vcpu_quotas: Mapping[str, int] = field(default_factory=dict)
    """On-demand vCPU by quota family (`Trn`, `Inf`, `Standard`); a family that is not named has no limit."""
    spot_vcpu_quotas: Mapping[str, int] = field(default_factory=dict)
    capacity: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Instances that are there by (type, zone id); a pair that is not named has no limit."""


@dataclass(frozen=True)
class Job:
    """The training job that the cluster is for."""

    neuron_sdk: str | None = None
    """Neuron SDK release of its image; without it nothing is known about its runtime."""
