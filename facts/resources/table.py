"""All resource types by their token, and everything that a cluster may leave."""

from collections.abc import Mapping

from facts.resources import (
    amp,
    autoscaling,
    balancing,
    batch,
    budgets,
    ec2_compute,
    ec2_network,
    ec2_security,
    ec2_tags,
    eks,
    eks_access,
    eks_nodes,
    events,
    fsx,
    iam,
    kms,
    kubernetes,
    logs,
    scheduler,
    sns,
    sqs,
)
from facts.resources.queries import Leftover, Lookup
from facts.resources.resource_type import Foreign, ResourceType

_SERVICES = (
    scheduler, events, batch, budgets, eks_nodes, eks_access, eks, ec2_security, ec2_network, ec2_tags, ec2_compute, fsx, amp, sns, sqs, logs,
    iam, kms, autoscaling, kubernetes,
)  # fmt: skip
TYPES: Mapping[str, ResourceType] = {item.token: item for service in _SERVICES for item in service.TYPES}
"""Every type that the simulated account knows, by its token."""
FOREIGN: tuple[Foreign, ...] = (*ec2_compute.FOREIGN, *fsx.FOREIGN, *balancing.FOREIGN, *iam.FOREIGN)
"""What no program here makes and a cluster may leave."""


def _swept() -> tuple[ResourceType | Foreign, ...]:
    found = [item for item in (*TYPES.values(), *FOREIGN) if isinstance(item.leftover, Leftover)]
    return tuple(sorted(found, key=lambda item: item.leftover.stage if isinstance(item.leftover, Leftover) else 0))


SWEPT: tuple[ResourceType | Foreign, ...] = _swept()
"""All kinds that a sweep finds, in the order in which they can be deleted: an object before those that it blocks."""


def absent_codes() -> frozenset[str]:
    """Every code by which a service says that there is no such object."""
    found = set[str]()
    for item in (*TYPES.values(), *FOREIGN):
        for part in (item.leftover, item.lookup if isinstance(item, ResourceType) else None):
            if isinstance(part, Leftover | Lookup):
                found |= {part.query.absent} | ({part.detail.query.absent} if part.detail else set())
    return frozenset(found - {""})
