"""Rules between keys: a table of broken configurations, each with a part of the message that tells it."""

from contextlib import suppress
from typing import Any

import pytest

from addons.registry import SWITCHED
from facts.endpoints import NODE_ENDPOINTS
from facts.neuron_releases import AMI_RELEASES, NEWEST_AMI_DATE, first_ami_date
from stacks import rules
from stacks.config import parse_settings
from stacks.problems import ConfigurationError
from stacks.settings import Settings
from tests.stacks.external_networks import CONTROL_PLANE, NODES, PUBLIC, WORKSPACE, file_system, network
from tests.stacks.samples import PRIVATE
from tests.support import dev_configuration, merged

PIN = AMI_RELEASES["1.35"]
BLOCK = "cr-0123456789abcdef0"


def group(**keys: Any) -> dict[str, Any]:
    """Changes that add one node group `g`."""
    return {"nodeGroups": {"g": {"instanceType": "trn1.32xlarge", "releaseVersion": PIN, **keys}}}


def pool(**keys: Any) -> dict[str, Any]:
    """Changes that switch Karpenter on, with one Neuron pool `p`."""
    return {"addons": {"karpenter": {"enabled": True, "neuronPools": {"p": {"instanceType": "trn1.32xlarge", "maxNodes": 1, **keys}}}}}


TIMES = {"startsAt": "2026-12-01T11:30:00Z", "endsAt": "2026-12-03T11:30:00Z"}


def on_block(**keys: Any) -> dict[str, Any]:
    """Changes that add one node group `g` on a capacity block with times."""
    block = {"capacityType": "CAPACITY_BLOCK", "capacityReservationId": BLOCK, "size": 1, "capacityBlock": TIMES}
    return group(**{**block, **keys})


def at_night(**keys: Any) -> dict[str, Any]:
    """Changes that add one node group `g` that is empty at night."""
    return group(**{"size": 1, "schedule": {"downAt": "0 20 * * MON-FRI", "upAt": "0 7 * * MON-FRI", "timeZone": "Europe/Berlin"}, **keys})


PRIVATE_NODES = {**PRIVATE, "interfaceEndpoints": list(NODE_ENDPOINTS)}
"""Enough for nodes to join."""


def alarm(**keys: Any) -> dict[str, Any]:
    """A budget's alarm."""
    return {"budget": {"alarm": {"limitUsdPerMonth": 100, **keys}}}


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "zone of another region": (
        {"network": {"zones": ["usw2-az4", "use1-az1"]}},
        "not a zone id of us-west-2, `network.zones[1]` is `use1-az1`",
    ),
    "zone that the region has not": (
        {"region": "us-east-2", "network": {"zones": ["use2-az1", "use2-az4"]}},
        "us-east-2 has no such zone, `network.zones[1]` is `use2-az4`\n  allowed: use2-az1, use2-az2, use2-az3",
    ),
    "keys of an own network beside one that exists": (
        {"network": network()},
        "not for a network that exists: the ways out of the VPC are its owner's, `network.nat` is `single`",
    ),
    "a zone of the network without a subnet": (
        {"network": network(nodes={"usw2-az4": NODES["usw2-az4"]})},
        "`network.existing.nodes` has no subnet for usw2-az1",
    ),
    "nodes in a zone that the network lacks": (
        {"network": network(nodes={**NODES, "usw2-az2": "subnet-0d00000000000001"})},
        "not in `network.zones`, `network.existing.nodes.usw2-az2`",
    ),
    "a control plane in one zone": (
        {"network": network(controlPlane={"usw2-az4": CONTROL_PLANE["usw2-az4"]})},
        "a control plane needs two zones, `network.existing.controlPlane` is `usw2-az4`",
    ),
    "a control plane in a zone that the network lacks": (
        {"controlPlane": {"zones": ["usw2-az4", "usw2-az2"]}},
        "not in `network.zones`, `controlPlane.zones[1]` is `usw2-az2`\n  allowed: usw2-az4, usw2-az1",
    ),
    "a control plane in one zone, named twice": ({"controlPlane": {"zones": ["usw2-az4", "usw2-az4"]}}, "zone named twice, `controlPlane"),
    "a control plane in one zone of two": (
        {"controlPlane": {"zones": ["usw2-az4"]}},
        "a control plane needs two zones, `controlPlane.zones`",
    ),
    "zones of a control plane said twice": (
        {"network": network(), "controlPlane": {"zones": ["usw2-az4", "usw2-az1"]}},
        "`network.existing.controlPlane` names its subnets by zone already, `controlPlane.zones`",
    ),
    "a load balancer in another region": (
        {"network": network(loadBalancers={"use1-az1": PUBLIC["usw2-az4"]})},
        "not a zone id of us-west-2, `network.existing.loadBalancers.use1-az1`",
    ),
    "one subnet in two zones": (
        {"network": network(loadBalancers=dict.fromkeys(PUBLIC, PUBLIC["usw2-az4"]))},
        "a subnet named under two zones",
    ),
    "tags on nothing": (
        {"network": network(tagSubnets=True, loadBalancers={}, internalLoadBalancers={})},
        "no subnet that a controller looks for, `network.existing.tagSubnets` is `true`",
    ),
    "a boundary of another partition": (
        {"iam": {"permissionsBoundary": "arn:aws-cn:iam::123456789012:policy/boundary"}},
        "`iam.permissionsBoundary` is `arn:aws-cn:iam::123456789012:policy/boundary`",
    ),
    "a file system of others from a network of the stack's own": (
        {"storage": file_system()},
        "nothing leads from one to the other, `storage.lustre.existing.fileSystemId` is `fs-0123456789abcdef0`",
    ),
    "a file system of others, shaped": (
        {"storage": file_system()},
        "not for a file system that exists: it is its owner's to shape, `storage.lustre.capacityGib` is `1200`",
    ),
    "a file system of others, switched off": (
        {"storage": {"lustre": {"enabled": False, **file_system()["lustre"]}}},
        "fs-0123456789abcdef0 is named, and the file system is switched off, `storage.lustre.enabled` is `false`",
    ),
    "a budget in GovCloud": (
        {"region": "us-gov-west-1", **alarm(emails=["a@b.example"])},
        "GovCloud are billed through a standard account, and Budgets has no endpoint there, `region` is `us-gov-west-1`",
    ),
    "a budget in China": ({"region": "cn-north-1", **alarm(emails=["a@b.example"])}, "AWS bills in yuan there"),
    "a budget in an isolated region": (
        {"region": "us-iso-east-1", **alarm(emails=["a@b.example"])},
        "the isolated regions have billing of their own",
    ),
    "a budget without a reader": (alarm(), "no message of the budget would reach a person, `budget.alarm.emails` is `[]`"),
    "an address twice": (alarm(emails=["a@b.example", "a@b.example"]), "AWS Budgets refuses an address that is named twice"),
    "eleven addresses": (alarm(emails=[f"{letter}@b.example" for letter in "abcdefghijk"]), "`budget.alarm.emails`"),
    "a word for an address": (alarm(emails=["team"]), "not a valid e-mail address, `budget.alarm.emails[0]` is `team`"),
    "a threshold twice": (alarm(emails=["a@b.example"], forecastPercent=[90, 90]), "a second notification for the same part of the limit"),
    "six notifications": (
        alarm(emails=["a@b.example"], actualPercent=[50, 70, 80, 90, 100]),
        "one budget sends 1 to 5 notifications, actual and forecast together; these are 6",
    ),
    "no notification": (alarm(emails=["a@b.example"], actualPercent=[], forecastPercent=[]), "these are 0"),
    "no limit": (alarm(emails=["a@b.example"], limitUsdPerMonth=0), "`budget.alarm.limitUsdPerMonth`"),
    "a guard without a reader": ({"addons": {"idleGuard": {"enabled": True}}}, "no message of the guard would reach a person"),
    "a guard with two ways": (
        {"addons": {"idleGuard": {"enabled": True, "emails": ["a@b.example"], "snsTopicArn": "arn:aws:sns:us-west-2:123456789012:ops"}}},
        "a topic that others keep gets no addresses from this stack",
    ),
    "a guard with an address twice": (
        {"addons": {"idleGuard": {"enabled": True, "emails": ["a@b.example", "a@b.example"]}}},
        "an address named twice",
    ),
    "a guard with a topic elsewhere": (
        {"addons": {"idleGuard": {"enabled": True, "snsTopicArn": "arn:aws-cn:sns:cn-north-1:123456789012:ops"}}},
        "a topic of another partition; the one of us-west-2 is aws, `addons.idleGuard.snsTopicArn`",
    ),
    "a topic of another partition": (
        alarm(snsTopicArn="arn:aws-cn:sns:cn-north-1:123456789012:costs"),
        "a topic of another partition; the one of us-west-2 is aws, `budget.alarm.snsTopicArn`",
    ),
    "a workspace that nothing writes to": (
        {"addons": {"managedPrometheus": {"enabled": False, "workspaceArn": WORKSPACE}}},
        "a workspace that nothing writes to, `addons.managedPrometheus.workspaceArn`",
    ),
    "a workspace of another region": (
        {"addons": {"managedPrometheus": {"enabled": True, "workspaceArn": WORKSPACE.replace("us-west-2", "eu-west-1")}}},
        "a workspace of eu-west-1 in aws",
    ),
    "a candidate that does not offer the type": (
        {"nodeGroups": {"trn1-32xl": {"candidates": [{"region": "us-east-2", "zoneId": "use2-az1"}]}}},
        "trn1.32xlarge is not offered there, `nodeGroups.trn1-32xl.candidates[0].zoneId` is `use2-az1`",
    ),
    "a role of another partition": (
        {"iam": {"roles": {"node": "arn:aws-cn:iam::123456789012:role/nodes"}}},
        "an ARN of another partition than us-west-2, `iam.roles.node`",
    ),
    "a role for nothing": ({"iam": {"roles": {"budget": "arn:aws:iam::123456789012:role/money"}}}, "karpenter-node"),
    "a name beside a given role": (
        {"iam": {"roles": {"control-plane": "arn:aws:iam::123456789012:role/plane"}}, "controlPlane": {"roleName": "mine"}},
        "a name for a role that the stack does not make",
    ),
    "no VPC": ({"network": network(vpcId="my-vpc")}, "not a valid id of a VPC"),
    "an isolated network without a way to IAM": (
        {"network": network(isolated=True), "coreNodes": {"autoscaled": False}, **pool()},
        "Karpenter calls iam",
    ),
    "zone near one of the region": ({"network": {"zones": ["usw2-az4", "usw2-az9"]}}, "hint: the nearest is usw2-az4"),
    "zone of another region, by its number": ({"network": {"zones": ["usw2-az4", "use1-az1"]}}, "hint: the nearest is usw2-az1"),
    "zone name for zone id": ({"network": {"zones": ["us-west-2a", "us-west-2b"]}}, "describe-availability-zones"),
    "zone twice": ({"network": {"zones": ["usw2-az4", "usw2-az4"]}}, "zone named twice"),
    "zone without control planes": (
        {"region": "us-east-1", "network": {"zones": ["use1-az6", "use1-az3"]}},
        "EKS places no control plane in this zone, `network.zones[1]` is `use1-az3`",
    ),
    "no CIDR": ({"network": {"cidr": "10.1.0.0"}}, "not an IPv4 block"),
    "host bits": ({"network": {"cidr": "10.1.0.1/21"}}, "not an IPv4 block"),
    "block too small": ({"network": {"cidr": "10.1.0.0/26"}}, "/16 to /23"),
    "a region that does not exist": ({"region": "us-wset-2"}, "no region that has EKS, `region` is `us-wset-2`\n  allowed: us-west-2"),
    "a region with a slip": ({"region": "us-wset-2"}, "hint: set `trn:region` to us-west-2, the nearest"),
    "loopback block": ({"network": {"cidr": "127.0.0.0/16"}}, "loopback addresses, which no VPC can have"),
    "link-local block": ({"network": {"cidr": "169.254.0.0/16"}}, "link-local addresses"),
    "multicast block": ({"network": {"podCidr": "224.0.0.0/16"}}, "multicast addresses"),
    "reserved block": ({"network": {"podCidr": "240.0.0.0/16"}}, "reserved addresses"),
    "no network": ({"network": {"cidr": "0.0.0.0/16"}}, "addresses of this network"),
    "benchmarking block": ({"network": {"podCidr": "198.19.0.0/16"}}, "a block that AWS does not associate"),
    "netmask notation": ({"network": {"cidr": "10.1.0.0/255.255.248.0"}}, "not an IPv4 block"),
    "no prefix": ({"network": {"cidr": "10.1.0.0"}}, "not an IPv4 block"),
    "blocks overlap": ({"network": {"podCidr": "10.1.0.0/18"}}, "overlaps `network.cidr`"),
    "an endpoint that is none": (
        {"network": {"interfaceEndpoints": ["ecr.apis"]}},
        "no service with an interface endpoint, `network.interfaceEndpoints[0]` is `ecr.apis`\n  allowed: ecr.api",
    ),
    "an endpoint that no region has": ({"network": {"interfaceEndpoints": ["iam"]}}, "one endpoint for a whole partition"),
    "no way out": ({"network": {"nat": "none"}}, "no way out for the nodes"),
    "no way out for layers": (
        {"network": {"nat": "none", "s3Endpoint": False, "interfaceEndpoints": list(NODE_ENDPOINTS)}},
        "add s3Endpoint: true",
    ),
    "an add-on that reaches nothing": (
        {"network": PRIVATE_NODES},
        "Cluster Autoscaler does not reach autoscaling",
    ),
    "shells without a way": (
        {"network": PRIVATE, "nodes": {"sessionManager": True}},
        "Systems Manager on the nodes does not reach ec2messages, ssm, ssmmessages",
    ),
    "a driver that reaches nothing": ({"network": PRIVATE_NODES}, "FSx CSI driver does not reach fsx"),
    "an add-on whose services have no endpoint": (
        {**pool(), "network": PRIVATE},
        "Karpenter calls iam, pricing, which no endpoint of a region reaches",
    ),
    "version about to leave support": (
        {
            "controlPlane": {"kubernetesVersion": "1.34"},
            "nodeGroups": {"trn1-32xl": {"releaseVersion": AMI_RELEASES["1.34"]}, "trn1n-32xl": {"releaseVersion": AMI_RELEASES["1.34"]}},
        },
        "standard support ends on 2026-12-02",
    ),
    "version not offered": ({"controlPlane": {"kubernetesVersion": "1.29"}}, "allowed: 1.34, 1.35, 1.36"),
    "open to the world": ({"controlPlane": {"publicAccessCidrs": ["0.0.0.0/0"]}}, "opens the Kubernetes API to the whole internet"),
    "no address": ({"controlPlane": {"publicAccessCidrs": ["my-office"]}}, "checkip"),
    "principal of another partition": (
        {"controlPlane": {"accessEntries": {"me": {"principalArn": "arn:aws-cn:iam::123456789012:role/me"}}}},
        "an ARN of another partition than us-west-2",
    ),
    "key of another region": (
        {"controlPlane": {"encryptionKeyArn": "arn:aws:kms:us-east-1:123456789012:key/00000000-0000-0000-0000-000000000000"}},
        "a key of us-east-1",
    ),
    "no retention of CloudWatch": ({"controlPlane": {"logRetentionDays": 31}}, "not a retention of CloudWatch Logs"),
    "core size outside": ({"coreNodes": {"desiredSize": 9}}, "`coreNodes.desiredSize` is `9`"),
    "size outside": (group(size=3, maxSize=2), "`nodeGroups.g.size` is `3`"),
    "core as a Neuron group": (
        {"nodeGroups": {"core": {"instanceType": "trn1.32xlarge", "releaseVersion": PIN}}},
        "name of the core group",
    ),
    "group in no zone of the network": (group(zoneIds=["usw2-az3"]), "not in `network.zones`, `nodeGroups.g.zoneIds[0]`"),
    "two zones for one EFA group": (group(zoneIds=["usw2-az4", "usw2-az1"]), "EFA does not cross zones"),
    "file system in no zone of the network": ({"storage": {"lustre": {"zoneId": "usw2-az2"}}}, "`storage.lustre.zoneId` is `usw2-az2`"),
    "EFA without EFA": (group(instanceType="inf2.48xlarge", efa=True), "EFA needs an instance type with EFA"),
    "layout without EFA": (group(efa=False, efaLayout="all-efa"), "a layout without EFA"),
    "logical cores on trn1": (group(logicalCoreSize=1), "trn1.32xlarge has no logical cores of that size"),
    "capacity block without reservation": (group(capacityType="CAPACITY_BLOCK"), "a capacity block has a reservation id"),
    "block of a type not sold so": (
        group(instanceType="trn1n.32xlarge", capacityType="CAPACITY_BLOCK", capacityReservationId=BLOCK),
        "a type not sold in capacity blocks",
    ),
    "spot with a reservation": (group(capacityType="SPOT", capacityReservationId=BLOCK), "spot instances use no reservation"),
    "placement group in two zones": (
        group(instanceType="trn1.2xlarge", placementGroup=True, zoneIds=["usw2-az4", "usw2-az1"]),
        "a cluster placement group lies in one zone",
    ),
    "placement group with a reservation": (group(placementGroup=True, capacityReservationId=BLOCK), "a placement group with a reservation"),
    "no AMI release": (group(releaseVersion="latest"), "no AMI release of Kubernetes 1.35"),
    "AMI of another Kubernetes": (group(releaseVersion=AMI_RELEASES["1.36"]), "no AMI release of Kubernetes 1.35"),
    "core AMI of another Kubernetes": ({"coreNodes": {"releaseVersion": AMI_RELEASES["1.34"]}}, "`coreNodes.releaseVersion`"),
    "nodes newer than the control plane": (group(kubernetesVersion="1.36"), "not within the skew that a control plane of 1.35 allows"),
    "nodes four minors older": (group(kubernetesVersion="1.31"), "allowed: 1.35, 1.34, 1.33, 1.32"),
    "core nodes newer than the control plane": ({"coreNodes": {"kubernetesVersion": "1.36"}}, "`coreNodes.kubernetesVersion`"),
    "AMI of another Kubernetes than the nodes": (
        group(kubernetesVersion="1.34", releaseVersion=AMI_RELEASES["1.35"]),
        "no AMI release of Kubernetes 1.34",
    ),
    "AMI release of a day without one": (group(releaseVersion="1.35.4-20260501"), "allowed: 1.35.4-20260505, 1.35.4-20260423"),
    "AMI release with the patch of another": (group(releaseVersion="1.35.6-20260505"), "an AMI release that AWS did not publish"),
    "core AMI of a day without one": (
        {"coreNodes": {"releaseVersion": "1.35.2-20260311"}},
        "`coreNodes.releaseVersion` is `1.35.2-20260311`",
    ),
    "Karpenter's AMI of a day without one": (
        {"addons": {"karpenter": {"enabled": True, "amiVersion": "v20260501"}}},
        "allowed: v20260505, v20260423",
    ),
    "driver too new for the image": (group(releaseVersion=f"1.35.6-{NEWEST_AMI_DATE}"), "driver 2.29 and later need runtime 2.33 or later"),
    "newest AMI with an old image": ({"nodeGroups": {"g": {"instanceType": "trn1.32xlarge"}}}, "is not set, so the newest AMI is used"),
    "toolchain that no group runs": ({"training": {"toolchain": "torch-2.33"}}, "no group of the stack runs it"),
    "driver too old for the image": (group(releaseVersion=f"1.35.1-{first_ami_date((2, 26, 10, 0))}"), "need a driver newer than 2.26"),
    "no size of Lustre": ({"storage": {"lustre": {"capacityGib": 3000}}}, "set it to 4800"),
    "just below a size of Lustre": ({"storage": {"lustre": {"capacityGib": 4799}}}, "set it to 4800"),
    "subnet too small for the groups": (group(maxSize=100), "the groups and pools of usw2-az4 can grow to need"),
    "more nodes than a subnet holds": (
        group(size=2000),
        "addresses, their subnet has 16379, `nodeGroups.g.size` is `2000`\n  allowed: at most 59, as the others are",
    ),
    "more nodes than a subnet holds, at most": (group(maxSize=100), "`nodeGroups.g.maxSize` is `100`"),
    "backup of what S3 holds": (
        {"storage": {"lustre": {"finalBackup": True, "dataRepository": {"s3Uri": "s3://data-bucket"}}}},
        "`storage.lustre.finalBackup` is `true`",
    ),
    "daily backups of what S3 holds": (
        {"storage": {"lustre": {"backupRetentionDays": 7, "dataRepository": {"s3Uri": "s3://data-bucket"}}}},
        "a file system linked to S3 has no backups",
    ),
    "file system larger than any": ({"storage": {"lustre": {"capacityGib": 2_400_000_000}}}, "at most 2147483647"),
    "label too long": (group(labels={"a" * 40 + "/" + "b" * 40: "x"}), "not a label that EKS takes"),
    "label without value": (group(labels={"team": ""}), "not a label that EKS takes"),
    "the program's own label": (group(labels={"trn/node-group": "other"}), "a label that the program sets itself"),
    "the label of EFA without EFA": (
        group(efa=False, labels={"vpc.amazonaws.com/efa.present": "true"}),
        "a label that the program sets itself",
    ),
    "queue with a bad name": ({"addons": {"volcano": {"queues": {"Bad_Q": {}}}}}, "addons.volcano.queues.Bad_Q"),
    "Volcano's own queue": ({"addons": {"volcano": {"queues": {"default": {}}}}}, "a queue that Volcano makes itself"),
    "no quantity": ({"addons": {"volcano": {"queues": {"q": {"capability": {"cpu": "a lot"}}}}}}, "not a quantity of Kubernetes"),
    "endpoint twice": ({"network": {"interfaceEndpoints": ["sts", "sts"]}}, "service named twice, `network.interfaceEndpoints[1]`"),
    "two endpoints for S3": ({"network": {"interfaceEndpoints": ["s3"]}}, "S3 has its gateway endpoint already"),
    "block that AWS does not associate": (
        {"network": {"podCidr": "172.16.0.0/16"}},
        "a block that AWS does not associate with 10.1.0.0/21",
    ),
    "half of the internet": ({"controlPlane": {"publicAccessCidrs": ["0.0.0.0/1", "128.0.0.0/1"]}}, "or a large part of it"),
    "forty blocks that are the world": (
        {"controlPlane": {"publicAccessCidrs": [f"{number}.0.0.0/8" for number in range(11, 51)]}},
        "blocks that together open the Kubernetes API",
    ),
    "a block and one more address": ({"controlPlane": {"publicAccessCidrs": ["11.0.0.0/8", "12.0.0.0/32"]}}, "blocks that together open"),
    "multicast address": ({"controlPlane": {"publicAccessCidrs": ["224.0.0.1/32"]}}, "not a public address"),
    "an address without a mask": ({"controlPlane": {"publicAccessCidrs": ["198.18.0.7"]}}, "write `198.18.0.7/32` for this one address"),
    "a block that holds a private one": ({"controlPlane": {"publicAccessCidrs": ["172.0.0.0/8"]}}, "not a public address"),
    "private address": ({"controlPlane": {"publicAccessCidrs": ["10.0.0.5/32"]}}, "not a public address"),
    "too many blocks": (
        {"controlPlane": {"publicAccessCidrs": [f"8.8.{index}.0/24" for index in range(41)]}},
        "more blocks than EKS takes",
    ),
    "principal twice": (
        {"controlPlane": {"accessEntries": {key: {"principalArn": "arn:aws:iam::123456789012:role/me"} for key in ("a", "b")}}},
        "a principal named twice, `controlPlane.accessEntries.a.principalArn`",
    ),
    "core nodes without addresses": (
        {"network": {"podCidr": "100.64.0.0/26"}, "nodeGroups": {"trn1-32xl": {"maxSize": 2}}},
        "can grow to need",
    ),
    "times of a block on demand": (
        on_block(capacityType="ON_DEMAND"),
        "times of a capacity block without one, `nodeGroups.g.capacityType`",
    ),
    "a block's times without a zone": (
        on_block(capacityBlock={**TIMES, "startsAt": "2026-12-01T11:30:00"}),
        "not a valid time with its zone, `nodeGroups.g.capacityBlock.startsAt`",
    ),
    "a day that no calendar has": (on_block(capacityBlock={**TIMES, "startsAt": "2026-02-30T11:30:00Z"}), "not a valid time with its zone"),
    "a block with times and without an id": (on_block(capacityReservationId=None), "a capacity block has a reservation id"),
    "a block that ends before it starts": (
        on_block(capacityBlock={**TIMES, "startsAt": "2026-12-04T11:30:00Z"}),
        "ends before it starts, `nodeGroups.g.capacityBlock.endsAt` is `2026-12-03T11:30:00Z`\n  allowed: after 2026-12-04T11:30:00Z",
    ),
    "a block that ends at noon": (
        on_block(capacityBlock={**TIMES, "endsAt": "2026-12-03T12:00:00Z"}),
        "all capacity blocks end at 11:30 UTC, `nodeGroups.g.capacityBlock.endsAt` is `2026-12-03T12:00:00Z`\n  allowed: 2026-12-03T11:30:00Z",
    ),
    "a block of 184 days": (on_block(capacityBlock={**TIMES, "endsAt": "2027-06-03T11:30:00Z"}), "no capacity block is as long"),
    "a block that is over before its checkpoint": (
        on_block(capacityBlock={"startsAt": "2026-12-03T10:00:00Z", "endsAt": "2026-12-03T11:30:00Z", "checkpointMinutes": 90}),
        "the group would be emptied before it is filled, `nodeGroups.g.capacityBlock.checkpointMinutes` is `90`\n  allowed: less than 90",
    ),
    "a checkpoint after EKS emptied the group": (on_block(capacityBlock={**TIMES, "checkpointMinutes": 40}), "allowed: at least 45"),
    "a block whose instances are never launched": (on_block(size=0, maxSize=2), "instances are never launched, `nodeGroups.g.size`"),
    "a block with a smallest size": (on_block(minSize=1), "a group with `capacityBlock` is emptied, which a smallest size forbids"),
    "a block and an autoscaler": (on_block(autoscaled=True), "an autoscaler would undo what `capacityBlock` does"),
    "a block and a schedule": (
        on_block(schedule={"downAt": "0 20 * * *", "upAt": "0 7 * * *"}),
        "a schedule saves nothing on a capacity block",
    ),
    "a pool's times of a block on demand": (
        pool(capacityBlock=TIMES),
        "times of a capacity block without one, `addons.karpenter.neuronPools.p.capacityType`",
    ),
    "a pool's block that ends at noon": (
        pool(capacityType="CAPACITY_BLOCK", capacityReservationId=BLOCK, capacityBlock={**TIMES, "endsAt": "2026-12-03T12:00:00Z"}),
        "all capacity blocks end at 11:30 UTC, `addons.karpenter.neuronPools.p.capacityBlock.endsAt`",
    ),
    "a schedule with a smallest size": (at_night(minSize=1), "a group with `schedule` is emptied"),
    "a schedule and an autoscaler": (at_night(autoscaled=True), "an autoscaler would undo what `schedule` does"),
    "a schedule for no nodes": (at_night(size=0, maxSize=1), "a schedule for a group without nodes"),
    "a schedule that goes up and down at once": (
        at_night(schedule={"downAt": "0 7 * * MON", "upAt": "0 7 * * MON-FRI"}),
        "a schedule that goes up and down at one time, `nodeGroups.g.schedule.upAt`",
    ),
    "a name too long for a schedule's": (
        {"nodeGroups": {"n" * 60: at_night()["nodeGroups"]["g"]}},
        f"a name too long for a group with `schedule`, `nodeGroups` is `{'n' * 60}`\n  allowed: at most 59 characters",
    ),
    "a weekday by number": (at_night(schedule={"downAt": "0 20 * * 1-5"}), "not a valid cron expression"),
    "a time zone that there is not": (at_night(schedule={"downAt": "0 20 * * *", "timeZone": "Europe/Bonn"}), "not a valid time zone"),
    "label that kubelet refuses": (group(labels={"node-role.kubernetes.io/worker": "x"}), "nodes with it never join"),
    "label of EKS": (group(labels={"eks.amazonaws.com/x": "y"}), "a label that nodes may not set themselves"),
    "namespace of the problem detector": ({"training": {"namespace": "neuron-healthcheck-system"}}, "`training.namespace`"),
    "too many tags": ({"tags": {f"key{index}": "x" for index in range(41)}}, "too many tags"),
    "no service": ({"network": {"interfaceEndpoints": ["no such"]}}, "`network.interfaceEndpoints[0]` is `no such`"),
    "no namespace": (
        {"controlPlane": {"accessEntries": {"me": {"principalArn": "arn:aws:iam::123456789012:role/me", "namespaces": ["Bad_NS"]}}}},
        "`controlPlane.accessEntries.me.namespaces[0]` is `Bad_NS`",
    ),
    "tag too long": ({"tags": {"k" * 129: "x"}}, "keys to 128"),
    "value of a tag too long": ({"tags": {"k": "x" * 257}}, "values to 256"),
    "tag without a key": ({"tags": {"": "x"}}, "not a tag that every service takes"),
    "tag that FSx refuses": ({"tags": {"team": "ml!"}}, "not a tag that every service takes"),
    "namespace of the nodes' leases": ({"training": {"namespace": "kube-node-lease"}}, "`training.namespace` is `kube-node-lease`"),
    "namespace of Kubernetes": ({"training": {"namespace": "default"}}, "`training.namespace` is `default`"),
    "tags equal but for case": ({"tags": {"team": "a", "Team": "b"}}, "the same key as `team` but for case"),
    "another owner's tag": ({"tags": {"eks:cluster-name": "x"}}, "a reserved tag"),
    "a controller's tag": ({"tags": {"elbv2.k8s.aws/cluster": "x"}}, "a reserved tag"),
    "a driver's tag": ({"tags": {"ebs.csi.aws.com/cluster-name": "x"}}, "a reserved tag"),
    "a reserved prefix in capitals": ({"tags": {"AWS:team": "x"}}, "a reserved tag"),
    "the name tag": ({"tags": {"NAME": "x"}}, "a reserved tag"),
    "reserved tag": ({"tags": {"aws:team": "x"}}, "a reserved tag, `tags.aws:team`"),
    "two scalers of the core nodes": (
        {
            "coreNodes": {"autoscaled": True},
            "addons": {"clusterAutoscaler": {"enabled": True}, "karpenter": {"enabled": True, "generalPool": {"enabled": True}}},
        },
        "would both make nodes for the same untainted pods",
    ),
    "two scalers of one Neuron type": (
        {
            **group(autoscaled=True),
            "addons": {**pool()["addons"], "clusterAutoscaler": {"enabled": True}},
        },
        "Cluster Autoscaler makes Neuron nodes in `nodeGroups.g`",
    ),
    "pool with the general pool's name": (
        {"addons": {"karpenter": {"neuronPools": {"general": {"instanceType": "trn1.32xlarge", "maxNodes": 1}}}}},
        "the name of the pool of ordinary nodes",
    ),
    "pool in no zone of the network": (pool(zoneId="usw2-az3"), "`addons.karpenter.neuronPools.p.zoneId` is `usw2-az3`"),
    "pool of a type that Karpenter takes for another": (pool(instanceType="trn2u.48xlarge"), "picks the standard image"),
    "reserved pool without reservation": (pool(capacityType="RESERVED"), "reserved capacity has a reservation id"),
    "reservation of an on-demand pool": (pool(capacityReservationId=BLOCK), "a reservation that instances of this kind do not use"),
    "pool from a block not sold so": (
        pool(instanceType="trn1n.32xlarge", capacityType="CAPACITY_BLOCK", capacityReservationId=BLOCK),
        "`addons.karpenter.neuronPools.p.instanceType` is `trn1n.32xlarge`",
    ),
    "Karpenter's driver too new for the image": (
        {"addons": {"karpenter": {**pool()["addons"]["karpenter"], "amiVersion": f"v{NEWEST_AMI_DATE}"}}},
        f"`addons.karpenter.amiVersion` is `v{NEWEST_AMI_DATE}`",
    ),
    "pools without addresses": (pool(maxNodes=2000), "can grow to need"),
    "add-on without what it needs": (
        {"addons": {"prometheus": {"enabled": False}, "grafana": {"enabled": True}}},
        "Grafana needs kube-prometheus-stack",
    ),
    "scheduler extension with DRA": (
        {"addons": {"neuron": {"devices": "dra", "schedulerExtension": True}}},
        "beside the DRA driver it counts devices of the plug-in (neuron-helm-chart 1.10",
    ),
    "problem detector with DRA": (
        {"addons": {"neuron": {"devices": "dra", "nodeProblemDetector": True}}},
        "left out in silence by neuron-helm-chart",
    ),
    "a queue of the plug-in's devices with DRA": (
        {"addons": {"neuron": {"devices": "dra"}, "volcano": {"queues": {"training": {"capability": {"aws.amazon.com/neuron": 32}}}}}},
        "`addons.volcano.queues.training.capability.aws.amazon.com/neuron` is `32`\n  allowed: deviceclass/neuron.aws.com",
    ),
    "a queue of claimed devices without DRA": (
        {"addons": {"volcano": {"queues": {"training": {"capability": {"deviceclass/efa.networking.k8s.aws": 8}}}}}},
        "allowed: vpc.amazonaws.com/efa",
    ),
    "weights with DRA": (
        {"addons": {"neuron": {"devices": "dra"}, "volcano": {"queues": {"training": {"weight": 3}}}}},
        "`addons.volcano.queues.training.weight` is `3`",
    ),
    "neuron-monitor with DRA": (
        {"addons": {"neuron": {"devices": "dra"}, "neuronMonitor": {"enabled": True}}},
        "neuron-monitor does not support DRA's driver, as its makers say",
    ),
    "dynamic pool with DRA": (
        {"addons": {"neuron": {"devices": "dra"}, **pool()["addons"]}},
        "`addons.karpenter.neuronPools.p.static` is `false`",
    ),
    "an empty group grows by DRA": (
        {"addons": {"neuron": {"devices": "dra"}}, "nodeGroups": {"trn1-32xl": {"autoscaled": True, "minSize": 0}}},
        "with `addons.neuron.devices: dra` an empty group never grows",
    ),
    "EFA by DRA on Karpenter's nodes": (
        {"addons": {"efa": {"devices": "dra"}, **pool()["addons"]}},
        "EKS does not support EFA by DRA on nodes that Karpenter makes",
    ),
    "an autoscaled group beside a dynamic pool of another type": (
        {
            "addons": {"clusterAutoscaler": {"enabled": True}, **pool(instanceType="trn2.48xlarge")["addons"]},
            "nodeGroups": {"trn1-32xl": {"autoscaled": True}},
        },
        "both would buy, `addons.karpenter.neuronPools.p.static` is `false`",
    ),
    "a reservation over two zones": (
        group(efa=False, zoneIds=["usw2-az4", "usw2-az1"], maxSize=2, capacityReservationId=BLOCK),
        "a capacity reservation lies in one zone",
    ),
    "EFA by DRA on an old Kubernetes": (
        {
            "controlPlane": {"kubernetesVersion": "1.34", "supportType": "EXTENDED"},
            "nodeGroups": {"trn1-32xl": {"releaseVersion": AMI_RELEASES["1.34"]}, "trn1n-32xl": {"releaseVersion": AMI_RELEASES["1.34"]}},
            "addons": {"efa": {"devices": "dra"}},
        },
        "the EFA DRA driver needs Kubernetes 1.35 or later",
    ),
    "two repairers": (
        {"addons": {"neuron": {"nodeProblemDetector": True, "nodeRecovery": True}}},
        "`nodeGroups.trn1-32xl.nodeRepair` is `true`",
    ),
    "recovery without detector": ({"addons": {"neuron": {"nodeRecovery": True}}}, "the node problem detector, which is off"),
    "two readers of one runtime": (
        {"addons": {"cloudWatch": {"enabled": True, "neuronMetrics": True}, "neuronMonitor": {"enabled": True}}},
        "two monitors would read the same Neuron runtime",
    ),
    "logs sent twice": (
        {"addons": {"cloudWatch": {"enabled": True, "containerLogs": True}, "fluentBit": {"enabled": True}}},
        "paid for, twice",
    ),
    "managed Prometheus in China": (
        {"region": "cn-north-1", "addons": {"prometheus": {"enabled": True}, "managedPrometheus": {"enabled": True}}},
        "not offered in China",
    ),
    "no retention of pod logs": ({"addons": {"fluentBit": {"retentionDays": 31}}}, "`addons.fluentBit.retentionDays` is `31`"),
    "two layers of queues": ({"addons": {"kueue": {"enabled": True}}}, "`addons.kueue.namespace` is not set"),
    "two layers of queues, by name": (
        {"addons": {"kueue": {"enabled": True, "namespace": "training"}}},
        "Kueue and Volcano would both admit the same jobs",
    ),
    "Kueue in an add-on's namespace": ({"addons": {"kueue": {"enabled": True, "namespace": "monitoring"}}}, "not Kueue's to make"),
    "Kueue's namespace made twice": (
        {"addons": {"volcano": {"enabled": False}, "kueue": {"enabled": True, "namespace": "training"}}},
        "which the stack makes already",
    ),
    "Ray without its scheduler": (
        {"addons": {"volcano": {"enabled": False}, "kubeRay": {"enabled": True, "batchScheduler": "volcano"}}},
        "`addons.kubeRay.batchScheduler` is `volcano`",
    ),
    "training-operator without its scheduler": (
        {"addons": {"volcano": {"enabled": False}, "trainingOperator": {"enabled": True, "batchScheduler": "volcano"}}},
        "`addons.trainingOperator.batchScheduler` is `volcano`",
    ),
    "Slurm without nodes": ({"addons": {"certManager": {"enabled": True}, "slurm": {"enabled": True}}}, "Slurm has no nodes"),
    "Slurm on a group that is not there": (
        {"addons": {"certManager": {"enabled": True}, "slurm": {"enabled": True, "nodeGroups": ["trn9"]}}},
        "`addons.slurm.nodeGroups` is `trn9`",
    ),
    "Slurm on groups of other devices": (
        {
            "nodeGroups": {"one": {"instanceType": "trn1.2xlarge", "size": 1, "efa": False}},
            "addons": {"certManager": {"enabled": True}, "slurm": {"enabled": True, "nodeGroups": ["trn1-32xl", "one"]}},
        },
        "slurmd ends on nodes with other devices",
    ),
    "Slurm without the device plug-in": (
        {
            "addons": {
                "neuron": {"devices": "dra"},
                "certManager": {"enabled": True},
                "slurm": {"enabled": True, "nodeGroups": ["trn1-32xl"]},
            }
        },
        "Slurm's pods ask for devices of the plug-in",
    ),
    "Batch without nodes": ({"addons": {"batch": {"enabled": True}}}, "AWS Batch has no nodes"),
    "Batch on a group that is not there": (
        {"addons": {"batch": {"enabled": True, "nodeGroups": ["trn9"]}}},
        "`addons.batch.nodeGroups` is `trn9`",
    ),
    "Batch on Slurm's nodes": (
        {
            "addons": {
                "certManager": {"enabled": True},
                "slurm": {"enabled": True, "nodeGroups": ["trn1-32xl"]},
                "batch": {"enabled": True, "nodeGroups": ["trn1-32xl"]},
            }
        },
        "Slurm takes all devices of its nodes",
    ),
    "Batch without the device plug-in": (
        {"addons": {"neuron": {"devices": "dra"}, "batch": {"enabled": True, "nodeGroups": ["trn1-32xl"]}}},
        "AWS Batch's pods ask for devices of the plug-in",
    ),
    "Batch in a namespace it refuses": (
        {"training": {"namespace": "kube-jobs"}, "addons": {"batch": {"enabled": True, "nodeGroups": ["trn1-32xl"]}}},
        "a namespace that AWS Batch refuses",
    ),
    "MPI without its scheduler": (
        {"addons": {"volcano": {"enabled": False}, "mpiOperator": {"enabled": True, "batchScheduler": "volcano"}}},
        "`addons.mpiOperator.batchScheduler` is `volcano`",
    ),
    "driver for no bucket": ({"addons": {"mountpointS3": {"enabled": True}}}, "may read no bucket"),
    "queue below nothing": ({"addons": {"volcano": {"queues": {"q": {"parent": "nowhere"}}}}}, "no queue of the stack"),
    "queues in a circle": (
        {"addons": {"volcano": {"queues": {"a": {"parent": "b"}, "b": {"parent": "a"}}}}},
        "a cycle of parents",
    ),
    "children that deserve more than their parent": (
        {"addons": {"volcano": {"queues": {"a": {"parent": "root"}, "b": {"parent": "a", "deserved": {"cpu": 4}}}}}},
        "its children b deserve 4 together, `addons.volcano.queues.a.deserved.cpu` is `0`",
    ),
    "children that deserve more together": (
        {
            "addons": {
                "volcano": {
                    "queues": {
                        "a": {"parent": "root", "deserved": {"memory": "6Gi"}},
                        "b": {"parent": "a", "deserved": {"memory": "4Gi"}},
                        "c": {"parent": "a", "deserved": {"memory": "4096Mi"}},
                    }
                }
            }
        },
        "its children b, c deserve 8589934592 together",
    ),
    "a queue that deserves more than it may use": (
        {"addons": {"volcano": {"queues": {"a": {"parent": "root", "capability": {"cpu": 2}, "deserved": {"cpu": "2500m"}}}}}},
        "more than the queue's own `capability`",
    ),
    "a queue that may use more than one above it": (
        {
            "addons": {
                "volcano": {
                    "queues": {
                        "a": {"parent": "root", "capability": {"cpu": 2}},
                        "b": {"parent": "a"},
                        "c": {"parent": "b", "capability": {"cpu": 3}},
                    }
                }
            }
        },
        "more than a queue above it may use",
    ),
    "queues six levels deep": (
        {"addons": {"volcano": {"queues": {f"q{level}": {"parent": f"q{level - 1}" if level else "root"} for level in range(6)}}}},
        "6 levels of queues, Volcano takes 5",
    ),
    "share without hierarchy": ({"addons": {"volcano": {"queues": {"q": {"deserved": {"cpu": 4}}}}}}, "only a hierarchy of queues has"),
    "share that is no quantity": (
        {"addons": {"volcano": {"queues": {"q": {"parent": "root", "deserved": {"cpu": "much"}}}}}},
        "`addons.volcano.queues.q.deserved.cpu` is `much`",
    ),
    "namespace of an add-on": ({"training": {"namespace": "monitoring"}}, "`training.namespace` is `monitoring`"),
    "bounds of CoreDNS": ({"addons": {"coreDns": {"minReplicas": 20}}}, "more replicas at least than at most"),
    "the program's own tag": ({"tags": {"trn:cluster": "x"}}, "a reserved tag"),
}


def test_an_ami_of_the_kubernetes_that_a_missing_key_named_is_answered_about_the_key():
    """The release is as it was; what changed is the version, to the program's default."""
    configuration = dev_configuration()
    del configuration["controlPlane"]["kubernetesVersion"]
    configuration |= group(releaseVersion=AMI_RELEASES["1.36"])
    with pytest.raises(ConfigurationError) as caught:
        parse_settings(configuration, "dev", rehearsal=True)
    said = (
        "error: no AMI release of Kubernetes 1.35, which it is without `controlPlane.kubernetesVersion`, `nodeGroups.g.releaseVersion` is"
    )
    assert said in str(caught.value)
    assert 'hint: set `controlPlane.kubernetesVersion: "1.36"`, or pin another release' in str(caught.value)


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_configuration_is_refused_with_its_reason(case: str):
    """Each of these would fail, or bill, some minutes into a real up."""
    changes, expected = BROKEN[case]
    with pytest.raises(ConfigurationError) as caught:
        parse_settings(merged(dev_configuration(), **changes), "dev", rehearsal=True)
    assert expected in str(caught.value)
    assert all(problem.hint for problem in caught.value.problems)


def test_every_rule_refuses_something_in_the_table():
    """A rule that nothing breaks may have stopped working."""
    broken = []
    for changes, _ in BROKEN.values():
        # What is no value at all is refused before any rule reads it.
        with suppress(ValueError):
            broken.append(Settings.model_validate(merged(dev_configuration(), **changes)))
    assert [rule.__name__ for rule in rules.RULES if not any(any(True for _ in rule(settings)) for settings in broken)] == []


FINE: dict[str, dict[str, Any]] = {
    "two zones without EFA": group(efa=False, zoneIds=["usw2-az4", "usw2-az1"]),
    "1.34 with extended support": {
        "controlPlane": {"kubernetesVersion": "1.34", "supportType": "EXTENDED"},
        "nodeGroups": {"trn1-32xl": {"releaseVersion": AMI_RELEASES["1.34"]}, "trn1n-32xl": {"releaseVersion": AMI_RELEASES["1.34"]}},
    },
    "private only": {"controlPlane": {"publicAccessCidrs": []}},
    "an open block of the widest kind": {"controlPlane": {"publicAccessCidrs": ["11.0.0.0/8"]}},
    "closed network": {"network": PRIVATE},
    "closed network without what calls more": {
        "network": {**PRIVATE, "interfaceEndpoints": list(NODE_ENDPOINTS)},
        "storage": {"lustre": {"enabled": False}},
        "addons": {key: {"enabled": False} for key in SWITCHED},
    },
    "capacity block": group(capacityType="CAPACITY_BLOCK", capacityReservationId=BLOCK),
    "capacity block with times": on_block(),
    "capacity block that starts at once": on_block(
        capacityBlock={"startsAt": "2026-12-01T04:00:00+01:00", "endsAt": "2026-12-02T06:30:00-05:00"}
    ),
    "capacity block and its extensions": on_block(capacityBlock={**TIMES, "endsAt": "2027-06-01T11:30:00Z"}),
    "pool on a capacity block": pool(capacityType="CAPACITY_BLOCK", capacityReservationId=BLOCK, capacityBlock=TIMES),
    "empty at night": at_night(),
    "empty from Friday on": at_night(schedule={"downAt": "0 20 * * FRI"}),
    "tags at their longest and shortest": {"tags": {"k": "", "k" * 128: "x" * 256}},
    "node label of kubelet": group(labels={"node.kubernetes.io/role": "x"}),
    "the label of EFA on a group with EFA": group(labels={"vpc.amazonaws.com/efa.present": "true"}),
    "secondary block of the same range": {"network": {"podCidr": "10.64.0.0/16"}},
    "no image named, newest AMI": {"training": {"toolchain": None}, "nodeGroups": {"trn1-32xl": {"releaseVersion": None}}},
}


@pytest.mark.parametrize("case", FINE)
def test_what_is_allowed_passes(case: str):
    """A rule that refuses too much sends people back to their Terraform."""
    parse_settings(merged(dev_configuration(), **FINE[case]), "dev", rehearsal=True)


NOTED: dict[str, tuple[dict[str, Any], str]] = {
    "scheduler older than Kubernetes": (
        {
            "controlPlane": {"kubernetesVersion": "1.36"},
            "training": {"toolchain": None},
            "nodeGroups": {"trn1-32xl": {"releaseVersion": AMI_RELEASES["1.36"]}, "trn1n-32xl": {"releaseVersion": AMI_RELEASES["1.36"]}},
        },
        "Volcano 1.15.0 lists 1.35 and older",
    ),
    "many nodes far apart": (group(size=0, maxSize=8), "nodeGroups.g may have 8 nodes without a placement group"),
    "AMI release newer than the table": (
        {"coreNodes": {"releaseVersion": "1.35.9-20261101"}},
        "coreNodes.releaseVersion 1.35.9-20261101 is newer than 20260714, the newest release known here",
    ),
    "a file system slower than the original's": (
        {},
        (
            "the file system gives 146 MB/s, an eighth of the original blueprint's 1,172: `storage.lustre.capacityGib: 2400` and"
            " `storage.lustre.throughputMbpsPerTib: 500` give as much, for 1.12 USD an hour (price not verified) in place of 0.24"
        ),
    ),
    "documentation address": ({}, "publicAccessCidrs holds a documentation address"),
    "no public endpoint": ({"controlPlane": {"publicAccessCidrs": []}}, "must run inside the VPC"),
    "zone never seen to offer the type": (
        group(instanceType="trn1n.32xlarge", zoneIds=["usw2-az1"]),
        "trn1n.32xlarge was seen in usw2-az4, not in usw2-az1",
    ),
    "region never seen to offer the type": (group(instanceType="trn2.48xlarge"), "trn2.48xlarge was not seen in us-west-2"),
    "no on-demand price": (group(instanceType="trn2.48xlarge"), "has no on-demand list price"),
    "file system in another zone": ({"storage": {"lustre": {"zoneId": "usw2-az1"}}}, "the file system in usw2-az1"),
    "EFA without plug-in": ({"addons": {"efa": {"enabled": False}}}, "`addons.efa` is off"),
    "no NAT gateway": (
        {"network": PRIVATE},
        "need a way of your own",
    ),
    "spot": (group(capacityType="SPOT"), "its price moves by the hour"),
    "capacity block without times": (
        group(capacityType="CAPACITY_BLOCK", capacityReservationId=BLOCK),
        "nodeGroups.g is on a capacity block without `capacityBlock`",
    ),
    "group without nodes at night": (
        at_night(),
        "nodeGroups.g has no nodes from 0 20 * * MON-FRI until 0 7 * * MON-FRI (Europe/Berlin): jobs there get SIGTERM",
    ),
    "autoscaler without a group": (
        {"coreNodes": {"autoscaled": False}, "addons": {"clusterAutoscaler": {"enabled": True}}},
        "it has nothing to size",
    ),
    "group without autoscaler": ({**group(autoscaled=True), "addons": {"clusterAutoscaler": {"enabled": False}}}, "nothing changes it"),
    "Karpenter without a pool": ({"addons": {"karpenter": {"enabled": True}}}, "it makes no node"),
    "dashboards without metrics": (
        {"addons": {"prometheus": {"enabled": True}, "grafana": {"enabled": True}, "neuronMonitor": {"enabled": False}}},
        "its dashboards of cores and device memory stay empty",
    ),
    "findings without node repair": (
        {
            "nodeGroups": {name: {"nodeRepair": False} for name in ("trn1-32xl", "trn1n-32xl")},
            "addons": {"nodeMonitoring": {"enabled": True}},
        },
        "nothing acts on what it finds",
    ),
    "dashboards without the Lustre exporter": (
        {"addons": {"prometheus": {"enabled": True}, "grafana": {"enabled": True}, "lustreExporter": {"enabled": False}}},
        "nothing says when Lustre is full",
    ),
    "Trainer without JobSet": ({"addons": {"trainer": {"enabled": True, "jobSet": False}}}, "until there is a JobSet by other means"),
    "workspace that Grafana cannot read": (
        {"addons": {"mirror": "mirror.example", **{key: {"enabled": True} for key in ("grafana", "prometheus", "managedPrometheus")}}},
        "its plug-in comes from grafana.com",
    ),
    "Batch without a node of its own": (
        {"addons": {"batch": {"enabled": True, "nodeGroups": ["trn1-32xl"]}}},
        "no node is labelled as its own, and jobs stay RUNNABLE",
    ),
    "load balancers that hold the VPC": ({"addons": {"loadBalancerController": {"enabled": True}}}, "delete them before a destroy"),
    "pool apart from the groups": (pool(zoneId="usw2-az1"), "has no EFA between them"),
    "Neuron without plug-in": ({"addons": {"neuron": {"enabled": False}}}, "`addons.neuron` is off"),
}


@pytest.mark.parametrize(
    "changes", [{}, group(maxSize=8, placementGroup=True), group(maxSize=8, efa=False), group(maxSize=8, capacityReservationId=BLOCK)]
)
def test_a_placement_group_is_recommended_only_where_it_serves(changes: dict[str, Any]):
    """A few nodes, and those of a reservation, are better off without."""
    settings = parse_settings(merged(dev_configuration(), **changes), "dev", rehearsal=True)
    assert not [notice for notice in rules.notices(settings) if "placement group" in notice]


@pytest.mark.parametrize("case", NOTED)
def test_what_is_allowed_but_expensive_is_warned_of(case: str):
    """They are choices: the user is warned, and nothing is refused."""
    changes, expected = NOTED[case]
    settings = parse_settings(merged(dev_configuration(), **changes), "dev", rehearsal=True)
    assert expected in "\n".join(rules.notices(settings))
