"""Tags by which controllers in a cluster find the subnets that they may use.

Sources: AWS Load Balancer Controller docs, subnet discovery; Karpenter docs, NodeClasses, subnetSelectorTerms; read 2026-11.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

PUBLIC_ROLE, INTERNAL_ROLE, DISCOVERY = "kubernetes.io/role/elb", "kubernetes.io/role/internal-elb", "karpenter.sh/discovery"


@dataclass(frozen=True)
class SubnetTag:
    """One tag on one subnet."""

    subnet_id: str
    key: str
    value: str

    @property
    def short_name(self) -> str:
        """The last part of the key, for names."""
        return self.key.rsplit("/", 1)[-1]


def subnet_tags(
    public: Iterable[str], internal: Iterable[str], nodes: Iterable[str], cluster: str, *, karpenter: bool
) -> tuple[SubnetTag, ...]:
    """Tags that controllers look for on these subnets: of load balancers that face the internet, of internal ones, and of nodes.

    Karpenter's discovery tag holds the cluster's name: a subnet has it for one cluster only. The stack's own node classes name
    subnets by id; the tag is for classes that users write.
    """

    def found() -> Iterator[SubnetTag]:
        yield from (SubnetTag(subnet, PUBLIC_ROLE, "1") for subnet in public)
        yield from (SubnetTag(subnet, INTERNAL_ROLE, "1") for subnet in internal)
        if karpenter:
            yield from (SubnetTag(subnet, DISCOVERY, cluster) for subnet in nodes)

    return tuple(dict.fromkeys(found()))
