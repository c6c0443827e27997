"""From a configuration to what it asks of a network that is there already."""

from addons.fluent_bit import FluentBitSettings
from addons.karpenter import KarpenterSettings
from addons.managed_prometheus import ManagedPrometheusSettings
from facts.endpoints import NODE_ENDPOINTS, SESSION_ENDPOINTS
from facts.external.asked import CONTROL_PLANE_ADDRESSES, LOAD_BALANCER_ADDRESSES, AskedOfNetwork
from facts.external.description import Asked
from facts.external.file_system import AskedOfFileSystem
from facts.external.subnet_tags import SubnetTag, subnet_tags
from facts.external.workspace import AskedOfWorkspace
from stacks.addresses import node_addresses, zones_with_efa
from stacks.cluster import calls_of, cluster_of
from stacks.settings import ExistingNetwork, Settings, existing_vpc


def file_system_subnets(existing: ExistingNetwork) -> dict[str, str]:
    """Subnet of a file system by zone id: that of the control plane where the zone has one, else that of the nodes."""
    return {**existing.nodes, **existing.control_plane}


def control_plane_subnets(settings: Settings, existing: ExistingNetwork) -> dict[str, str]:
    """Subnet of the control plane's interfaces by zone id."""
    return existing.control_plane or {
        zone_id: existing.nodes[zone_id] for zone_id in settings.control_plane_zones if zone_id in existing.nodes
    }


def wanted_tags(settings: Settings) -> tuple[SubnetTag, ...]:
    """Tags that controllers of this cluster look for on the network's subnets; none for a network of the stack's own."""
    existing = settings.network.existing
    if existing is None:
        return ()
    return subnet_tags(
        existing.load_balancers.values(),
        existing.internal_load_balancers.values(),
        existing.nodes.values(),
        settings.name,
        karpenter=settings.addons.of(KarpenterSettings).enabled,
    )


def asked_of(settings: Settings, *, is_up: bool = False) -> Asked:
    """What the stack asks of all that it uses and does not make. `is_up`: whether the cluster is there."""
    return Asked(asked_of_network(settings, is_up=is_up), asked_of_file_system(settings), asked_of_workspace(settings))


def asked_of_file_system(settings: Settings) -> AskedOfFileSystem | None:
    """What the stack asks of its existing file system; None where it makes one of its own, or none."""
    existing, network = settings.storage.lustre.existing, settings.network.existing
    if existing is None or network is None:
        return None
    return AskedOfFileSystem(
        region=settings.region,
        id=existing.file_system_id,
        mount_name=existing.mount_name,
        vpc_id=network.vpc_id,
        nodes=network.nodes,
        client_group=existing.client_security_group_id or "",
        efa_zones=tuple(sorted(zones_with_efa(settings))),
    )


def asked_of_workspace(settings: Settings) -> AskedOfWorkspace | None:
    """What the stack asks of its existing workspace of metrics; None where it makes one of its own, or none."""
    section = settings.addons.of(ManagedPrometheusSettings)
    return AskedOfWorkspace(section.workspace_arn) if section.enabled and section.workspace_arn is not None else None


def log_bucket(settings: Settings) -> str | None:
    """Name of the bucket of others that pods' logs are written to; None where there is none."""
    section = settings.addons.of(FluentBitSettings)
    return section.s3_bucket if section.enabled else None


def paid_by_others(settings: Settings) -> tuple[str, ...]:
    """What the stack uses and its owner's bill shows: network, file system, workspace, key, bucket and repository; roles are free."""
    key = settings.control_plane.encryption_key_arn
    bucket, repository = log_bucket(settings), settings.training.image_repository
    more = (key and key.rpartition(":")[2], bucket and f"s3://{bucket}", repository and f"repository {repository}")
    return (*asked_of(settings).names, *(each for each in more if each))


def existing_ids(settings: Settings) -> frozenset[str]:
    """Ids, names and ARNs of what the file says that others keep: nothing of it may be deleted, whatever its tags and name say."""
    network, storage = settings.network.existing, settings.storage.lustre.existing
    roles = (network.nodes, network.control_plane, network.load_balancers, network.internal_load_balancers) if network is not None else ()
    found = {existing_vpc(settings), *(subnet for role in roles for subnet in role.values()), *settings.iam.roles.values()}
    found |= {settings.control_plane.encryption_key_arn, settings.iam.permissions_boundary, settings.training.image_repository}
    found |= {log_bucket(settings), settings.addons.of(ManagedPrometheusSettings).workspace_arn}
    if storage is not None:
        found |= {storage.file_system_id, storage.client_security_group_id}
    return frozenset(each for each in found if each)


def asked_of_network(settings: Settings, *, is_up: bool = False) -> AskedOfNetwork | None:
    """What the stack asks of its existing network; None where it makes one of its own. `is_up`: whether the cluster is there."""
    existing = settings.network.existing
    if existing is None:
        return None
    return AskedOfNetwork(
        region=settings.region,
        vpc_id=existing.vpc_id,
        control_plane=control_plane_subnets(settings, existing),
        nodes=existing.nodes,
        load_balancers=existing.load_balancers,
        internal_load_balancers=existing.internal_load_balancers,
        is_isolated=existing.isolated,
        services=_services(settings),
        addresses=_addresses(settings, existing),
        several_interfaces=frozenset(existing.nodes[zone_id] for zone_id in zones_with_efa(settings) if zone_id in existing.nodes),
        tags=wanted_tags(settings),
        sets_tags=existing.tag_subnets,
        is_up=is_up,
    )


def _services(settings: Settings) -> dict[str, str]:
    """Services to who calls them: nodes first, since without those nothing else runs."""
    found: dict[str, str] = dict.fromkeys((*NODE_ENDPOINTS, "s3"), "nodes")
    if settings.nodes.session_manager:
        found |= dict.fromkeys(SESSION_ENDPOINTS, "Systems Manager on the nodes")
    for declaration, services in calls_of(cluster_of(settings)):
        for service in services:
            found.setdefault(service, declaration.title)
    return found


def _addresses(settings: Settings, existing: ExistingNetwork) -> dict[str, int]:
    """Addresses by subnet: nodes and pods, the control plane's interfaces, the file system's, and a load balancer's where one may be."""
    need = {existing.nodes[zone_id]: count for zone_id, count in node_addresses(settings).items() if zone_id in existing.nodes}
    for subnet_id in control_plane_subnets(settings, existing).values():
        need[subnet_id] = need.get(subnet_id, 0) + CONTROL_PLANE_ADDRESSES
    for subnet_id in {*existing.load_balancers.values(), *existing.internal_load_balancers.values()}:
        need[subnet_id] = need.get(subnet_id, 0) + LOAD_BALANCER_ADDRESSES
    lustre = settings.storage.lustre
    subnet = file_system_subnets(existing).get(settings.lustre_zone)
    if lustre.is_own and subnet is not None:
        need[subnet] = need.get(subnet, 0) + lustre_interfaces(lustre.capacity_gib)
    return need


def lustre_interfaces(capacity_gib: int) -> int:
    """Network interfaces of a file system: its metadata server's, and one for each 1200 GiB begun (FSx for Lustre guide, file system access)."""
    return 1 + -(-capacity_gib // 1200)
