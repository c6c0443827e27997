"""Rules on what others made and the stack uses."""

from collections import Counter
from collections.abc import Iterator

from addons.managed_prometheus import ManagedPrometheusSettings
from facts.external import workspace
from facts.problems import Problem, missing
from facts.regions import CONTROL_PLANE_REFUSED_ZONES, partition, zone_id_prefix, zone_ids
from stacks.external import wanted_tags
from stacks.settings import ExistingNetwork, Settings

OWN_NETWORK_KEYS = {
    "cidr": "the VPC has its blocks",
    "pod_cidr": "the VPC has its blocks",
    "nat": "the ways out of the VPC are its owner's",
    "s3_endpoint": "the endpoints of the VPC are its owner's",
    "interface_endpoints": "the endpoints of the VPC are its owner's",
}
"""Keys that shape an own network, and why they say nothing about another one."""
OWN_FILE_SYSTEM_KEYS = (
    "capacity_gib", "throughput_mbps_per_tib", "zone_id", "compression", "final_backup", "backup_retention_days", "data_repository", "dynamic_class",
)  # fmt: skip
"""Keys that shape an own file system."""
_ROLES = {
    "nodes": "nodes",
    "controlPlane": "control_plane",
    "loadBalancers": "load_balancers",
    "internalLoadBalancers": "internal_load_balancers",
}


def own_network_keys(settings: Settings) -> Iterator[Problem]:
    """A key that shapes an own network is not set beside an existing one: it would do nothing."""
    network = settings.network
    for key, why in OWN_NETWORK_KEYS.items() if network.existing is not None else ():
        if key in network.model_fields_set:
            path = f"network.{type(network).model_fields[key].alias}"
            yield Problem(
                path, getattr(network, key), f"not for a network that exists: {why}", hint="remove it, or remove `network.existing`"
            )


def existing_zones(settings: Settings) -> Iterator[Problem]:
    """Nodes have a subnet in each zone of the network and in no other, the control plane in two, and all zones are the region's."""
    existing = settings.network.existing
    if existing is None:
        return
    for zone_id in settings.network.zones:
        if zone_id not in existing.nodes:
            hint = f"add `{zone_id}: subnet-...`, or remove the zone from `network.zones`"
            yield missing(
                f"network.existing.nodes.{zone_id}", f"`network.existing.nodes` has no subnet for {zone_id} of `network.zones`", hint=hint
            )
    for zone_id, subnet_id in existing.nodes.items():
        if zone_id not in settings.network.zones:
            hint = "append the zone to `network.zones`, or remove the subnet"
            yield Problem(f"network.existing.nodes.{zone_id}", subnet_id, "not in `network.zones`", ", ".join(settings.network.zones), hint)
    if existing.control_plane and len(existing.control_plane) < 2:
        hint = "add a subnet in another zone, or remove the section: the control plane then has the subnets of `nodes`"
        yield Problem(
            "network.existing.controlPlane", ", ".join(existing.control_plane), "a control plane needs two zones", "two zones or more", hint
        )
    yield from _of_region(settings, existing)


def _of_region(settings: Settings, existing: ExistingNetwork) -> Iterator[Problem]:
    prefix, known = zone_id_prefix(settings.region), zone_ids(settings.region)
    for role, attribute in _ROLES.items():
        for zone_id, subnet_id in getattr(existing, attribute).items():
            path = f"network.existing.{role}.{zone_id}"
            if role != "nodes" and (not zone_id.startswith(f"{prefix}-az") or (known and zone_id not in known)):
                hint = "`aws ec2 describe-subnets --query 'Subnets[].[SubnetId,AvailabilityZoneId]'` shows it"
                yield Problem(path, subnet_id, f"not a zone id of {settings.region}", ", ".join(known) or f"{prefix}-az1, ...", hint)
            if role == "controlPlane" and zone_id in CONTROL_PLANE_REFUSED_ZONES:
                yield Problem(path, subnet_id, "EKS places no control plane in this zone", hint="take a subnet in another zone")


def existing_subnets(settings: Settings) -> Iterator[Problem]:
    """A subnet is named under one zone: it lies in one."""
    existing = settings.network.existing
    if existing is None:
        return
    for role, attribute in _ROLES.items():
        by_zone: dict[str, str] = getattr(existing, attribute)
        several = {subnet_id for subnet_id, count in Counter(by_zone.values()).items() if count > 1}
        for zone_id, subnet_id in by_zone.items():
            if subnet_id in several:
                hint = "name each subnet under the zone in which it is"
                yield Problem(f"network.existing.{role}.{zone_id}", subnet_id, "a subnet named under two zones", hint=hint)
    if existing.tag_subnets and not wanted_tags(settings):
        hint = "name `loadBalancers` or `internalLoadBalancers`, or set it to false: no other controller looks for a tag"
        yield Problem("network.existing.tagSubnets", True, "no subnet that a controller looks for", "false", hint)


def existing_file_system(settings: Settings) -> Iterator[Problem]:
    """A file system of others is used as it is, from a network in which it can be reached before the stack is there."""
    lustre = settings.storage.lustre
    if lustre.existing is None:
        return
    path, which = "storage.lustre.existing.fileSystemId", lustre.existing.file_system_id
    if not lustre.enabled:
        hint = "remove `enabled`, or remove `existing`"
        yield Problem("storage.lustre.enabled", False, f"{which} is named, and the file system is switched off", "true", hint)
    for key in OWN_FILE_SYSTEM_KEYS:
        if key in lustre.model_fields_set:
            wrong = "not for a file system that exists: it is its owner's to shape"
            hint = "remove it, or remove `storage.lustre.existing`"
            yield Problem(f"storage.lustre.{type(lustre).model_fields[key].alias}", getattr(lustre, key), wrong, hint=hint)
    if settings.network.existing is None:
        hint = "set `network.existing` to the file system's VPC, or to one that is connected with it"
        yield Problem(
            path, which, "a file system that exists, and a VPC that the stack makes: nothing leads from one to the other", hint=hint
        )


def existing_workspace(settings: Settings) -> Iterator[Problem]:
    """A workspace of others is used only by an add-on that is on, and is one of the stack's region."""
    section = settings.addons.of(ManagedPrometheusSettings)
    if section.workspace_arn is None:
        return
    _, arn_partition, _, region, *_ = section.workspace_arn.split(":")
    if not section.enabled:
        hint = "set `addons.managedPrometheus.enabled: true`, or remove the workspace"
        yield Problem(workspace.PATH, section.workspace_arn, "a workspace that nothing writes to", hint=hint)
    if (arn_partition, region) != (partition(settings.region), settings.region):
        hint = "Prometheus writes to a workspace of its own region: take one of this region"
        yield Problem(workspace.PATH, section.workspace_arn, f"a workspace of {region} in {arn_partition}", settings.region, hint)
