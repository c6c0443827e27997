"""The shipped stack in a network that others keep, and with a file system of theirs."""

from typing import Any

from facts.endpoints import NODE_ENDPOINTS
from tests.support import dev_configuration, merged

VPC = "vpc-0123456789abcdef0"
NODES = {"usw2-az4": "subnet-0a00000000000001", "usw2-az1": "subnet-0a00000000000002"}
CONTROL_PLANE = {"usw2-az4": "subnet-0b00000000000001", "usw2-az1": "subnet-0b00000000000002"}
PUBLIC = {"usw2-az4": "subnet-0c00000000000001", "usw2-az1": "subnet-0c00000000000002"}
INTERNAL = CONTROL_PLANE
CALLED = (*NODE_ENDPOINTS, "s3")
ZONES = list(NODES)
WORKSPACE = "arn:aws:aps:us-west-2:123456789012:workspace/ws-0123abcd-0123-0123-0123-0123456789ab"
FILE_SYSTEM, CLIENTS = "fs-0123456789abcdef0", "sg-0d00000000000001"


def network(**existing: Any) -> dict[str, Any]:
    """The section `network`: nodes, control plane and both kinds of load balancers have subnets of their own."""
    roles = {"nodes": NODES, "controlPlane": CONTROL_PLANE, "loadBalancers": PUBLIC, "internalLoadBalancers": INTERNAL}
    return {"zones": ZONES, "existing": {"vpcId": VPC, **roles, **existing}}


def configuration(*, existing: dict[str, Any] | None = None, **sections: Any) -> dict[str, Any]:
    """The shipped stack with its own network left out, and other sections changed. `existing`: keys below `network.existing`."""
    return {**merged(dev_configuration(), **sections), "network": network(**(existing or {}))}


def file_system(**existing: Any) -> dict[str, Any]:
    """The section `storage`: a file system that others keep. `existing`: keys below `storage.lustre.existing`."""
    return {"lustre": {"existing": {"fileSystemId": FILE_SYSTEM, "mountName": "abcdefgh", **existing}}}


def sharing(*, clients: bool = False, **sections: Any) -> dict[str, Any]:
    """The same stack with the file system of others. `clients`: whether it lets nodes in by a group for clients."""
    group = {"clientSecurityGroupId": CLIENTS} if clients else {}
    return {**configuration(**sections), "storage": file_system(**group)}
