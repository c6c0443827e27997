"""Finds the cluster that is to be taken over, and refuses what is none, or is ours already."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from botocore.exceptions import ClientError

from facts.catalogue import NEURON_TYPES
from facts.names import CLUSTER_NAME, CLUSTER_NAME_WORDS, CLUSTER_TAG, STACK_TAG
from facts.regions import REGIONS, near_regions, zone_id_prefix
from facts.typed import typed
from trn.aws.api import Api, tags_of
from trn.aws.eks import described
from trn.aws.errors import code_of
from trn.aws.other_cluster import OtherCluster, cluster_names, clusters_with_role, read_cluster
from trn.cli.errors import MISUSE, CommandError

_NOT_ENABLED = frozenset({"UnrecognizedClientException", "InvalidClientTokenId", "AuthFailure"})
"""What services of a region say that the account has not enabled: it has no cluster there."""
_CLOSED = "AccessDeniedException"
"""What they say where a policy closes the region, whatever it has."""


@dataclass(frozen=True)
class Found:
    """The cluster, and where nobody can say whether others have its role."""

    cluster: OtherCluster
    closed: tuple[str, ...] = ()
    """Regions."""


def neuron_regions() -> tuple[str, ...]:
    """Regions in which a Neuron instance type was seen."""
    zones = {zone.partition("-")[0] for kind in NEURON_TYPES.values() for zone in kind.offered_zone_ids}
    named = {region for kind in NEURON_TYPES.values() for region in kind.offered_regions}
    return tuple(region for region in REGIONS if region in named or zone_id_prefix(region) in zones)


def region_of(name: str, region: str, api_in: Callable[[str], Api]) -> str:
    """Where the cluster of this name is. `region`: as it was given; empty looks in all regions with Neuron instances.

    Raises CommandError where there is none, and where there are two.
    """
    if region and region not in REGIONS:
        near = near_regions(region)
        raise CommandError(f"there is no region `{region}`", f"did you mean `{near[0]}`?" if near else "such as us-west-2", code=MISUSE)
    if region:
        return region
    answers = {each: _is_in(name, each, api_in) for each in neuron_regions()}
    places = [each for each, is_there in answers.items() if is_there]
    if len(places) > 1:
        wrong = f"there are {len(places)} clusters named {name}, in {', '.join(places)}"
        raise CommandError(wrong, f"add --region {places[0]}, or another of these", code=MISUSE)
    if not places:
        closed = [each for each, is_there in answers.items() if is_there is None]
        asked = [each for each in answers if each not in closed]
        refused = f"; {', '.join(closed)} cannot be looked at: access is denied" if closed else ""
        raise CommandError(f"there is no cluster {name} in {', '.join(asked)}{refused}", "name its region with --region", code=MISUSE)
    return places[0]


def found_in(name: str, region: str, api_in: Callable[[str], Api]) -> Found:
    """The cluster of this name in a region. Raises CommandError where there is none, and where it cannot be taken over at all."""
    entry = described(api_in(region), name)
    if entry is None:
        raise _not_found(name, region, api_in)
    # Before the rest is read: clusters of other kinds, and those that are not finished, lack what the rest is found by.
    refuse(name, entry)
    found = read_cluster(api_in(region), name)
    if found is None:
        raise _not_found(name, region, api_in)
    users, closed = _users_elsewhere(found, api_in)
    return Found(replace(found, role_users=(*found.role_users, *users)), tuple(closed))


def _users_elsewhere(found: OtherCluster, api_in: Callable[[str], Api]) -> tuple[list[str], list[str]]:
    """Clusters of other regions whose control plane has the same role, with the region: IAM's roles are of the whole account. And the
    regions that a policy closes."""
    users, closed = list[str](), list[str]()
    for region in neuron_regions():
        if region == found.region:
            continue
        try:
            users += [f"{each} in {region}" for each in clusters_with_role(api_in(region), str(found.entry["roleArn"]))]
        except ClientError as error:
            if code_of(error) == _CLOSED:
                closed.append(region)
            elif code_of(error) not in _NOT_ENABLED:
                raise
    return users, closed


def _is_in(name: str, region: str, api_in: Callable[[str], Api]) -> bool | None:
    """None where a policy closes the region."""
    try:
        return described(api_in(region), name) is not None
    except ClientError as error:
        if code_of(error) == _CLOSED:
            return None
        if code_of(error) in _NOT_ENABLED:
            return False
        raise


def _not_found(name: str, region: str, api_in: Callable[[str], Api]) -> CommandError:
    here = cluster_names(api_in(region))
    known = f"clusters there: {', '.join(here)}" if here else f"there is no cluster at all in {region}"
    return CommandError(
        f"there is no cluster {name} in {region}", f"{known}; without --region all regions with Neuron instances are looked at", code=MISUSE
    )


def refuse(name: str, entry: Mapping[str, Any]) -> None:
    """Pass a cluster that may be taken over. `entry`: as EKS describes it. Raises CommandError with why not, and what to do."""
    tags = tags_of(entry, "tags")
    if CLUSTER_TAG in tags:
        owner = tags.get(STACK_TAG, "a stack of this program")
        stack = owner.rsplit("/", 1)[-1]
        raise CommandError(
            f"cluster {name} was made by {owner}: there is nothing to take over",
            f"`{typed(f'trn status {stack}')}` shows it; `{typed(f'trn recover {stack}')}` imports what its state has lost",
        )
    if not re.fullmatch(CLUSTER_NAME, name):
        raise CommandError(
            f"cluster {name} has a name that the program cannot give: {CLUSTER_NAME_WORDS}", f"EKS renames no cluster: {_BESIDE}"
        )
    kind = next((what for key, is_other, what in _OTHER_KINDS if is_other(entry.get(key) or {})), "")
    if kind:
        raise CommandError(f"cluster {name} {kind}", _BESIDE)
    status = entry.get("status", "ACTIVE")
    if status != "ACTIVE":
        raise CommandError(f"cluster {name} is {status}", _UNFINISHED.get(status, "run this again once it is ACTIVE"))


_BESIDE = "make a new one beside it with `trn init`, in the same VPC by `network.existing`"
_OTHER_KINDS: tuple[tuple[str, Callable[[Mapping[str, Any]], bool], str], ...] = (
    ("connectorConfig", bool, "runs outside of EKS, and is only registered there: it has no control plane to take over"),
    ("outpostConfig", bool, "is on an Outpost, where there are no Neuron instances"),
    ("computeConfig", lambda found: bool(found.get("enabled")), "is in Auto Mode: EKS makes its nodes and add-ons, and the program's would take their place"),
    ("kubernetesNetworkConfig", lambda found: found.get("ipFamily") == "ipv6", "gives pods IPv6 addresses, which EKS keeps for its life; the program plans those of IPv4"),
    ("remoteNetworkConfig", bool, "has hybrid nodes outside of AWS, which the program does not know and would cut off"),
)  # fmt: skip
"""Member of EKS's description, whether it tells another kind of cluster, and the rest of a sentence that begins with its name
(EKS API, Cluster; read 2026-11)."""
_UNFINISHED = {
    "FAILED": "EKS never finished it, and repairs none: delete it with the tool that made it",
    "DELETING": "there is nothing left to take over",
}
