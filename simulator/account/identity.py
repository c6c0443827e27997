"""By what an object can be found again when its id was never written down: its name, its place, or its tags.

A run that is killed leaves objects whose ids nobody knows. What has an identity can then be found, and imported or
deleted; what has none is a silent leak.
"""

from collections.abc import Callable, Mapping
from typing import Any

from simulator.account import kinds
from simulator.recording import Registration

Inputs = Mapping[str, Any]


def _of(*keys: str) -> Callable[[Inputs], str | None]:
    def find(inputs: Inputs) -> str | None:
        values = [inputs.get(key) for key in keys]
        return " ".join(map(str, values)) if all(value is not None for value in values) else None

    return find


def _tagged(*keys: str) -> Callable[[Inputs], str | None]:
    """Objects without a name are told apart by their `Name` tag, beside what they belong to."""

    def find(inputs: Inputs) -> str | None:
        name = (inputs.get("tags") or {}).get("Name")
        belongs = [str(inputs.get(key)) for key in keys]
        return " ".join([f"Name={name}", *belongs]) if name else None

    return find


def _route(inputs: Inputs) -> str | None:
    return f"{inputs['routeTableId']} {inputs.get('destinationCidrBlock')}"


def _rule(inputs: Inputs) -> str | None:
    what = ("securityGroupId", "ipProtocol", "fromPort", "toPort", "cidrIpv4", "referencedSecurityGroupId")
    return " ".join(str(inputs.get(key)) for key in what)


def _object(inputs: Inputs) -> str | None:
    metadata = inputs.get("metadata") or {}
    name, namespace = metadata.get("name"), metadata.get("namespace")
    return f"{namespace}/{name}" if name and namespace else name


def _named_or_tagged(inputs: Inputs) -> str | None:
    """What holds for most types: a name where there is one, otherwise the `Name` tag."""
    name = inputs.get("name") or inputs.get("alias") or (inputs.get("tags") or {}).get("Name")
    return str(name) if name else None


_IDENTITIES: Mapping[str, Callable[[Inputs], str | None]] = {
    kinds.VPC: _tagged(),
    kinds.POD_BLOCK: _of("vpcId", "cidrBlock"),
    kinds.SUBNET: _of("vpcId", "cidrBlock"),
    kinds.INTERNET_GATEWAY: _tagged(),
    kinds.ADDRESS: _tagged(),
    kinds.NAT_GATEWAY: _of("subnetId", "allocationId"),
    kinds.ROUTE_TABLE: _tagged("vpcId"),
    kinds.ROUTE: _route,
    kinds.ROUTE_TABLE_ASSOCIATION: _of("subnetId"),
    kinds.ENDPOINT: _of("vpcId", "serviceName"),
    kinds.SECURITY_GROUP: _of("vpcId", "name"),
    kinds.INGRESS: _rule,
    kinds.EGRESS: _rule,
    kinds.LAUNCH_TEMPLATE: _of("name"),
    kinds.PLACEMENT_GROUP: _of("name"),
    kinds.ROLE: _of("name"),
    kinds.ROLE_POLICY: _of("role", "name"),
    kinds.ROLE_ATTACHMENT: _of("role", "policyArn"),
    kinds.CLUSTER: _of("name"),
    kinds.NODE_GROUP: _of("clusterName", "nodeGroupName"),
    kinds.ADDON: _of("clusterName", "addonName"),
    "aws:eks/accessEntry:AccessEntry": _of("clusterName", "principalArn"),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": _of("clusterName", "principalArn", "policyArn"),
    kinds.POD_IDENTITY: _of("clusterName", "namespace", "serviceAccount"),
    kinds.FILE_SYSTEM: _tagged(),
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": _of("fileSystemId", "fileSystemPath"),
    kinds.KEY: _tagged(),
    "aws:kms/alias:Alias": _of("name"),
    kinds.LOG_GROUP: _of("name"),
    "aws:autoscaling/tag:Tag": lambda inputs: f"{inputs['autoscalingGroupName']} {inputs['tag']['key']}",
    kinds.RELEASE: _of("namespace", "name"),
    "aws:cloudwatch/eventTarget:EventTarget": _of("rule", "arn"),
    "aws:sqs/queuePolicy:QueuePolicy": _of("queueUrl"),
}


def identity(registration: Registration) -> str | None:
    """What tells this object from all others of its type; None where nothing does."""
    find = _IDENTITIES.get(registration.type) or (_object if kinds.is_kubernetes(registration.type) else _named_or_tagged)
    return find(registration.inputs)
