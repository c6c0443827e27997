"""From a cluster that others made to the stack file that describes it: pure, nothing is asked."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from addons.versions import SUPPORTED_KUBERNETES
from facts.address_blocks import why_closed
from facts.catalogue import CORE_TYPES, NEURON_TYPES
from facts.external.network import NetworkDescription
from facts.names import CONTROL_PLANE_ROLE, NODE_GROUP_NAME_LIMIT, RESERVED_TAG_PREFIXES
from facts.neuron_releases import NEURON_AMI_TYPE, NEWEST_DRIVER, RELEASE_PATTERN, version_text
from facts.regions import CONTROL_PLANE_REFUSED_ZONES
from facts.resources.queries import VOLUME_TAGS
from facts.resources.rights import role_of
from facts.typed import typed
from stacks.rules.node_groups import OWN_LABELS, is_reserved
from stacks.settings import CORE_ZONE_COUNT, LOG_RETENTION_DAYS
from trn.aws.api import tags_of
from trn.aws.other_cluster import GROUP_TAG, Entry, OtherCluster

EXAMPLE_BLOCK = "203.0.113.0/24"
"""Of the block that is kept for documentation: a rehearsal takes it, `pulumi up` refuses it."""
MOST_ZONES = 4
"""Longest `network.zones`."""
_SUFFIX = re.compile(r"-\d{14,}[0-9a-f]*$")
"""What Terraform appends to a name that is given as a prefix: a time and a counter (hashicorp/terraform-plugin-sdk helper/id)."""
_PUBLIC_ROLE, _INTERNAL_ROLE = "kubernetes.io/role/elb", "kubernetes.io/role/internal-elb"
_DRAWN_POLICIES = ("AmazonEKSClusterAdminPolicy", "AmazonEKSAdminPolicy", "AmazonEKSEditPolicy", "AmazonEKSViewPolicy")


@dataclass
class Draft:
    """A stack's configuration, and what the reader of the file must know."""

    configuration: dict[str, Any]
    """Keys without namespace."""
    notes: list[str] = field(default_factory=list)
    """What differs from the cluster as it is, one sentence each."""
    groups: dict[str, str] = field(default_factory=dict)
    """Node group of EKS to the group of the stack that is made beside it."""


def draft_of(other: OtherCluster, caller: str = "") -> Draft:
    """The stack that describes the cluster. `caller`: ARN of the principal that asks, which gets no access entry of its own."""
    draft = Draft({"name": other.name, "region": other.region})
    zones = _zones(other)
    draft.configuration |= {
        "network": {"zones": list(zones), "existing": _existing(other, zones)},
        "controlPlane": _control_plane(other, draft, caller),
        **_groups(other, zones, draft),
        "storage": {"lustre": _lustre(other, draft)},
    }
    if other.role_users:
        draft.configuration["iam"] = {"roles": {CONTROL_PLANE_ROLE: other.entry["roleArn"]}}
        draft.notes.append(
            f"the role of the control plane is that of {', '.join(other.role_users)} as well: the stack uses it, and never changes or deletes it (iam.roles)"
        )
    elif other.role_path != "/":
        draft.configuration["iam"] = {"path": other.role_path}
        draft.notes.append(f"the role of the control plane is below {other.role_path}: with iam.path all roles of the stack are")
    return draft


def _zones(other: OtherCluster) -> dict[str, str]:
    """Zone id to the nodes' subnet in it: that of a Neuron group first, then those of other groups, then of the control plane."""
    network, found = other.network, {}
    by_rank = sorted(other.node_groups, key=lambda group: not _neuron_type(other, group))
    candidates = [subnet for group in by_rank for subnet in sorted(group.get("subnets", ()), key=lambda each: _is_public(network, each))]
    candidates += sorted(other.entry["resourcesVpcConfig"]["subnetIds"], key=lambda each: _is_public(network, each))
    for subnet_id in candidates:
        if subnet_id in network.subnets:
            found.setdefault(network.subnets[subnet_id].zone_id, subnet_id)
    return dict(list(found.items())[:MOST_ZONES])


def _is_public(network: NetworkDescription, subnet_id: str) -> bool:
    route = network.default_route(subnet_id) if subnet_id in network.subnets else None
    return route is not None and route.target.startswith("igw-")


def _existing(other: OtherCluster, nodes: Mapping[str, str]) -> dict[str, Any]:
    network = other.network
    plane: dict[str, str] = {}
    for subnet_id in sorted(other.entry["resourcesVpcConfig"]["subnetIds"], key=lambda each: _is_public(network, each)):
        zone_id = network.subnets[subnet_id].zone_id
        if zone_id not in CONTROL_PLANE_REFUSED_ZONES:
            plane.setdefault(zone_id, subnet_id)
    found: dict[str, Any] = {"vpcId": network.vpc_id, "nodes": dict(nodes), "controlPlane": plane}
    for key, role in (("loadBalancers", _PUBLIC_ROLE), ("internalLoadBalancers", _INTERNAL_ROLE)):
        tagged: dict[str, str] = {}
        for subnet_id, subnet in sorted(network.subnets.items()):
            if role in subnet.tags:
                tagged.setdefault(subnet.zone_id, subnet_id)
        if tagged:
            found[key] = tagged
    return found


def _control_plane(other: OtherCluster, draft: Draft, caller: str) -> dict[str, Any]:
    entry, version = other.entry, str(other.entry["version"])
    made: dict[str, Any] = {"kubernetesVersion": _version(version, draft)}
    if not other.role_users:
        made["roleName"] = role_of(entry["roleArn"])
    if (entry.get("upgradePolicy") or {}).get("supportType") == "EXTENDED":
        made["supportType"] = "EXTENDED"
    made |= _endpoint(entry["resourcesVpcConfig"], draft)
    made |= _access(other, draft, caller)
    made |= _logs(other, draft)
    keys = [each["provider"]["keyArn"] for each in entry.get("encryptionConfig") or ()]
    if keys:
        made["encryptionKeyArn"] = keys[0]
    else:
        draft.notes.append(
            f"the secrets of Kubernetes are not encrypted by a key: `{typed('pulumi up')}` makes one, and EKS keeps it for the cluster's life"
        )
    if entry.get("deletionProtection"):
        made["deletionProtection"] = True
    return made


def _version(version: str, draft: Draft) -> str:
    if version in SUPPORTED_KUBERNETES:
        return version
    nearest = SUPPORTED_KUBERNETES[0] if _minor(version) < _minor(SUPPORTED_KUBERNETES[0]) else SUPPORTED_KUBERNETES[-1]
    draft.notes.append(f"the cluster runs Kubernetes {version}, which the program does not know: the file says {nearest}")
    return nearest


def _minor(version: str) -> int:
    return int(version.split(".")[1])


def _endpoint(place: Entry, draft: Draft) -> dict[str, Any]:
    if not place.get("endpointPublicAccess"):
        return {"publicAccessCidrs": []}
    given = list(place.get("publicAccessCidrs") or ())
    kept = [block for block in given if why_closed(block) is None]
    if kept != given:
        refused = ", ".join(block for block in given if block not in kept)
        draft.notes.append(
            f"the public endpoint is open to {refused}, which the program refuses: put your own addresses in publicAccessCidrs"
        )
    return {"publicAccessCidrs": kept or [EXAMPLE_BLOCK]}


def _access(other: OtherCluster, draft: Draft, caller: str) -> dict[str, Any]:
    """Access entries of people. Those of nodes are EKS's own, and the caller's is left out: the creator's rights are not in the file."""
    entries: dict[str, Any] = {}
    for entry in other.access_entries:
        principal = str(entry["principalArn"])
        if entry.get("type", "STANDARD") != "STANDARD" or principal == caller or ":role/aws-service-role/" in principal:
            continue
        policies = entry["policies"]
        names = [str(each["policyArn"]).rsplit("/", 1)[-1] for each in policies]
        if len(names) != 1 or names[0] not in _DRAWN_POLICIES:
            draft.notes.append(
                f"the access entry of {principal} has {', '.join(names) or 'Kubernetes groups'} and stays outside of the stack"
            )
            continue
        scope = policies[0].get("accessScope") or {}
        namespaces = {"namespaces": list(scope["namespaces"])} if scope.get("namespaces") else {}
        entries[_key_of(principal, entries)] = {"principalArn": principal, "policy": names[0], **namespaces}
    return {"accessEntries": entries} if entries else {}


def _key_of(principal: str, taken: Mapping[str, Any]) -> str:
    base = principal.rsplit("/", 1)[-1]
    return next(name for number in range(1, len(taken) + 2) if (name := base if number == 1 else f"{base}-{number}") not in taken)


def _logs(other: OtherCluster, draft: Draft) -> dict[str, Any]:
    types = [kind for each in (other.entry.get("logging") or {}).get("clusterLogging", ()) if each.get("enabled") for kind in each["types"]]
    days = (other.log_group or {}).get("retentionInDays")
    if other.log_group is not None and days is None:
        draft.notes.append("the control plane's logs are kept for ever: with the stack, for 30 days")
    return {"logTypes": types, **({"logRetentionDays": days} if days in LOG_RETENTION_DAYS else {})}


def _groups(other: OtherCluster, zones: Mapping[str, str], draft: Draft) -> dict[str, Any]:
    taken = {str(group["nodegroupName"]) for group in other.node_groups}
    neuron: dict[str, Any] = {}
    core: dict[str, Any] = {}
    for group in other.node_groups:
        theirs, kind = str(group["nodegroupName"]), _neuron_type(other, group)
        if kind:
            name = _free_name(theirs, {*taken, *neuron, "core"})
            neuron[name] = _neuron_group(other, group, kind, zones, draft)
            draft.groups[theirs] = name
        elif not core and (types := _types(other, group)) and types[0] in CORE_TYPES:
            size = group["scalingConfig"]
            least = max(1, size["minSize"])
            core = {
                "instanceType": types[0],
                "minSize": least,
                "desiredSize": max(least, size["desiredSize"]),
                "maxSize": max(least, size["desiredSize"], size["maxSize"]),
            }
            draft.groups[theirs] = "core"
    draft.notes += _unmatched(other, zones, draft)
    return {**({"coreNodes": core} if core else {}), **({"nodeGroups": neuron} if neuron else {})}


def _unmatched(other: OtherCluster, zones: Mapping[str, str], draft: Draft) -> Iterator[str]:
    for group in other.node_groups:
        if group["nodegroupName"] not in draft.groups:
            yield f"node group {group['nodegroupName']} ({', '.join(_types(other, group)) or 'types in its launch template'}) has no place in the stack"
    if "core" not in draft.groups.values():
        yield "no group carries the add-ons as `coreNodes` does: the stack makes its own with the defaults"
    if draft.groups:
        yield "launch templates of node groups are not read: compare rootVolumeGib, efaLayout and capacityReservationId with them"
    if len(zones) < CORE_ZONE_COUNT:
        yield "the cluster's subnets are in one zone only: add a second one to network.zones and network.existing.nodes"


def _neuron_group(other: OtherCluster, group: Entry, kind: str, zones: Mapping[str, str], draft: Draft) -> dict[str, Any]:
    size, network = group["scalingConfig"], other.network
    zone = Counter(network.subnets[each].zone_id for each in group.get("subnets", ()) if each in network.subnets).most_common(1)
    made: dict[str, Any] = {"instanceType": kind, "size": size["desiredSize"], "minSize": size["minSize"], "maxSize": size["maxSize"]}
    if zone and zone[0][0] in zones and zone[0][0] != next(iter(zones)):
        made["zoneIds"] = [zone[0][0]]
    if group.get("capacityType") in ("SPOT", "CAPACITY_BLOCK"):
        made["capacityType"] = group["capacityType"]
    reservations = {str(node["CapacityReservationId"]) for node in _nodes(other, group) if node.get("CapacityReservationId")}
    if len(reservations) == 1:
        made["capacityReservationId"] = reservations.pop()
    elif group.get("capacityType") == "CAPACITY_BLOCK":
        draft.notes.append(
            f"node group {group['nodegroupName']} comes from a capacity block that its launch template names, and no instance of it runs:"
            " put the block's id in capacityReservationId"
        )
    made |= _release(group, draft)
    labels = {key: value for key, value in (group.get("labels") or {}).items() if not _is_makers(key)}
    return {**made, **({"labels": labels} if labels else {})}


def _is_makers(key: str) -> bool:
    """Whether a label is its maker's or AWS's, or one that the program refuses because it sets it itself."""
    return key in OWN_LABELS or is_reserved(key) or key.startswith((*RESERVED_TAG_PREFIXES, "alpha.eksctl.io/", "node.kubernetes.io/"))


def _release(group: Entry, draft: Draft) -> dict[str, str]:
    """The AMI release of its nodes: without it new ones have the newest driver, on which images that run now may not start."""
    release = str(group.get("releaseVersion") or "")
    if group.get("amiType") == NEURON_AMI_TYPE and RELEASE_PATTERN.fullmatch(release):
        return {"releaseVersion": release}
    draft.notes.append(
        f"node group {group['nodegroupName']} has AMI type {group.get('amiType', 'of its own')}{f', release {release}' if release else ''}: nodes of the stack have"
        f" {NEURON_AMI_TYPE} with driver {version_text(NEWEST_DRIVER)} or later, so pin releaseVersion if the jobs' images are older than SDK 2.31"
    )
    return {}


def _nodes(other: OtherCluster, group: Entry) -> list[Entry]:
    return [node for node in other.nodes if tags_of(node).get(GROUP_TAG) == group["nodegroupName"]]


def _types(other: OtherCluster, group: Entry) -> list[str]:
    """As the group says them, else, with the type in its launch template, those of its instances."""
    return list(group.get("instanceTypes") or sorted({str(node["InstanceType"]) for node in _nodes(other, group)}))


def _neuron_type(other: OtherCluster, group: Entry) -> str:
    return next((name for name in _types(other, group) if name in NEURON_TYPES), "")


def _free_name(theirs: str, taken: set[str]) -> str:
    """A name of the stack's own: without the suffix of Terraform's, and never that of a group which EKS has already."""
    base = re.sub(r"[^a-z0-9-]", "-", _SUFFIX.sub("", theirs).lower()).strip("-")[: NODE_GROUP_NAME_LIMIT - 6] or "neuron"
    names = (base, *(f"{base}-trn{number or ''}" for number in range(len(taken) + 1)))
    return next(name for name in names if name not in taken)


def _lustre(other: OtherCluster, draft: Draft) -> dict[str, Any]:
    """A file system of the VPC that no claim made is used as it is, where there is one; the stack makes none of its own."""
    static = [entry for entry in other.file_systems if not made_by_claim(entry)]
    if len(static) == 1:
        (entry,) = static
        draft.notes.append(
            f"file system {entry['FileSystemId']} must let the nodes in: compare its security group with storage.lustre.existing"
        )
        mount = entry["LustreConfiguration"]["MountName"]
        return {"existing": {"fileSystemId": entry["FileSystemId"], "mountName": mount}}
    for entry in other.file_systems:
        draft.notes.append(
            f"file system {entry['FileSystemId']} stays outside of the stack, and the stack makes none: storage.lustre.enabled"
        )
    return {"enabled": False}


def made_by_claim(entry: Entry) -> bool:
    """Whether the CSI driver made a file system for a claim, and deletes it with that."""
    return any(tag in tags_of(entry) for tag in VOLUME_TAGS)


def used_file_system(draft: Draft) -> str:
    """Id of the file system of others that the stack mounts; empty where there is none."""
    existing = draft.configuration.get("storage", {}).get("lustre", {}).get("existing")
    return str(existing["fileSystemId"]) if existing else ""
