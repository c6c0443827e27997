"""What a sweep would delete, in which order, and what it leaves: a value, made from what was found."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from facts.names import CLUSTER_TAG, STACK_TAG
from facts.resources.queries import Leftover, Stage
from trn.aws.leftovers import CLUSTERS, KINDS, Found, birth, kind_named
from trn.aws.owner_tags import Owner
from trn.change.ownership import DELETING, FAILED

_BY_KUBERNETES = (
    "CSIVolumeName", "ebs.csi.aws.com/cluster", "kubernetes.io/created-for/pv/name", "elbv2.k8s.aws/cluster", "karpenter.sh/nodepool",
    "eks:nodegroup-name", "node.k8s.amazonaws.com/instance_id", "kubernetes.io/service-name",
)  # fmt: skip
"""Tags of what controllers in a running cluster make and delete again: drivers, load balancer controllers, Karpenter, EKS, the CNI."""
INSTANCE_TAG = "node.k8s.amazonaws.com/instance_id"
"""The VPC CNI's mark on an interface: the instance that it was made for (aws/amazon-vpc-cni-k8s pkg/awsutils)."""
IN_STATE, IN_ITS_VPC = "in Pulumi's state", "in the VPC of the cluster that is kept"
LOOKED_AFTER = "looked after by the cluster that is kept"
OF_KEPT, USED_BY_KEPT = "belongs to the cluster that is kept", "used by the cluster that is kept"
WITH_CLUSTER = frozenset((IN_ITS_VPC, LOOKED_AFTER, OF_KEPT, USED_BY_KEPT))
"""Reasons by which something stays for as long as its cluster does."""
UNKNOWN = "the state in the file may be an old one, and today's may hold it"
PARTS_OF_VPC = frozenset(("VPC", "subnet", "route table", "internet gateway", "NAT gateway", "VPC endpoint"))
"""Kinds that make up a network: in a VPC that others keep the program makes none of them, whatever the tags say."""
ROLES, _ADDRESSES = kind_named("role").name, kind_named("address").name
_IN_USE = frozenset(kind_named(name).name for name in ("EKS cluster", "node group", "instance", "file system"))
"""What does work or holds data for as long as it lives."""
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


@dataclass(frozen=True)
class Keeping:
    """What a sweep leaves alone."""

    owner: Owner | None = None
    """Whose objects it is for. Without one, a list that nothing is deleted by, everything with the cluster's name is shown."""
    ids: frozenset[str] = frozenset()
    """What Pulumi's state holds, ARNs among it."""
    data: frozenset[str] = frozenset()
    """Kinds of data, such as `volumes`, and ids of data that are deleted all the same."""
    unknown_since: str | None = None
    """The time of a state after which nothing is known of the stack; None where today's state is known. What lives, or was made later,
    may be in today's."""
    role_users: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Names of the clusters of the region that use a role, by its name."""

    def reason(self, item: Found, cluster: Found | None) -> str:
        """Why an object is kept; empty where it is deleted. `cluster`: the cluster where it is kept."""
        objection = self.owner.objection(item) if self.owner else ""
        if objection:
            return objection
        if self.owner and item.kind in PARTS_OF_VPC and item.vpc_id in self.owner.used_vpc_ids:
            return f"part of {item.vpc_id}, which others keep"
        if item.id in self.ids:
            return IN_STATE
        if item.kind == CLUSTERS.name and self.owner and is_up(item):
            return f"the cluster is up ({item.name})"
        reason = self._of_kept(item, cluster) if cluster is not None else ""
        reason = reason or self._users(item, cluster) or self._named_only(item) or self._unknown(item)
        if reason:
            return reason
        return (
            ""
            if not is_data(item) or self.data & {item.id, *_names(item.kind)}
            else f"data: --data {item.kind.replace(' ', '-')}s deletes it too"
        )

    def _of_kept(self, item: Found, cluster: Found) -> str:
        """Why something belongs to a cluster that is kept: all does but what its stack made before, and outside of its VPC."""
        stage, made, own_vpcs = _leftover(item).stage, birth(item.entry), self.owner.vpc_ids if self.owner else frozenset()
        if item.vpc_id and item.vpc_id == cluster.vpc_id:
            return IN_ITS_VPC
        if _is_looked_after(item):
            return LOOKED_AFTER
        # Of what has no birth, an address or a network of a run that was killed is told by its VPC and by what uses it.
        is_older = made < birth(cluster.entry) if made else item.kind == _ADDRESSES or Stage.IN_NETWORK < stage < Stage.OUTSIDE
        is_own = STACK_TAG in item.tags or item.vpc_id in own_vpcs
        is_part = item.is_by_name or stage in (Stage.JOBS, Stage.NODES, Stage.CONTROL_PLANE)
        return "" if is_own and is_older and cluster.vpc_id and not is_part else OF_KEPT

    def _users(self, item: Found, cluster: Found | None) -> str:
        """Why a role is kept: a cluster that is not being deleted with it uses it."""
        users = self.role_users.get(item.id, frozenset()) if item.kind == ROLES else frozenset[str]()
        if self.owner and self.owner.has_name and cluster is None:
            users -= {self.owner.cluster}
        return f"cluster {', '.join(sorted(users))} uses it" if users else ""

    def _named_only(self, item: Found) -> str:
        """Why something that goes by its exact name is kept: it was there before the cluster, or somebody marked it as another's."""
        if not self.owner or _leftover(item).belongs != "exact name" or STACK_TAG in item.tags:
            return ""
        marks = sorted(f"{key}={value}" for key, value in item.tags.items() if not key.startswith("aws:"))
        if marks and CLUSTER_TAG not in item.tags:
            return f"tagged {marks[0]}, and no tag {STACK_TAG} says that this stack made it"
        made = birth(item.entry)
        return f"made {made}, before the cluster" if made and made < self.owner.since else ""

    def _unknown(self, item: Found) -> str:
        """Why something is kept where today's state is not known: it is in use, or younger than what is known."""
        if self.unknown_since is None:
            return ""
        made = birth(item.entry)
        is_younger = bool(made) and not (self.unknown_since and made < self.unknown_since)
        lives = item.kind in _IN_USE and not item.going
        return UNKNOWN if lives or is_younger else ""


def is_up(cluster: Found) -> bool:
    """Whether an EKS cluster is neither being deleted nor what a failed creation left. Its name is EKS's word for its status."""
    return cluster.name not in (DELETING, FAILED)


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
    """Everything found is deleted, except what is another owner's, what Pulumi's state holds, a cluster that is up and all that belongs
    to a cluster that is kept, and data.
    """
    entries = sorted(found, key=lambda item: (_ORDER[item.kind], item.id))
    own = [item for item in entries if item.kind == CLUSTERS.name and not (keeping.owner and keeping.owner.objection(item))]
    cluster = next((item for item in own if keeping.reason(item, None)), None)
    reasons = [keeping.reason(item, cluster) for item in entries]
    while cluster is not None and (used := list(_used(entries, reasons))):
        for number in used:
            reasons[number] = USED_BY_KEPT
    return SweepPlan(
        tuple(item for item, why in zip(entries, reasons, strict=True) if not why),
        tuple((item, why) for item, why in zip(entries, reasons, strict=True) if why),
    )


def _used(entries: Sequence[Found], reasons: Sequence[str]) -> Iterator[int]:
    """Numbers of what would be deleted, and is named in the description of what stays with the cluster or is in the state."""
    named = {
        text for item, why in zip(entries, reasons, strict=True) if why in WITH_CLUSTER or why == IN_STATE for text in _texts(item.entry)
    }
    ends = named | {part for text in named if text.startswith("arn:") for part in (text.rpartition("/")[2], text.rpartition(":")[2])}
    for number, (item, why) in enumerate(zip(entries, reasons, strict=True)):
        if not why and item.id in ends:
            yield number


def _texts(value: Any) -> Iterator[str]:
    """All texts of a description, however deep."""
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        yield from _texts(each)


def _leftover(item: Found) -> Leftover:
    return kind_named(item.kind).leftover


def _is_looked_after(item: Found) -> bool:
    """What EKS made for the cluster, or a controller in it did."""
    return any(key in item.tags for key in _BY_KUBERNETES) or item.tags.get("aws:eks:cluster-name") is not None


def wrong_data(names: Collection[str]) -> list[str]:
    """Names given as data that are neither a kind nor look like an id."""
    return [name for name in names if name not in DATA_NAMES and not any(mark in name for mark in "-/:")]
