"""Where objects of a cluster are looked for, and the look."""

from collections.abc import Collection, Iterator

from facts.names import CLUSTER_TAG
from trn.aws.api import Api, tags_of
from trn.aws.eks import described
from trn.aws.leftovers import KINDS, Found, Kind, Place
from trn.aws.network import cluster_vpcs
from trn.cli.errors import CommandError


def place_of(api: Api, cluster: str) -> Place:
    """Where to look for a cluster's objects: in its VPCs too, by their tags.

    Raises CommandError where an EKS cluster has the name and is not this program's: its controllers mark their objects with it.
    """
    entry = described(api, cluster)
    if entry is not None and tags_of(entry, "tags").get(CLUSTER_TAG) != cluster:
        wrong = f"there is an EKS cluster `{cluster}` in {api.region} that lacks the tag {CLUSTER_TAG}={cluster}: it is not this program's"
        raise CommandError(wrong, "nothing was looked for; give the stack another `trn:name`")
    return Place(cluster, frozenset(cluster_vpcs(api, cluster)))


def look(api: Api, place: Place, kinds: Collection[Kind] = KINDS) -> Iterator[Found]:
    """Everything of the kinds that carries the cluster's name, or lies in its VPC."""
    for kind in kinds:
        yield from kind.find(api, place)
