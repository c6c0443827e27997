"""From the configuration of node groups to the arguments of the component: labels, taints, layouts, user data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi

from addons.batch import NODE_LABEL, BatchSettings
from components.node_group import NodeGroupArgs
from facts import names
from facts.catalogue import NEURON_TYPES, InstanceType
from facts.efa import NetworkInterface, plan_interfaces, pod_capacity
from facts.neuron_releases import NEURON_AMI_TYPE
from facts.node_config import node_config, user_data
from stacks.settings import CORE_ZONE_COUNT, NodeGroup, Settings, largest_size, neuron_labels, size_when_made, sized_by_time, uses_efa

CORE_GROUP = names.CORE_GROUP
CORE_AMI_TYPE = "AL2023_x86_64_STANDARD"


@dataclass(frozen=True)
class NodeContext:
    """What all groups of a cluster share."""

    cluster_name: str
    control_plane_name: pulumi.Input[str]
    node_role_arn: pulumi.Input[str]
    subnet_ids: Mapping[str, pulumi.Input[str]]
    """By zone id."""
    security_group_ids: Sequence[pulumi.Input[str]]
    tags: Mapping[str, str]


def core_group_args(settings: Settings, context: NodeContext) -> NodeGroupArgs:
    """The untainted group that carries the add-ons."""
    core = settings.core_nodes
    return NodeGroupArgs(
        group_name=CORE_GROUP,
        cluster_name=context.cluster_name,
        control_plane_name=context.control_plane_name,
        node_role_arn=context.node_role_arn,
        subnet_ids=[context.subnet_ids[zone_id] for zone_id in settings.network.zones[:CORE_ZONE_COUNT]],
        security_group_ids=context.security_group_ids,
        ami_type=CORE_AMI_TYPE,
        kubernetes_version=core.kubernetes_version or settings.control_plane.kubernetes_version,
        instance_type=core.instance_type,
        desired_size=core.desired_size,
        min_size=core.min_size,
        max_size=core.max_size,
        autoscaled=core.autoscaled,
        release_version=core.release_version,
        root_volume_gib=core.root_volume_gib,
        # CSI controllers outside the host network read their region and zone from the instance metadata.
        metadata_hop_limit=2,
        tags=context.tags,
    )


def neuron_group_args(settings: Settings, name: str, context: NodeContext) -> NodeGroupArgs:
    """A tainted group of Neuron nodes."""
    group = settings.node_groups[name]
    instance = NEURON_TYPES[group.instance_type]
    interfaces = plan_interfaces(instance, group.efa_layout) if uses_efa(group) else ()
    return NodeGroupArgs(
        group_name=name,
        cluster_name=context.cluster_name,
        control_plane_name=context.control_plane_name,
        node_role_arn=context.node_role_arn,
        subnet_ids=[context.subnet_ids[zone_id] for zone_id in settings.zones_of(group)],
        security_group_ids=context.security_group_ids,
        ami_type=NEURON_AMI_TYPE,
        kubernetes_version=group.kubernetes_version or settings.control_plane.kubernetes_version,
        instance_type=group.instance_type,
        desired_size=size_when_made(group),
        min_size=group.min_size,
        max_size=largest_size(group),
        autoscaled=group.autoscaled,
        scheduled=sized_by_time(group),
        release_version=group.release_version,
        interfaces=interfaces,
        user_data=neuron_user_data(group, instance, interfaces),
        root_volume_gib=group.root_volume_gib,
        labels={**neuron_labels(group), **batch_labels(settings, name)},
        taint_key=names.NEURON_TAINT,
        capacity_type=group.capacity_type,
        capacity_reservation_id=group.capacity_reservation_id,
        placement_group=group.placement_group,
        node_repair=group.node_repair,
        minimal_updates=True,
        scale_from_zero=extended_resources(group),
        tags=context.tags,
    )


def neuron_user_data(group: NodeGroup, instance: InstanceType, interfaces: Sequence[NetworkInterface]) -> str:
    """MIME text: RAID0 over the instance store where there is one, and a lower pod limit where the layout asks for it."""
    capacity = pod_capacity(instance, tuple(interfaces))
    config = node_config(local_storage_raid0=instance.instance_store_gb > 0, max_pods=capacity if capacity < instance.max_pods else None)
    return user_data(config, logical_core_size=group.logical_core_size)


def batch_labels(settings: Settings, name: str) -> dict[str, str]:
    """The label by which AWS Batch finds the group's nodes, once the id of its compute environment is in the configuration."""
    batch = settings.addons.of(BatchSettings)
    if not batch.enabled or name not in batch.node_groups or batch.compute_environment_id is None:
        return {}
    return {NODE_LABEL: batch.compute_environment_id}


def extended_resources(group: NodeGroup) -> dict[str, int]:
    """What one node of the group will offer, for an autoscaler that sees none yet."""
    instance = NEURON_TYPES[group.instance_type]
    cores = instance.cores_at(group.logical_core_size)
    resources = {names.NEURON_RESOURCE: instance.chip_count, names.NEURON_CORE_RESOURCE: cores}
    return {**resources, names.EFA_RESOURCE: instance.efa_count} if uses_efa(group) else resources
