"""Which resources of the program are there already, made by others, and with what inputs they were made."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from facts.resources import eks, eks_access, iam, logs
from facts.resources.queries import Lookup
from facts.resources.rights import role_of
from facts.resources.table import TYPES
from simulator.recording import Recording, Registration
from trn.aws.api import Api
from trn.aws.objects import at
from trn.aws.other_cluster import Entry, OtherCluster
from trn.aws.sighting import sightings

TAKEN_OVER = frozenset(
    item.token
    for item in (
        eks.CLUSTER_TYPE,
        eks.ADDON,
        eks_access.ACCESS_ENTRY,
        eks_access.ACCESS_POLICY,
        eks.POD_IDENTITY,
        logs.LOG_GROUP,
        iam.ROLE,
        iam.ROLE_ATTACHMENT,
    )
)
"""Types whose objects a stack takes over: their names and places are those that the program gives them. Of all other types the
program makes objects of its own beside theirs."""


@dataclass(frozen=True)
class Match:
    """One object of others that a resource of the program stands for."""

    recorded: Registration
    """As the program registers it."""
    id: str
    """As `pulumi import` takes it."""
    inputs: Mapping[str, Any]
    """Those that it has, in the words of the program."""
    outputs: Mapping[str, Any]

    @property
    def imported(self) -> Registration:
        """The resource as the state has it after the import."""
        return replace(self.recorded, id=self.id, inputs=self.inputs, outputs={**self.recorded.outputs, **self.inputs, **self.outputs})


@dataclass
class Matches:
    """What was found of the program's resources."""

    taken: list[Match] = field(default_factory=list)
    clashes: list[tuple[Registration, str]] = field(default_factory=list)
    """Resources whose name others use, with the id of the other object: creating them is refused."""


def match(api: Api, recording: Recording, other: OtherCluster, stack: str) -> Matches:
    """Look for each resource by its name or place. `stack`: project and stack, as `/trn/dev`. Raises what botocore raises."""
    found = Matches()
    for item in recording.resources():
        lookup = TYPES[item.type].lookup if item.type in TYPES else None
        # What only a tag of the program identifies was not made by others.
        if not isinstance(lookup, Lookup) or lookup.mark == "named":
            continue
        for sighting in _sighted(api, lookup, other, item, stack):
            if item.type in TAKEN_OVER and _is_the_clusters(item, other):
                found.taken.append(_match(item, sighting, other))
            elif item.type != iam.ROLE_ATTACHMENT.token:
                found.clashes.append((item, sighting))
    found.taken.sort(key=lambda each: (each.recorded.type != eks.CLUSTER_TYPE.token, each.recorded.urn))
    return found


def _is_the_clusters(item: Registration, other: OtherCluster) -> bool:
    """Whether it belongs to the cluster. Roles are the account's: of those only the control plane's own does, since another with the
    program's name may serve another cluster, and `pulumi destroy` deletes what was imported."""
    key = {iam.ROLE.token: "name", iam.ROLE_ATTACHMENT.token: "role"}.get(item.type)
    return key is None or item.inputs[key] == role_of(str(other.entry["roleArn"]))


def _sighted(api: Api, lookup: Lookup, other: OtherCluster, item: Registration, stack: str) -> Sequence[str]:
    """Ids of what is there by the resource's name or place, whoever made it."""
    inputs = item.inputs
    if item.type not in TAKEN_OVER and not any(key in inputs for key in ("name", "nodeGroupName")):
        # A part of something that the program makes: it is not there before that.
        return []
    try:
        return [each.id for each in sightings(api, replace(lookup, mark="part"), other.name, inputs, stack)]
    except LookupError:
        return []


def _match(item: Registration, which: str, other: OtherCluster) -> Match:
    inputs, outputs = _SEEN.get(item.type, _as_recorded)(item, other)
    return Match(item, which, {key: _alike(item.inputs.get(key), value) for key, value in inputs.items()}, outputs)


def _alike(recorded: Any, theirs: Any) -> Any:
    """Lists whose order says nothing, in the order of the program; structures without what the program leaves to AWS."""
    if isinstance(recorded, list) and isinstance(theirs, list) and all(isinstance(each, str) for each in [*recorded, *theirs]):
        return recorded if set(recorded) == set(theirs) else sorted(theirs)
    if isinstance(recorded, Mapping) and isinstance(theirs, Mapping):
        return {key: _alike(recorded.get(key), value) for key, value in theirs.items()}
    return theirs


_Seen = tuple[dict[str, Any], dict[str, Any]]
"""Inputs and outputs."""


def _as_recorded(item: Registration, _other: OtherCluster) -> _Seen:
    """Of a type whose description says nothing beyond its identity."""
    replacing = TYPES[item.type].changes.replacing
    return {key: value for key, value in item.inputs.items() if key in replacing}, {}


def _cluster(item: Registration, other: OtherCluster) -> _Seen:
    entry, ours = other.entry, item.inputs
    place = entry["resourcesVpcConfig"]
    network = {
        key: place[key] for key in ("subnetIds", "endpointPrivateAccess", "endpointPublicAccess", "publicAccessCidrs") if key in place
    }
    groups = {"securityGroupIds": list(place["securityGroupIds"])} if place.get("securityGroupIds") else {}
    types = [kind for each in (entry.get("logging") or {}).get("clusterLogging", ()) if each.get("enabled") for kind in each["types"]]
    inputs: dict[str, Any] = {
        "name": other.name,
        "roleArn": entry["roleArn"],
        "version": entry["version"],
        # What the program leaves as it is (`ignoreChanges`) cannot differ.
        "accessConfig": {**ours["accessConfig"], **_mode(entry)},
        "bootstrapSelfManagedAddons": ours.get("bootstrapSelfManagedAddons"),
        "deletionProtection": bool(entry.get("deletionProtection")),
        "enabledClusterLogTypes": types,
        "tags": {key: value for key, value in other.tags.items() if not key.startswith("aws:")},
        "upgradePolicy": dict(entry.get("upgradePolicy") or {"supportType": "EXTENDED"}),
        "vpcConfig": {**network, **groups},
    }
    encryption = entry.get("encryptionConfig") or ()
    if encryption:
        inputs["encryptionConfig"] = {
            "provider": {"keyArn": encryption[0]["provider"]["keyArn"]},
            "resources": list(encryption[0]["resources"]),
        }
    authority, place_out = entry["certificateAuthority"], {**network, "clusterSecurityGroupId": place.get("clusterSecurityGroupId", "")}
    outputs = {"arn": entry["arn"], "endpoint": entry["endpoint"], "certificateAuthority": authority, "vpcConfig": place_out}
    return inputs, outputs


def _mode(entry: Entry) -> dict[str, str]:
    mode = at(entry, "accessConfig.authenticationMode")
    return {"authenticationMode": str(mode)} if mode else {"authenticationMode": "CONFIG_MAP"}


def _addon(item: Registration, other: OtherCluster) -> _Seen:
    entry = next(each for each in other.addons if each["addonName"] == item.inputs["addonName"])
    kept = {
        key: entry[key]
        for key in ("addonName", "addonVersion", "clusterName", "configurationValues", "serviceAccountRoleArn")
        if entry.get(key)
    }
    return kept, {"arn": entry.get("addonArn", "")}


def _log_group(item: Registration, other: OtherCluster) -> _Seen:
    days = other.log_group.get("retentionInDays") if other.log_group and other.log_group["logGroupName"] == item.inputs["name"] else None
    return {"name": item.inputs["name"], **({"retentionInDays": days} if days else {})}, {}


def _role(item: Registration, other: OtherCluster) -> _Seen:
    arn = str(other.entry["roleArn"])
    if role_of(arn) != item.inputs["name"]:
        return {"name": item.inputs["name"]}, {}
    # The program leaves out the usual path, and so does the state of a role that has it.
    path = {"path": other.role_path} if other.role_path != "/" else {}
    return {"name": item.inputs["name"], **path}, {"arn": arn}


def _entry(item: Registration, other: OtherCluster) -> _Seen:
    """The provider leaves out the usual type (hashicorp/terraform-provider-aws internal/service/eks/access_entry.go, its default)."""
    entry = next(each for each in other.access_entries if each["principalArn"] == item.inputs["principalArn"])
    kind = {"type": entry["type"]} if entry.get("type", "STANDARD") != "STANDARD" else {}
    return {key: item.inputs[key] for key in ("clusterName", "principalArn")} | kind, {}


def _policy(item: Registration, other: OtherCluster) -> _Seen:
    entry = next((each for each in other.access_entries if each["principalArn"] == item.inputs["principalArn"]), {"policies": ()})
    found = next((each for each in entry["policies"] if each["policyArn"] == item.inputs["policyArn"]), None)
    scope = {"accessScope": {"type": "cluster", "namespaces": [], **dict(found["accessScope"])}} if found else {}
    return {key: item.inputs[key] for key in ("clusterName", "principalArn", "policyArn")} | scope, {}


_SEEN = {
    eks.CLUSTER_TYPE.token: _cluster,
    eks.ADDON.token: _addon,
    eks_access.ACCESS_ENTRY.token: _entry,
    eks_access.ACCESS_POLICY.token: _policy,
    logs.LOG_GROUP.token: _log_group,
    iam.ROLE.token: _role,
}


def parents_of(recording: Recording, urn: str) -> Iterator[Registration]:
    """Components above a resource, the outermost first; the stack itself is left out."""
    item = recording.registrations[recording.registrations[urn].parent] if recording.registrations[urn].parent else None
    if item is not None and item.parent:
        yield from parents_of(recording, item.urn)
        yield item
