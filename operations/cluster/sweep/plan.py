"""What a sweep would delete, in which order, and what it leaves: a value, made from what was found."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from operations.aws.found import CLUSTERS, KINDS, Found, kind_named
from operations.belonging import Owner

_BY_KUBERNETES = (
    "CSIVolumeName", "ebs.csi.aws.com/cluster", "kubernetes.io/created-for/pv/name", "elbv2.k8s.aws/cluster", "karpenter.sh/nodepool",
    "eks:nodegroup-name", "node.k8s.amazonaws.com/instance_id", "kubernetes.io/service-name",
)  # fmt: skip
"""Tags of what controllers in a running cluster make and delete again: drivers, load balancer controllers, Karpenter, EKS, the CNI."""
INSTANCE_TAG = "node.k8s.amazonaws.com/instance_id"
"""The VPC CNI's mark on an interface: the instance that it was made for (aws/amazon-vpc-cni-k8s pkg/awsutils)."""
IN_STATE, IN_ITS_VPC = "in Pulumi's state", "in the VPC of the cluster that is kept"
LOOKED_AFTER = "looked after by the cluster that is kept"
PARTS_OF_VPC = frozenset(("VPC", "subnet", "route table", "internet gateway", "NAT gateway", "VPC endpoint"))
"""Kinds that make up a network: in a VPC that others keep the program makes none of them, whatever the tags say."""
_ORDER = {kind.name: number for number, kind in enumerate(KINDS)}


@dataclass(frozen=True)
class SweepPlan:
    """What would be deleted, first to last, and what is left alone."""

    deletions: tuple[Found, ...]
    kept: tuple[tuple[Found, str], ...] = ()
    """With the reason."""

    @property
    def usd_per_day(self) -> float:
        """What the deletions cost a day, as far as prices are known."""
        return round(sum(found.usd_per_day or 0 for found in self.deletions), 2)

    def new_since(self, confirmed: "SweepPlan") -> tuple[Found, ...]:
        """Deletions that are not in the plan that was confirmed, nor follow from what is in it."""
        keys = {found.key for found in confirmed.deletions}
        ids = {found.id for found in confirmed.deletions}
        # An interface of a node is free, and so listed, only once its node is gone.
        return tuple(found for found in self.deletions if found.key not in keys and found.tags.get(INSTANCE_TAG) not in ids)


@dataclass(frozen=True)
class Keeping:
    """What a sweep leaves alone."""

    owner: Owner | None = None
    """Whose objects it is for. Without one, a list that nothing is deleted by, everything with the cluster's name is shown."""
    ids: frozenset[str] = frozenset()
    """What Pulumi's state holds, ARNs among it."""
    data: frozenset[str] = frozenset()
    """Kinds of data, such as `volumes`, and ids of data that are deleted all the same."""

    def reason(self, item: Found, *, cluster_is_kept: bool) -> str:
        """Why an object is kept; empty where it is deleted."""
        objection = self.owner.objection(item) if self.owner else ""
        if objection:
            return objection
        if self.owner and item.kind in PARTS_OF_VPC and item.vpc_id in self.owner.used_vpc_ids:
            return f"part of {item.vpc_id}, which others keep"
        if item.id in self.ids:
            return IN_STATE
        if cluster_is_kept and item.because.startswith("in "):
            return IN_ITS_VPC
        if cluster_is_kept and _is_looked_after(item):
            return LOOKED_AFTER
        return (
            ""
            if not is_data(item) or self.data & {item.id, *_names(item.kind)}
            else f"data: --data {item.kind.replace(' ', '-')}s deletes it too"
        )


def is_data(item: Found) -> bool:
    """Whether users made it to keep: a backup, or what a PersistentVolume stands for, whose reclaim policy cannot be looked up any more."""
    leftover = kind_named(item.kind).leftover
    return leftover.is_data or any(tag in item.tags for tag in leftover.data_tags)


def _names(kind: str) -> set[str]:
    return {kind, f"{kind}s", kind.replace(" ", "-"), f"{kind.replace(' ', '-')}s"}


DATA_NAMES = frozenset(
    f"{kind.name.replace(' ', '-')}s" for kind in KINDS if kind.leftover.is_data or kind.leftover.data_tags
)  # fmt: skip
"""Kinds that `--data` takes."""


def plan_sweep(found: Iterable[Found], keeping: Keeping) -> SweepPlan:
    """Everything found is deleted, except what is another owner's, what Pulumi's state holds, what a kept cluster's own controllers
    look after, and data.
    """
    entries = sorted(found, key=lambda item: (_ORDER[item.kind], item.id))
    cluster_is_kept = any(item.kind == CLUSTERS.name and item.id in keeping.ids for item in entries)
    deletions, kept = list[Found](), list[tuple[Found, str]]()
    for item in entries:
        why = keeping.reason(item, cluster_is_kept=cluster_is_kept)
        if why:
            kept.append((item, why))
        else:
            deletions.append(item)
    return SweepPlan(tuple(deletions), tuple(kept))


def _is_looked_after(item: Found) -> bool:
    """What EKS made for the cluster, or a controller in it did."""
    return any(key in item.tags for key in _BY_KUBERNETES) or item.tags.get("aws:eks:cluster-name") is not None


def wrong_data(names: Collection[str]) -> list[str]:
    """Names given as data that are neither a kind nor look like an id."""
    return [name for name in names if name not in DATA_NAMES and not any(mark in name for mark in "-/:")]
