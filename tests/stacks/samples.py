"""Stacks that together register every type, in every way of buying capacity and reaching out."""

from functools import cache
from typing import Any

from facts.endpoints import NODE_ENDPOINTS
from facts.neuron_releases import AMI_RELEASES
from simulator.recording import Recording
from tests.stacks import external_networks
from tests.stacks.addon_sets import ALTERNATIVES, everything
from tests.support import dev_configuration, merged, record_stack

BOUNDARY = "arn:aws:iam::123456789012:policy/boundary"
TOPIC = "arn:aws:sns:us-west-2:123456789012:costs"
RELEASE = AMI_RELEASES["1.35"]
PRIVATE = {
    "nat": "none",
    "s3Endpoint": True,
    "interfaceEndpoints": [
        *NODE_ENDPOINTS,
        "aps-workspaces",
        "autoscaling",
        "elasticfilesystem",
        "elasticloadbalancing",
        "fsx",
        "logs",
        "monitoring",
    ],
}


def _group(**keys: Any) -> dict[str, Any]:
    return merged(dev_configuration(), nodeGroups={"more": {"instanceType": "trn2.48xlarge", "size": 1, "releaseVersion": RELEASE, **keys}})


def configurations() -> dict[str, dict[str, Any]]:
    """Configurations by what is special about each."""
    dev = dev_configuration()
    return {
        "shipped": dev,
        **{name: everything(name) for name in ALTERNATIVES},
        "capacity block": _group(capacityType="CAPACITY_BLOCK", capacityReservationId="cr-0123456789abcdef0"),
        "capacity block with times": _group(
            capacityType="CAPACITY_BLOCK",
            capacityReservationId="cr-0123456789abcdef0",
            capacityBlock={"startsAt": "2026-12-01T11:30:00Z", "endsAt": "2026-12-03T11:30:00Z"},
        ),
        "empty at night": _group(schedule={"downAt": "0 20 * * MON-FRI", "upAt": "0 7 * * MON-FRI", "timeZone": "Europe/Berlin"}),
        "capacity reservation": _group(capacityReservationId="cr-0123456789abcdef0"),
        "spot": _group(capacityType="SPOT"),
        "placement group": merged(dev, nodeGroups={"trn1-32xl": {"placementGroup": True}}),
        "private network": merged(dev, network=PRIVATE),
        "data repository": merged(dev, storage={"lustre": {"dataRepository": {"s3Uri": "s3://bucket/prefix", "errorLog": True}}}),
        "existing network": external_networks.configuration(existing={"tagSubnets": True}),
        "existing file system": external_networks.sharing(clients=True),
        "permissions boundary": merged(dev, iam={"permissionsBoundary": BOUNDARY, "path": "/teams/training/"}),
        "existing workspace": merged(
            everything(),
            addons={"managedPrometheus": {"workspaceArn": external_networks.WORKSPACE}},
            iam={"path": "/teams/training/", "roles": {"grafana": "arn:aws:iam::123456789012:role/company/grafana"}},
        ),
        "shells on nodes": merged(dev, nodes={"sessionManager": True}),
        "budget alarm": merged(dev, budget={"alarm": {"limitUsdPerMonth": 20_000, "emails": ["team@example.com"], "snsTopicArn": TOPIC}}),
        "key given": merged(
            dev, controlPlane={"encryptionKeyArn": "arn:aws:kms:us-west-2:123456789012:key/00000000-0000-0000-0000-000000000000"}
        ),
        "access entries": merged(dev, controlPlane={"accessEntries": {"team": {"principalArn": "arn:aws:iam::123456789012:role/team"}}}),
    }


@cache
def recorded(name: str) -> Recording:
    """One of them, recorded."""
    return record_stack(configurations()[name])


SAMPLES = tuple(configurations())
