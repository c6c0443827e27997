"""What a running cluster keeps: a change of it that the program refuses, in the program's own words (facts/permanent.py)."""

from collections.abc import Mapping
from typing import Any

from facts.permanent import KEPT, KEY_OF_STACK, is_holder, refusals
from simulator.account import kinds
from simulator.account.rule import Refusal
from simulator.recording import Recording, Registration


def refused_changes(before: Recording, after: Recording) -> dict[str, list[str]]:
    """What the program refuses to change of clusters that are there, a sentence each, by URN of the cluster.

    `before`: the state, or what it will be; `after`: what the program asks for.
    """
    found = {}
    for holder in after.registrations.values():
        old = before.registrations.get(holder.urn)
        if holder.custom or old is None or not is_holder(holder.inputs):
            continue
        for cluster in before.of_type(kinds.CLUSTER):
            if cluster.inputs.get("name") == old.inputs.get("clusterName", holder.inputs["clusterName"]):
                texts = refusals(_made(before, old, cluster) | _remembered(old), holder.inputs)
                if texts:
                    found[cluster.urn] = texts
    return found


def refusal(texts: list[str]) -> Refusal:
    """The error with which the program stops, before anything is changed."""
    return Refusal(
        "PermanentChanged",
        "; ".join(texts),
        "the program refuses it in `pulumi preview` and `pulumi up`, before anything is changed",
        "set back what it names",
    )


def _remembered(holder: Registration) -> dict[str, Any]:
    """What the state says: since the cluster was there by its outputs, else by the inputs that it was made with."""
    return dict(holder.outputs.get(KEPT) or holder.inputs)


def _made(before: Recording, holder: Registration, cluster: Registration) -> dict[str, Any]:
    """What the resources of a cluster show of it, for a state of an earlier version that remembers less. Places of others are not known."""
    subnets = _subnets(before, cluster)
    wanted = len((cluster.inputs.get("vpcConfig") or {}).get("subnetIds") or ())
    vpcs = {str(item.get("vpcId")) for item in subnets} or {str(item.inputs.get("vpcId")) for item in before.of_type(kinds.SECURITY_GROUP)}
    key = str(((cluster.inputs.get("encryptionConfig") or {}).get("provider") or {}).get("keyArn") or "")
    own_keys = {str(item.outputs.get("arn")) for item in before.of_type(kinds.KEY)}
    cidrs = {item.id: item.inputs.get("cidrBlock") for item in before.of_type(kinds.VPC)}
    shown = {
        "clusterName": cluster.inputs.get("name"),
        "region": holder.inputs.get("region"),
        "vpc": cidrs.get(vpc, vpc) if len(vpcs) == 1 and (vpc := next(iter(vpcs))) else None,
        "zones": ", ".join(sorted({str(item["availabilityZoneId"]) for item in subnets})) if len(subnets) == wanted else None,
        "encryptionKey": KEY_OF_STACK if key in own_keys else key or None,
        "role": str(cluster.inputs.get("roleArn") or "").partition(":role/")[2] or None,
    }
    return {name: value for name, value in shown.items() if value}


def _subnets(recording: Recording, cluster: Registration) -> list[Mapping[str, Any]]:
    """Inputs of a cluster's subnets, as far as the stack made them."""
    wanted = set((cluster.inputs.get("vpcConfig") or {}).get("subnetIds") or ())
    return [item.inputs for item in recording.of_type(kinds.SUBNET) if item.id in wanted]
