"""Instances, interfaces, volumes and load balancers as EC2 and Elastic Load Balancing describe them, each tagged by who makes it."""

from collections.abc import Iterator, Mapping
from typing import Any

from facts.resources import balancing, ec2_compute
from simulator.account import kinds, view
from simulator.account.objects import CloudObject, Stray
from simulator.account.state import AccountState
from simulator.aws_endpoint.entries import Derive, Entry, Kind, arn, made_id, tag_list, tags_of
from simulator.aws_endpoint.network_entries import vpc_of
from simulator.recording import Registration

LEFT_BY_CNI, KARPENTER_NODE, LOAD_BALANCER = "interfaces of ", "karpenter node", "load balancer"
"""Beginnings of the names of strays."""
_BALANCER_NAME = "k8s-default-service"


def _template(state: AccountState, item: Registration) -> Entry:
    versions = {"LatestVersionNumber": item.outputs.get("latestVersion", 1), "DefaultVersionNumber": item.outputs.get("defaultVersion", 1)}
    return {"LaunchTemplateId": item.id, "LaunchTemplateName": item.inputs["name"], **versions, "Tags": tag_list(tags_of(item))}


def _placement_group(state: AccountState, item: Registration) -> Entry:
    members = {"GroupName": item.id, "Strategy": item.inputs.get("strategy", "cluster")}
    return {**members, "GroupId": item.outputs.get("placementGroupId", made_id("pg", item.id)), "Tags": tag_list(tags_of(item))}


def node_instances(state: AccountState, _region: str) -> Iterator[tuple[str, Entry]]:
    """Instances of managed node groups: EKS tags them, and the launch template does."""
    for item in state.existing(kinds.NODE_GROUP):
        if item.status == "failed":
            continue
        for number in range(view.desired_size(item.registration)):
            yield _node(state, item, number)


def _node(state: AccountState, item: CloudObject, number: int) -> tuple[str, Entry]:
    group, template = item.registration, view.template_of(state, item.registration)
    subnets = view.listed(group.inputs.get("subnetIds"))
    instance_type = view.instance_type_of(state, group)
    name, cluster, instance = group.inputs["nodeGroupName"], group.inputs["clusterName"], made_id("i", group.urn, group.id, number)
    tags = {**_given_tags(template, "instance"), "eks:cluster-name": cluster, "eks:nodegroup-name": name}
    tags[f"kubernetes.io/cluster/{cluster}"] = "owned"
    placement = (template.get("placement") or {}).get("groupName")
    entry: Entry = {
        "InstanceId": instance,
        "InstanceType": instance_type.name if instance_type else view.listed(group.inputs.get("instanceTypes"))[0],
        "SubnetId": subnets[number % len(subnets)],
        "VpcId": vpc_of(state, subnets),
        "SecurityGroups": [{"GroupId": each} for ids in view.security_groups_of(state, group)[:1] for each in ids],
        "NetworkInterfaces": _interfaces_of(template),
        "Tags": tag_list(tags),
    }
    if placement:
        entry["Placement"] = {"GroupName": placement}
    reserved = (template.get("capacityReservationSpecification") or {}).get("capacityReservationTarget") or {}
    if reserved.get("capacityReservationId"):
        entry["CapacityReservationId"] = reserved["capacityReservationId"]
    if group.inputs.get("capacityType") == "SPOT":
        entry["InstanceLifecycle"] = "spot"
    if group.inputs.get("capacityType") == "CAPACITY_BLOCK":
        entry["InstanceLifecycle"] = "capacity-block"
    return instance, _INSTANCE.with_status(entry, item.status if item.status in ("creating", "deleting") else "ready")


def _interfaces_of(template: Mapping[str, Any]) -> list[Entry]:
    listed = view.listed(template.get("networkInterfaces")) or [{}]
    return [
        {
            "InterfaceType": interface.get("interfaceType", "interface"),
            "Attachment": {"NetworkCardIndex": interface.get("networkCardIndex", 0), "DeviceIndex": interface.get("deviceIndex", 0)},
            "Groups": [{"GroupId": group_id} for group_id in view.listed(interface.get("securityGroups"))],
        }
        for interface in listed
    ]


def _given_tags(template: Mapping[str, Any], resource: str) -> dict[str, str]:
    given = (each for each in view.listed(template.get("tagSpecifications")) if each.get("resourceType") == resource)
    return {key: value for each in given for key, value in (each.get("tags") or {}).items()}


def node_volumes(state: AccountState, _region: str) -> Iterator[tuple[str, Entry]]:
    """Root volumes of nodes, in use; they go with their instance."""
    for item in state.existing(kinds.NODE_GROUP):
        template = view.template_of(state, item.registration)
        sizes = [int((each.get("ebs") or {}).get("volumeSize", 20)) for each in view.listed(template.get("blockDeviceMappings"))] or [20]
        for number in range(view.desired_size(item.registration) if item.status != "failed" else 0):
            volume = made_id("vol", item.registration.urn, item.registration.id, number)
            tags = tag_list(_given_tags(template, "volume"))
            yield volume, {"VolumeId": volume, "Size": sizes[0], "VolumeType": "gp3", "State": "in-use", "Tags": tags}


def karpenter_instances(state: AccountState, _region: str) -> Iterator[tuple[str, Entry]]:
    """Instances that Karpenter launched, with the tags that it gives them (Karpenter documentation, NodeClasses, spec.tags)."""
    for stray in _strays(state, KARPENTER_NODE):
        cluster = _cluster_name(state, stray)
        tags = {f"kubernetes.io/cluster/{cluster}": "owned", "eks:eks-cluster-name": cluster, "karpenter.sh/nodepool": "default"}
        place = {"SubnetId": stray.subnet_ids[0], "VpcId": vpc_of(state, stray.subnet_ids)} if stray.subnet_ids else {}
        instance = made_id("i", stray.name, stray.urn)
        entry = {"InstanceId": instance, "InstanceType": "m5.xlarge", "State": {"Name": "running"}, **place, "Tags": tag_list(tags)}
        yield instance, entry


def balancers(state: AccountState, region: str) -> Iterator[tuple[str, Entry]]:
    """Load balancers that Services asked for, with the load balancer controller's tags."""
    for stray in _strays(state, LOAD_BALANCER):
        which = balancer_arn(stray, region)
        tags = tag_list({"elbv2.k8s.aws/cluster": _cluster_name(state, stray)})
        place = {"VpcId": vpc_of(state, stray.subnet_ids)}
        yield which, {"LoadBalancerArn": which, "LoadBalancerName": _BALANCER_NAME, **place, "Tags": tags}


def balancer_arn(stray: Stray, region: str) -> str:
    """ARN of the load balancer that a stray describes."""
    digits = made_id("", stray.name, stray.urn)[1:]
    return arn(region, "elasticloadbalancing", balancing.load_balancer_path(_BALANCER_NAME, digits))


def interfaces(state: AccountState, _region: str) -> Iterator[tuple[str, Entry]]:
    """All network interfaces; those that the VPC CNI left are `available`, and carry its tags."""
    for stray in state.strays.values():
        for subnet_id in stray.subnet_ids:
            left = stray.name.startswith(LEFT_BY_CNI)
            tags = {"cluster.k8s.amazonaws.com/name": _cluster_name(state, stray)} if left else {}
            if left:
                tags["node.k8s.amazonaws.com/instance_id"] = made_id("i", stray.urn)
            interface = stray_interface(stray, subnet_id)
            yield interface, _interface(state, interface, subnet_id, stray.security_group_ids, "available" if left else "in-use", tags)
    for number, held in enumerate(view.object_interfaces(state)):
        interface = made_id("eni", held.what, held.subnet_id, number)
        yield interface, _interface(state, interface, held.subnet_id, held.security_group_ids, "in-use", {})


def stray_interface(stray: Stray, subnet_id: str) -> str:
    """Id of the interface of a stray in one subnet."""
    return made_id("eni", stray.name, subnet_id)


def _interface(state: AccountState, which: str, subnet_id: str, groups: tuple[str, ...], status: str, tags: Mapping[str, str]) -> Entry:
    place = {"SubnetId": subnet_id, "VpcId": vpc_of(state, [subnet_id])}
    members = {"NetworkInterfaceId": which, "Status": status, **place}
    return {**members, "Groups": [{"GroupId": group_id} for group_id in groups], "TagSet": tag_list(tags)}


def _strays(state: AccountState, beginning: str) -> list[Stray]:
    return [stray for stray in state.strays.values() if stray.name.startswith(beginning)]


def _cluster_name(state: AccountState, stray: Stray) -> str:
    """The cluster that brought a stray about: the one that is there, or the one that its resource belonged to."""
    found = view.cluster(state)
    return stray.cluster or (str(found.registration.inputs["name"]) if found is not None else "")


KINDS = (
    Kind("template", ec2_compute.LAUNCH_TEMPLATE, _template),
    Kind("placement group", ec2_compute.PLACEMENT_GROUP, _placement_group),
    Kind("instance", ec2_compute.INSTANCE, is_missed=True),
    Kind("volume", ec2_compute.VOLUME),
    Kind("snapshot", ec2_compute.SNAPSHOT),
    Kind("interface", ec2_compute.INTERFACE),
    Kind("lb", balancing.LOAD_BALANCER),
    Kind("target group", balancing.TARGET_GROUP),
    Kind("classic", balancing.CLASSIC_LOAD_BALANCER),
)
_INSTANCE = KINDS[2]
DERIVED: Mapping[str, tuple[Derive, ...]] = {
    "instance": (node_instances, karpenter_instances),
    "volume": (node_volumes,),
    "interface": (interfaces,),
    "lb": (balancers,),
}
"""What AWS and controllers make of these kinds by themselves."""


def stands_for(stray: Stray, kind: str, which: str, region: str) -> bool:
    """Whether an entry is the object that a stray describes."""
    if kind == "interface":
        return any(stray_interface(stray, subnet_id) == which for subnet_id in stray.subnet_ids) and stray.name.startswith(LEFT_BY_CNI)
    if kind == "instance":
        return stray.name.startswith(KARPENTER_NODE) and made_id("i", stray.name, stray.urn) == which
    if kind == "lb":
        return stray.name.startswith(LOAD_BALANCER) and balancer_arn(stray, region) == which
    if kind == "backup":
        return made_id("backup", stray.name) == which
    return kind in ("log group", "access entry") and stray.name == f"{kind} {which.split(':', 1)[-1] if kind == 'access entry' else which}"
