"""What a running cluster keeps: the program refuses a change of it before anything is changed, and EKS would refuse it halfway."""

from collections.abc import Iterator, Mapping
from typing import Any

from facts.permanent import FILE_SYSTEM, KEPT, PARTS, KeptPart, kept_parts
from simulator.account import kinds
from simulator.account.rule import Refusal
from simulator.engine.plan import Change
from simulator.recording import Recording, Registration


def refused_by_program(before: Recording, after: Recording) -> dict[str, list[KeptPart]]:
    """What a running cluster would lose of what it keeps, by URN of the component that holds everything; empty for nothing.

    `before`: the state. The program hangs a hook on the component, which the real engine calls in previews too, before anything is changed.
    """
    found = {}
    for item in after:
        old = before.registrations.get(item.urn)
        if item.custom or old is None or not set(PARTS) <= item.inputs.keys():
            continue
        if any(before.registrations[urn].type == kinds.CLUSTER for urn in before.descendants(item.urn)):
            changed = kept_parts({**old.inputs, FILE_SYSTEM: _own_file_system(before, old)}, item.inputs)
            if changed:
                found[item.urn] = changed
    return found


def _own_file_system(before: Recording, holder: Registration) -> str | None:
    """Id of the file system that the component made: as its outputs say, and where no run wrote these, as the state holds it."""
    known = holder.outputs.get(KEPT)
    below = (before.registrations[urn] for urn in before.descendants(holder.urn))
    made = next((item.id for item in below if item.type == kinds.FILE_SYSTEM), None)
    return str(known[FILE_SYSTEM]) if isinstance(known, Mapping) and known.get(FILE_SYSTEM) else made


def refusal(changed: list[KeptPart]) -> Refusal:
    """What the engine says where the hook refuses."""
    return Refusal(
        "before hook failed",
        "; ".join(part.wrong for part in changed),
        changed[0].otherwise,
        "; ".join(part.fix for part in changed),
    )


def refused_changes(before: Recording, after: Recording, changes: Mapping[str, Change]) -> dict[str, list[str]]:
    """What EKS refuses to change, a sentence each, by URN of the cluster. A cluster that is replaced may be anywhere.

    `after`: what the program asks for, with the ids of its own recording. Zones of subnets that others keep are not known here.
    Sources: EKS API, UpdateClusterConfig; EKS user guide, enable-kms.
    """
    found = {}
    for urn, change in changes.items():
        if change.kind == "update" and change.registration.type == kinds.CLUSTER and urn in before.registrations:
            texts = list(_refused(before, after, changes, change))
            if texts:
                found[urn] = texts
    return found


def _refused(before: Recording, after: Recording, changes: Mapping[str, Change], change: Change) -> Iterator[str]:
    urn = change.registration.urn
    old, new = before.registrations[urn], after.registrations.get(urn, change.registration)
    vpcs = _vpc(before, old), _vpc(after, new)
    moved = changes.get(vpcs[1])
    if "" not in vpcs and (vpcs[0] != vpcs[1] or (moved is not None and moved.kind == "replace")):
        yield "EKS refuses to move the control plane into another VPC: another VPC takes another cluster, with another `name`"
    zones = _zones(before, old), _zones(after, new)
    if all(zones) and zones[0] != zones[1]:
        yield (
            f"EKS refuses another set of zones for the control plane: set `controlPlane.zones: [{', '.join(sorted(zones[0]))}]`;"
            " nodes may be in any zone of the VPC"
        )
    if old.inputs.get("encryptionConfig") and any(path.startswith("encryptionConfig") for path in change.changed):
        yield "EKS keeps the key of the cluster's secrets: another key takes another cluster, with another `name`"


def _subnets(recording: Recording, cluster: Registration) -> list[Mapping[str, Any]]:
    """Inputs of a cluster's subnets, as far as the stack made them."""
    wanted = set((cluster.inputs.get("vpcConfig") or {}).get("subnetIds") or ())
    return [item.inputs for item in recording.of_type(kinds.SUBNET) if item.id in wanted]


def _vpc(recording: Recording, cluster: Registration) -> str:
    """URN of a cluster's VPC, or the id of one that others keep; empty where neither is known.

    Subnets of others name no VPC in the stack: the security groups beside them do, where all lie in one.
    """
    ids = {item["vpcId"] for item in _subnets(recording, cluster)}
    ids = ids or {item.inputs.get("vpcId") for item in recording.of_type(kinds.SECURITY_GROUP)}
    if len(ids) != 1:
        return ""
    (which,) = ids
    return next((item.urn for item in recording.of_type(kinds.VPC) if item.id == which), str(which or ""))


def _zones(recording: Recording, cluster: Registration) -> set[str]:
    return {str(item["availabilityZoneId"]) for item in _subnets(recording, cluster)}
