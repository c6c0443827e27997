"""Which settings make which add-on, and in which order: what disturbs others comes last and goes first."""

from collections.abc import Callable

import pulumi

from addons.base import Addon, AddonArgs
from addons.cluster_autoscaler import ClusterAutoscaler, ClusterAutoscalerArgs
from addons.efa import Efa, EfaArgs
from addons.etcd import Etcd, EtcdArgs
from addons.karpenter import GeneralPoolArgs, Karpenter, KarpenterArgs
from addons.karpenter_pools import NeuronPoolArgs
from addons.metrics_server import MetricsServer
from addons.neuron import Neuron, NeuronArgs
from addons.registry import SWITCHED
from addons.volcano import QueueArgs, Volcano, VolcanoArgs
from components.hardware.catalogue import NEURON_TYPES
from stacks.node_groups import efa_instance_types
from stacks.settings import Settings
from stacks.site import Site

Maker = Callable[[Site], Addon]


def make_addons(site: Site) -> None:
    """All add-ons that are on; the fenced ones one after the other, behind all others."""
    on = [key for key in MAKERS if is_on(site.settings, key)]
    for key in (key for key in on if not SWITCHED[key].fenced):
        site.made[key] = MAKERS[key](site)
    for key in (key for key in on if SWITCHED[key].fenced):
        site.made[key] = MAKERS[key](site)


def is_on(settings: Settings, key: str) -> bool:
    """Whether an add-on with a switch is on, and has something to do."""
    if key == "efa" and not efa_instance_types(settings):
        return False
    return bool(getattr(settings.addons, _field(key)).enabled)


def _field(key: str) -> str:
    """The section's attribute for its key in YAML."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)


def _neuron(site: Site) -> Addon:
    section = site.settings.addons.neuron
    args = NeuronArgs(site.kubernetes_version, section.scheduler_extension, section.node_problem_detector, mirror=site.mirror)
    return Neuron("neuron", args, site.kubernetes)


def _efa(site: Site) -> Addon:
    return Efa("efa", EfaArgs(efa_instance_types(site.settings), mirror=site.mirror), site.kubernetes)


def _volcano(site: Site) -> Addon:
    section = site.settings.addons.volcano
    args = VolcanoArgs(
        replicas=section.replicas,
        image_registry=section.image_registry,
        autoscaled=autoscales_neuron(site.settings),
        queues={name: QueueArgs(queue.weight, queue.reclaimable, queue.capability) for name, queue in section.queues.items()},
        mirror=site.mirror,
    )
    return Volcano("volcano", args, site.kubernetes)


def autoscales_neuron(settings: Settings) -> bool:
    """Whether anything adds Neuron nodes for jobs that wait."""
    groups = any(group.autoscaled for group in settings.node_groups.values())
    karpenter = settings.addons.karpenter
    return groups or (karpenter.enabled and any(not pool.static for pool in karpenter.neuron_pools.values()))


def _etcd(site: Site) -> Addon:
    persistent = site.settings.addons.etcd.persistent
    after: list[pulumi.Resource] = [site.namespace, site.default_class] if persistent else [site.namespace]
    args = EtcdArgs(site.settings.training.namespace, persistent, mirror=site.mirror)
    return Etcd("etcd", args, site.kubernetes, after=after)


def _metrics_server(site: Site) -> Addon:
    return MetricsServer("metrics-server", AddonArgs(mirror=site.mirror), site.kubernetes)


def _cluster_autoscaler(site: Site) -> Addon:
    section = site.settings.addons.cluster_autoscaler
    args = ClusterAutoscalerArgs(
        site.name,
        site.settings.region,
        site.kubernetes_version,
        section.idle_minutes,
        section.longest_start_minutes,
        mirror=site.mirror,
    )
    return ClusterAutoscaler("cluster-autoscaler", args, site.control_plane_name, site.kubernetes)


def _karpenter(site: Site) -> Addon:
    section, zones = site.settings.addons.karpenter, site.settings.network.zones
    pools = {
        name: NeuronPoolArgs(
            instance=NEURON_TYPES[pool.instance_type],
            max_nodes=pool.max_nodes,
            zone_id=pool.zone_id or zones[0],
            subnet_id=site.node_subnets[pool.zone_id or zones[0]].id,
            capacity_type=pool.capacity_type,
            capacity_reservation_id=pool.capacity_reservation_id,
            static=pool.static,
        )
        for name, pool in section.neuron_pools.items()
    }
    general = section.general_pool
    subnet_ids = [subnet.id for subnet in site.node_subnets.values()]
    args = KarpenterArgs(
        cluster_name=site.name,
        region=site.settings.region,
        ami_version=section.ami_version,
        control_plane_name=site.control_plane_name,
        security_group_ids=site.node_security_group_ids,
        tags=site.tags,
        neuron_pools=pools,
        general_pool=GeneralPoolArgs(general.max_vcpu, general.spot, subnet_ids) if general.enabled else None,
        mirror=site.mirror,
    )
    return Karpenter("karpenter", args, site.kubernetes)


MAKERS: dict[str, Maker] = {
    "neuron": _neuron,
    "efa": _efa,
    "volcano": _volcano,
    "etcd": _etcd,
    "metricsServer": _metrics_server,
    "clusterAutoscaler": _cluster_autoscaler,
    "karpenter": _karpenter,
}
"""By key."""
