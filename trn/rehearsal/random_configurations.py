"""Random valid configurations, each by number: the number replays it."""

import random
from datetime import datetime, timedelta
from typing import Any

from addons.registry import REGISTRY, SWITCHED, with_needs
from facts.catalogue import CORE_TYPES, NEURON_TYPES, InstanceType, known_zone_ids
from facts.efa import LAYOUTS
from facts.endpoints import INTERFACE_ENDPOINTS, NODE_ENDPOINTS
from facts.neuron_releases import AMI_RELEASES
from facts.regions import CONTROL_PLANE_REFUSED_ZONES, zone_id_prefix, zone_ids

USUAL = ("neuron", "efa", "volcano", "etcd")
"""Add-ons that most configurations have."""
FIGHTING = (("clusterAutoscaler", "karpenter"),)
"""Pairs of which a random configuration has one: here they would fight for some group or pod."""
TIME_ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata")
REGIONS = ("us-west-2", "us-east-2", "ap-south-2", "sa-east-1")


def random_configuration(number: int) -> dict[str, Any]:
    """The configuration of a number: any region, network, sizes, capacity and set of add-ons that the rules allow."""
    chance = random.Random(number)
    region = chance.choice(REGIONS)
    offered = [zone_id for zone_id in zone_ids(region) if zone_id not in CONTROL_PLANE_REFUSED_ZONES]
    zones = chance.sample(offered, chance.randint(2, len(offered)))
    version = chance.choice(list(AMI_RELEASES))
    closed = chance.random() < 0.2
    configuration: dict[str, Any] = {
        "name": f"train-{number}",
        "region": region,
        "network": {
            "zones": zones,
            "cidr": f"10.{chance.randint(0, 255)}.0.0/{chance.randint(16, 23)}",
            "podCidr": "100.64.0.0/16",
            "nat": "none" if closed else chance.choice(["single", "per-zone"]),
            "s3Endpoint": closed or chance.random() < 0.7,
            "interfaceEndpoints": [] if closed else chance.choice([[], ["ecr.api", "ecr.dkr"]]),
        },
        "controlPlane": {
            "kubernetesVersion": version,
            "supportType": "EXTENDED" if version == "1.34" else chance.choice(["STANDARD", "EXTENDED"]),
            "publicAccessCidrs": chance.choice([[], ["198.18.0.7/32"], ["198.18.0.7/32", "198.19.0.0/16"]]),
            "accessEntries": {f"team{index}": _access_entry(chance, index) for index in range(chance.randint(0, 3))},
        },
        "coreNodes": {"instanceType": chance.choice(list(CORE_TYPES))},
        "nodeGroups": {f"g{index}": _node_group(chance, index, zones, AMI_RELEASES[version]) for index in range(chance.randint(0, 4))},
        "storage": {"lustre": _lustre(chance, zones)},
        "addons": _addons(chance, zones),
    }
    configuration["coreNodes"]["autoscaled"] = chance.random() < 0.3
    _settle(configuration)
    if chance.random() < 0.3:
        configuration["controlPlane"]["encryptionKeyArn"] = f"arn:aws:kms:{region}:123456789012:key/00000000-0000-0000-0000-000000000000"
    if chance.random() < 0.3:
        configuration["budget"] = {"alarm": {"limitUsdPerMonth": 20_000, **_told(chance, region)}}
    return configuration


def random_change(number: int) -> dict[str, Any]:
    """The configuration of a number with some of what may change in a running cluster drawn again: groups, file system, add-ons, addresses."""
    configuration, chance = random_configuration(number), random.Random(f"change {number}")
    zones, version = configuration["network"]["zones"], configuration["controlPlane"]["kubernetesVersion"]
    for section in chance.sample(["groups", "file system", "add-ons", "addresses"], chance.randint(1, 3)):
        if section == "groups":
            count = chance.randint(0, 4)
            configuration["nodeGroups"] = {f"g{index}": _node_group(chance, index, zones, AMI_RELEASES[version]) for index in range(count)}
        elif section == "file system":
            configuration["storage"] = {"lustre": _lustre(chance, zones)}
        elif section == "add-ons":
            configuration["addons"] = _addons(chance, zones)
        else:
            configuration["network"]["podCidr"] = chance.choice(["100.65.0.0/16", "100.66.0.0/16"])
    _settle(configuration)
    return configuration


def _settle(configuration: dict[str, Any]) -> None:
    """Change what the sections do not take from one another."""
    if configuration["network"]["nat"] == "none":
        # It calls IAM, which has no endpoint in a region.
        configuration["addons"]["karpenter"]["enabled"] = False
        configuration["network"]["interfaceEndpoints"] = _endpoints(configuration)
    # Slurm takes whole groups, and leaves Batch the others; without one there is nothing for them.
    for key, groups in (("slurm", list(configuration["nodeGroups"])[:1]), ("batch", list(configuration["nodeGroups"])[1:])):
        configuration["addons"][key]["nodeGroups"] = groups
        configuration["addons"][key]["enabled"] &= bool(groups)
    configuration["coreNodes"]["autoscaled"] &= not configuration["addons"]["karpenter"]["enabled"]


def _told(chance: random.Random, region: str) -> dict[str, Any]:
    """Who gets the messages of a budget, and when."""
    actual = chance.sample([50, 80, 90, 100], chance.randint(1, 4))
    told: dict[str, Any] = {"emails": ["team@example.com"], "actualPercent": actual, "forecastPercent": chance.choice([[], [100]])}
    return told | chance.choice([{}, {"snsTopicArn": f"arn:aws:sns:{region}:123456789012:costs"}])


def _endpoints(configuration: dict[str, Any]) -> list[str]:
    """Endpoints for nodes, and for all that the add-ons of a configuration may call; S3 has its gateway endpoint."""
    on = [item for item in REGISTRY if not item.switch or configuration["addons"][item.key]["enabled"]]
    return sorted({*NODE_ENDPOINTS, *(service for item in on for service in item.endpoints)} & INTERFACE_ENDPOINTS - {"s3"})


def _addons(chance: random.Random, zones: list[str]) -> dict[str, Any]:
    """Any set of add-ons that the rules allow: what one needs is added, and of those that fight one is left."""
    on = {key for key in SWITCHED if chance.random() < (0.8 if key in USUAL else 0.3)}
    on |= {need for key in on for need in with_needs(key)}
    for one, other in FIGHTING:
        on -= {chance.choice([one, other])} if {one, other} <= on else set()
    on = {key for key in on if set(with_needs(key)) <= on}
    addons: dict[str, Any] = {key: {"enabled": key in on} for key in SWITCHED}
    addons["neuron"] |= {"schedulerExtension": chance.random() < 0.3, "nodeProblemDetector": chance.random() < 0.3}
    addons["volcano"]["queues"] = {f"q{index}": {"weight": index + 1} for index in range(chance.randint(0, 3))}
    addons["etcd"]["persistent"] = chance.random() < 0.4
    addons["kueue"]["namespace"] = "kueue-jobs"
    addons["mountpointS3"]["buckets"] = ["corpus"]
    addons["idleGuard"] |= {"emails": ["team@example.com"], "action": chance.choice(["message", "scale-to-zero"])}
    addons["trainer"]["images"] = chance.choice([{}, {"xla-2.30": "registry.example/train:1.0"}])
    addons["coreDns"] = {"autoscaled": chance.random() < 0.5}
    pool = {"instanceType": "trn1.2xlarge", "maxNodes": 1, "static": chance.random() < 0.5, "zoneId": chance.choice(zones)}
    addons["karpenter"] |= {
        "neuronPools": {"small": pool} if chance.random() < 0.7 else {},
        "generalPool": {"enabled": chance.random() < 0.5},
    }
    return addons


def _access_entry(chance: random.Random, index: int) -> dict[str, Any]:
    entry: dict[str, Any] = {"principalArn": f"arn:aws:iam::123456789012:role/team{index}"}
    return {**entry, "policy": "AmazonEKSEditPolicy", "namespaces": ["training"]} if chance.random() < 0.5 else entry


def _node_group(chance: random.Random, index: int, zones: list[str], release: str) -> dict[str, Any]:
    instance = chance.choice(list(NEURON_TYPES.values()))
    # Where the catalogue knows zones of the region, only they launch the type; a group elsewhere must stay empty.
    known = known_zone_ids(instance, zones[0].split("-")[0])
    offered = [zone_id for zone_id in zones if zone_id in known or not known]
    group: dict[str, Any] = {
        "instanceType": instance.name,
        "size": chance.randint(0, 4) if offered else 0,
        "maxSize": chance.randint(4, 6),
        "autoscaled": chance.random() < 0.3,
        "zoneIds": [chance.choice(offered or zones)],
        "nodeRepair": chance.random() < 0.5,
    }
    if instance.has_efa and chance.random() < 0.8:
        group["efaLayout"] = chance.choice(LAYOUTS)
    else:
        group["efa"] = False
        group["zoneIds"] = chance.choice([group["zoneIds"], (offered or zones)[:2]])
    if chance.random() < 0.5:
        group["releaseVersion"] = release
    purchase = chance.random()
    if purchase < 0.3 and instance.capacity_block and len(group["zoneIds"]) == 1:
        group |= {"capacityType": "CAPACITY_BLOCK", "capacityReservationId": f"cr-0123456789abcde{index:02x}"}
    elif purchase < 0.4:
        group["capacityType"] = "SPOT"
    elif purchase < 0.6 and len(group["zoneIds"]) == 1:
        group["placementGroup"] = True
    if instance.chip and instance.chip.has_logical_cores and chance.random() < 0.5:
        group["logicalCoreSize"] = chance.choice(sorted(instance.chip.logical_sizes))
    if known:
        group["candidates"] = _candidates(chance, instance, zones)
    return group | _times(chance, group)


def _times(chance: random.Random, group: dict[str, Any]) -> dict[str, Any]:
    """When a group has nodes: times of its block, or hours of the week, where it has nodes at all."""
    if not group["size"] or chance.random() < 0.5:
        return {}
    if group.get("capacityType") == "CAPACITY_BLOCK":
        starts = datetime(2026, 12, chance.randint(1, 20), 11, 30)
        ends = starts + timedelta(days=chance.randint(1, 14))
        times = {"startsAt": f"{starts:%Y-%m-%dT%H:%M:%SZ}", "endsAt": f"{ends:%Y-%m-%dT%H:%M:%SZ}"}
        return {"autoscaled": False, "capacityBlock": {**times, "checkpointMinutes": chance.choice([45, 60, 240])}}
    hours = {"downAt": f"{chance.randint(0, 59)} {chance.randint(18, 23)} * * MON-FRI", "timeZone": chance.choice(TIME_ZONES)}
    return {"autoscaled": False, "schedule": {**hours, **chance.choice([{}, {"upAt": "30 6 * * MON-FRI"}])}}


def _candidates(chance: random.Random, instance: InstanceType, zones: list[str]) -> list[dict[str, str]]:
    """Places that the catalogue knows for the type: zones of the network, and of another region."""
    here = [{"zoneId": zone_id} for zone_id in known_zone_ids(instance, zones[0].split("-")[0]) if zone_id in zones]
    others = [
        {"region": region, "zoneId": zone_id}
        for region in REGIONS
        if zone_id_prefix(region) != zones[0].split("-")[0]
        for zone_id in known_zone_ids(instance, zone_id_prefix(region))
        if zone_id not in CONTROL_PLANE_REFUSED_ZONES
    ]
    return chance.sample(here, chance.randint(0, len(here))) + chance.sample(others, chance.randint(0, min(2, len(others))))


def _lustre(chance: random.Random, zones: list[str]) -> dict[str, Any]:
    lustre: dict[str, Any] = {
        "enabled": chance.random() < 0.8,
        "capacityGib": chance.choice([1200, 2400, 4800]),
        "throughputMbpsPerTib": chance.choice([125, 250, 500, 1000]),
        "zoneId": chance.choice(zones),
        "dynamicClass": chance.random() < 0.5,
    }
    if chance.random() < 0.3:
        lustre["dataRepository"] = {"s3Uri": "s3://training-data/corpus"}
    return lustre
