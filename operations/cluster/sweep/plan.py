"""What a sweep would delete, in which order, and what it leaves: a value, made from what was found."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from operations.aws.found import CLUSTERS, KINDS, Found
from operations.errors import MISUSE, CommandError

DATA = frozenset(kind.name for kind in KINDS if kind.leftover.is_data)
"""Kinds that users make to keep: deleted only when asked for by name."""

_BY_KUBERNETES = (
    "CSIVolumeName", "ebs.csi.aws.com/cluster", "kubernetes.io/created-for/pv/name", "elbv2.k8s.aws/cluster", "karpenter.sh/nodepool",
    "eks:nodegroup-name", "node.k8s.amazonaws.com/instance_id", "kubernetes.io/service-name",
)  # fmt: skip
"""Tags of what controllers in a running cluster make and delete again: drivers, load balancer controllers, Karpenter, EKS, the CNI."""


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


def plan_sweep(found: Iterable[Found], keep_ids: Collection[str] = (), *, with_data: bool = False) -> SweepPlan:
    """Everything found is deleted, except what Pulumi's state holds, what a kept cluster's own controllers look after, and data.

    `keep_ids`: ids of the state; with none of them given, everything found is left over.
    """
    order = {kind.name: number for number, kind in enumerate(KINDS)}
    entries = sorted(found, key=lambda item: (order[item.kind], item.id))
    clusters = {item.id for item in entries if item.kind == CLUSTERS.name and item.id in keep_ids}
    deletions, kept = [], []
    for item in entries:
        why = _why_kept(item, keep_ids, bool(clusters), with_data)
        if why:
            kept.append((item, why))
        else:
            deletions.append(item)
    return SweepPlan(tuple(deletions), tuple(kept))


def _why_kept(item: Found, keep_ids: Collection[str], cluster_is_kept: bool, with_data: bool) -> str:
    if item.id in keep_ids:
        return "in Pulumi's state"
    if cluster_is_kept and item.because.startswith("in "):
        return "in the VPC of the cluster that is kept"
    if cluster_is_kept and _is_looked_after(item):
        return "looked after by the cluster that is kept"
    return "data: --backups deletes it too" if item.kind in DATA and not with_data else ""


def _is_looked_after(item: Found) -> bool:
    """What EKS made for the cluster, or a controller in it did."""
    return any(key in item.tags for key in _BY_KUBERNETES) or item.tags.get("aws:eks:cluster-name") is not None


def state_ids(export: Mapping[str, Any]) -> frozenset[str]:
    """Ids of all resources in what `pulumi stack export` prints, ARNs included.

    Raises ValueError where it is something else.
    """
    deployment = export.get("deployment")
    if not isinstance(deployment, Mapping):
        raise ValueError("there is no `deployment` in it")
    resources = deployment.get("resources") or ()
    ids = {resource["id"] for resource in resources if resource.get("id")}
    return frozenset(ids | {resource["outputs"]["arn"] for resource in resources if resource.get("outputs", {}).get("arn")})


def read_state(path: Path) -> frozenset[str]:
    """Ids in a file that `pulumi stack export` wrote. Raises CommandError."""
    hint = "write it with `pulumi stack export --stack NAME > state.json`"
    try:
        return state_ids(json.loads(path.read_text()))
    except OSError as error:
        raise CommandError(f"cannot read `{path}`: {error.strerror}", hint, code=MISUSE) from error
    except (ValueError, AttributeError) as error:
        raise CommandError(f"`{path}` is no Pulumi state: {error}", hint, code=MISUSE) from error


def refuse_living_cluster(plan: SweepPlan, stack: str) -> None:
    """Sweep is for what a destroy left: a cluster that is up is destroyed in order, or is an orphan by the state. Raises CommandError."""
    if any(item.kind == CLUSTERS.name and item.name == "ACTIVE" for item in plan.deletions):
        hint = (
            "run `pulumi destroy` first; where Pulumi's state no longer knows the cluster,"
            f" `pulumi stack export --stack {stack} > state.json`, then add --state state.json"
        )
        raise CommandError("the cluster is up: a sweep would tear it down without draining it", hint)
