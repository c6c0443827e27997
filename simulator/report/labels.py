"""Inputs that tell a resource apart from others of its type, as a reader wants to see them."""

import json
from collections.abc import Mapping
from typing import Any

from simulator.recording import Registration

LONGEST = 160
"""Characters of one value: policies and user data are not what a reader looks for."""
_KEYS: Mapping[str, tuple[str, ...]] = {
    "aws:ec2/subnet:Subnet": ("availabilityZoneId", "cidrBlock"),
    "aws:ec2/launchTemplate:LaunchTemplate": ("name", "instanceType", "networkInterfaces", "placement"),
    "aws:eks/nodeGroup:NodeGroup": (
        "instanceTypes",
        "scalingConfig",
        "capacityType",
        "releaseVersion",
        "version",
        "updateConfig",
        "taints",
    ),
    "aws:eks/cluster:Cluster": ("name", "version", "vpcConfig", "upgradePolicy", "deletionProtection"),
    "aws:eks/addon:Addon": ("addonName", "addonVersion"),
    "aws:fsx/lustreFileSystem:LustreFileSystem": ("storageCapacity", "perUnitStorageThroughput", "deploymentType", "skipFinalBackup"),
    "kubernetes:helm.sh/v3:Release": ("chart", "version", "namespace", "timeout"),
}
_OTHERWISE = (
    "name",
    "cidrBlock",
    "destinationCidrBlock",
    "ipProtocol",
    "fromPort",
    "cidrIpv4",
    "policyArn",
    "serviceName",
    "metadata",
    "spec",
)


def telling_inputs(registration: Registration) -> dict[str, str]:
    """Input to its value as text, long ones cut; nothing that the program marked as secret."""
    inputs = registration.inputs
    keys = _KEYS.get(registration.type) or _OTHERWISE
    return {key: shown(inputs[key]) for key in keys if inputs.get(key) not in (None, "", [], {}) and key not in registration.secret_inputs}


def shown(value: Any) -> str:
    """A value as text, short enough to be read."""
    if isinstance(value, list) and len(value) > 2 and isinstance(value[0], Mapping):
        return f"{len(value)} of them"
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
