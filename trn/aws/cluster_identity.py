"""Whose a cluster is: an identity that no second cluster shares, read from Pulumi's state and from the account, and where the two differ."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

from facts.names import CLUSTER_TAG, STACK_TAG
from facts.resources.ec2_network import VPC
from facts.resources.eks import CLUSTER_TYPE


@dataclass(frozen=True)
class ClusterIdentity:
    """What tells one cluster from every other. A part that is not known is empty, and is equal to no other."""

    account: str = ""
    """Twelve digits."""
    region: str = ""
    cluster_arn: str = ""
    created_at: str = ""
    """When EKS made the cluster, UTC, to the second: a second cluster of the same name has the same ARN."""
    vpc_id: str = ""
    stack: str = ""
    """Organization, project and stack, as in the tag `trn:stack`."""

    def lines(self) -> list[str]:
        """As users read it, a part on each line."""
        return [f"{TITLES[name]:<11}{value or 'none'}" for name, value in vars(self).items()]

    def words(self) -> str:
        """What is known of it, in one line."""
        return ", ".join(f"{TITLES[name]} {value}" for name, value in vars(self).items() if value) or "no more is known of it"


TITLES: Mapping[str, str] = {
    "account": "account", "region": "region", "cluster_arn": "cluster", "created_at": "created", "vpc_id": "VPC", "stack": "stack",
}  # fmt: skip
"""Words for the parts, in the order in which they are shown."""
assert list(TITLES) == [field.name for field in fields(ClusterIdentity)]


def differences(own: ClusterIdentity, seen: ClusterIdentity, *, unfinished: bool = False) -> list[str]:
    """A sentence for each part in which the account shows another cluster than the state holds; empty where they are the same one.

    Where the account has no cluster, ARN and creation time are not compared: one that is deleted has no owner. `unfinished`: a run
    was killed while it made the cluster, so that the state has no ARN yet; then VPC and stack decide, and must both be known.
    """
    skipped: set[str] = set()
    if not seen.cluster_arn:
        skipped |= {"cluster_arn", "created_at", *(() if seen.vpc_id else ("vpc_id", "stack"))}
    elif unfinished and not own.cluster_arn and own.stack:
        skipped |= {"cluster_arn", "created_at"}
    if not (own.region or own.cluster_arn or own.vpc_id):
        # A destroy that was stopped near its end may leave roles only, whose ARNs name no region.
        skipped.add("region")
    return [
        f"{title}: Pulumi's state has {getattr(own, name) or 'none'}, the account {getattr(seen, name) or 'none'}"
        for name, title in TITLES.items()
        if name not in skipped and not _same(name, own, seen)
    ]


def _same(name: str, own: ClusterIdentity, seen: ClusterIdentity) -> bool:
    mine, theirs = getattr(own, name), getattr(seen, name)
    # A cluster of a release without the tag has none on either side; its ARN, creation time and VPC still decide.
    return mine == theirs and (bool(mine) or name == "stack")


def moment(value: Any) -> str:
    """A time as EKS, or the provider in the state, writes it: UTC, to the second. Empty for what is no time.

    The provider has written both RFC 3339 and Go's own form, `2026-01-01 00:00:00.12 +0000 UTC` (hashicorp/terraform-provider-aws).
    """
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    text = str(value or "").removesuffix(" UTC").replace(" +0000", "+00:00").replace("Z", "+00:00").replace(" ", "T", 1)
    whole, point, rest = text.partition(".")
    zone = rest.lstrip("0123456789") if point else ""
    try:
        return moment(datetime.fromisoformat(whole + zone))
    except ValueError:
        return ""


def arn_parts(arn: str) -> tuple[str, str]:
    """Account and region in an ARN; both empty for what is none."""
    parts = arn.split(":", 5)
    return (parts[4], parts[3]) if len(parts) == 6 and parts[0] == "arn" else ("", "")


def of_state(resources: Sequence[Mapping[str, Any]], cluster: str) -> ClusterIdentity | None:
    """The identity of a cluster in the resources of a state; None where nothing in it is this cluster's.

    It is read from the resources and not from the stack's outputs, which a run that failed never wrote.
    """
    own = list(_own(resources, cluster))
    if not own:
        return None
    made = next((outputs for kind, _, outputs in own if kind == CLUSTER_TYPE.token), {})
    arns = [arn_parts(str(outputs.get("arn", ""))) for _, _, outputs in own]
    network = [which for kind, which, _ in own if kind == VPC.token]
    return ClusterIdentity(
        account=next((account for account, _ in arns if account), ""),
        region=next((region for _, region in arns if region), ""),
        cluster_arn=str(made.get("arn", "")),
        created_at=moment(made.get("createdAt")),
        vpc_id=network[0] if len(network) == 1 else str((made.get("vpcConfig") or {}).get("vpcId", "")) or _named_vpc(own),
        stack=next((tags[STACK_TAG] for _, _, outputs in own if STACK_TAG in (tags := _tags(outputs))), ""),
    )


def clusters_of(resources: Sequence[Mapping[str, Any]], under_way: Sequence[Mapping[str, Any]] = ()) -> dict[str, ClusterIdentity]:
    """Every cluster that a state holds, or was making, by its name.

    Where it holds none, a run ended before it made one, or after it was deleted: then by the name that the resources carry in their
    tags, and where none of them has tags, by the one that the component over all of them was made with.
    """
    # What is `external` was read, and others keep it; what waits to be deleted was replaced, and the cluster is the other one.
    live = [each for each in resources if not each.get("external") and not each.get("delete")]
    begun = [each["resource"] for each in under_way if each.get("type") == "creating"]
    names = {each["id"] for each in live if each.get("type") == CLUSTER_TYPE.token and each.get("id")}
    names |= {each["inputs"]["name"] for each in begun if each.get("type") == CLUSTER_TYPE.token and (each.get("inputs") or {}).get("name")}
    names = names or {tags[CLUSTER_TAG] for each in live if each.get("id") and CLUSTER_TAG in (tags := _tags(each.get("outputs") or {}))}
    names = names or {name for each in live if not each.get("custom") and (name := (each.get("inputs") or {}).get("clusterName"))}
    return {name: of_state(resources, name) or ClusterIdentity() for name in sorted(names)}


def doomed_clusters(resources: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """Names of the clusters that were replaced, and that the next run deletes."""
    return frozenset(each["id"] for each in resources if each.get("delete") and each.get("type") == CLUSTER_TYPE.token and each.get("id"))


def _named_vpc(own: Iterable[tuple[str, str, Mapping[str, Any]]]) -> str:
    """The VPC that all of the cluster's resources lie in: of a network that others keep the state has no more than that."""
    named = {str(outputs["vpcId"]) for _, _, outputs in own if outputs.get("vpcId")}
    return named.pop() if len(named) == 1 else ""


def _own(resources: Sequence[Mapping[str, Any]], cluster: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Type, id and outputs of what carries the cluster's tag, and of the cluster itself."""
    for resource in resources:
        outputs = resource.get("outputs") or {}
        # What waits to be deleted was replaced: the cluster is the other one.
        if resource.get("delete") or not resource.get("id"):
            continue
        kind = resource.get("type", "")
        named = kind == CLUSTER_TYPE.token and resource["id"] == cluster
        if named or _tags(outputs).get(CLUSTER_TAG) == cluster:
            yield kind, resource["id"], outputs


def _tags(outputs: Mapping[str, Any]) -> Mapping[str, str]:
    found = outputs.get("tagsAll") or outputs.get("tags")
    return found if isinstance(found, Mapping) else {}


def of_account(
    account: str, region: str, entry: Mapping[str, Any] | None, vpcs: Mapping[str, Mapping[str, str]], own: ClusterIdentity | None
) -> ClusterIdentity:
    """The identity of what is in an account.

    `entry`: what DescribeCluster answered, None where there is no cluster. Then a VPC with the cluster's tag stands for it: the
    state's own where the state, `own`, has one. `vpcs`: the tags of those VPCs, by id.
    """
    if entry is not None:
        tags = entry.get("tags") or {}
        vpc_id = str((entry.get("resourcesVpcConfig") or {}).get("vpcId", ""))
        return ClusterIdentity(account, region, entry["arn"], moment(entry.get("createdAt")), vpc_id, tags.get(STACK_TAG, ""))
    chosen = [which for which in sorted(vpcs) if own is None or which == own.vpc_id]
    return (
        ClusterIdentity(account, region, vpc_id=chosen[0], stack=vpcs[chosen[0]].get(STACK_TAG, ""))
        if chosen
        else ClusterIdentity(account, region)
    )
